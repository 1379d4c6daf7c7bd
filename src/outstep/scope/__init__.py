"""Scope: did every action stay where it may act? Paths, commands and URLs.

docs: docs/scope.md

`observer` judges the actions of a scenario against its allowlist; `boundary` judges the targets of one call against
patterns (the contract kind `scope`); `targets` says what a call touches. Nothing is opened, run or looked up.
"""

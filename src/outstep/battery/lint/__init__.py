"""Scopes that are legal and probably not meant: each is a warning with its reason and what to write.

docs: docs/batteries.md#lint
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.battery.lint import commands, hosts, paths, shadows
from outstep.battery.lint.base import Doubt, kinds_of
from outstep.battery.scenarios import ReadRule
from outstep.contracts.report import Report

_CHECKS = {"path": paths.doubts, "command": commands.doubts, "url": hosts.doubts, "host": hosts.doubts}


def warn(rules: Sequence[ReadRule], report: Report) -> None:
    """Report the doubts about every rule of a battery."""
    by_scenario: dict[int, list[ReadRule]] = {}
    for rule in rules:
        by_scenario.setdefault(rule.scenario, []).append(rule)
        for doubt in _doubts(rule):
            report.warning(doubt.code, doubt.sentence, rule.scope, doubt.help)
    for together in by_scenario.values():
        for rule, doubt in shadows.doubts(together):
            report.warning(doubt.code, doubt.sentence, rule.scope, doubt.help)


def hint(rules: Sequence[ReadRule], report: Report) -> None:
    """Report what is legal, may well be meant, and is worth a look when somebody asks for it."""
    told: set[tuple[int, str]] = set()
    for rule in rules:
        tool, key = rule.rule.tool, (rule.scenario, rule.rule.tool)
        if rule.rule.scope == "*" or key in told or kinds_of(tool, rule.targets):
            continue
        told.add(key)
        sentence = (
            f"`{tool}` is no tool that is known: only arguments with names such as `path`, `url` or `command` count"
        )
        report.warning(
            "unknown-targets", sentence, rule.scope, f"declare them: `targets: {{{tool}: {{path: ARGUMENT}}}}`"
        )


def _doubts(rule: ReadRule) -> Iterator[Doubt]:
    scope = rule.rule.scope
    if scope != scope.strip():
        yield Doubt("padded", "the scope begins or ends with a blank", "leave the blank out")
    kinds = kinds_of(rule.rule.tool, rule.targets)
    if kinds == ("path",) and (pattern := paths.protected_by(scope, rule.protected, rule.cwd)):
        yield Doubt(
            "dead-rule", f"`protected` keeps all of it: `{pattern}`", "leave the rule out, or narrow `protected`"
        )
        return
    found = [list(_CHECKS[kind](scope.strip())) for kind in kinds]
    # A tool with targets of several kinds: a pattern that suits one of them is no mistake.
    if found and all(found):
        yield from found[0]

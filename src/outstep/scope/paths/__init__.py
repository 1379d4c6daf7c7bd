"""Paths: every reading of a written path, and patterns compared segment by segment.

docs: docs/scope.md, section *Paths*
"""

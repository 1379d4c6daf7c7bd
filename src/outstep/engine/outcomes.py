"""What became of a call: the recorded outcome, corrected by the tool's keys (table of SEMANTICS section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outstep.contracts.model import Tool
from outstep.contracts.selectors import Expr
from outstep.events import Outcome
from outstep.expr.values import Hidden, Missing

Read = Callable[[Expr], Any]
"""Evaluates an outcome key: an absent member is null."""


def has_keys(tool: Tool) -> bool:
    """Return whether a tool says anything about outcomes."""
    return any((tool.denied_when, tool.unknown_when, tool.fails_when, tool.succeeds_when))


def judge_outcome(recorded: Outcome, tool: Tool | None, read: Read) -> Outcome:
    """Return the outcome that rules see; no default is ever `ok`."""
    if tool is None or not has_keys(tool):
        return "unknown" if recorded == "unrecorded" else recorded
    if recorded == "denied":
        return "denied"
    undecided: list[str] = []
    keys: tuple[tuple[Outcome, Expr | None], ...] = (
        ("denied", tool.denied_when),
        ("unknown", tool.unknown_when),
        ("failed", tool.fails_when),
    )
    for outcome, expr in keys:
        if expr is None:
            continue
        value = read(expr)
        if value is True:
            # An earlier key that cannot be read might have decided otherwise; it can never make the result ok.
            return outcome
        if value is not False:
            undecided.append(outcome)
    if recorded == "failed":
        return "unknown" if "unknown" in undecided else "failed"
    return _without_key(recorded, tool, read, undecided=bool(undecided))


def _without_key(recorded: Outcome, tool: Tool, read: Read, *, undecided: bool) -> Outcome:
    if undecided or (recorded == "unknown" and tool.succeeds_when is None):
        return "unknown"
    if tool.succeeds_when is not None:
        succeeds = read(tool.succeeds_when)
        if succeeds is True:
            return "ok"
        return "unknown"
    if recorded == "ok":
        return "ok"
    return "ok" if tool.fails_when is not None else "unknown"


def is_value(value: Any) -> bool:
    """Return whether an expression gave a value."""
    return not isinstance(value, Missing | Hidden)

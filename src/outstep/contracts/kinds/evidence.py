"""How the kinds read conditions that speak for the agent (SEMANTICS section 4)."""

from __future__ import annotations

from typing import Any

from outstep.expr.values import Hidden, Missing


def all_evident(run: Any, exprs: Any, view: Any) -> Any:
    """Return the conjunction of expressions read as evidence: false wins, then hidden, then missing."""
    undecided: Any = True
    for expr in exprs:
        value = run.evidence(expr, view)
        if value is False:
            return False
        if isinstance(value, Hidden):
            undecided = value
        elif value is not True and not isinstance(undecided, Hidden):
            undecided = value if isinstance(value, Missing) else Missing("not a truth value")
    return undecided

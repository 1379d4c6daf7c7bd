"""`require`: every expression is true at the event of `for` (invariant).

docs: docs/kinds/require.md
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.contracts.kinds.base import Quiet, View
from outstep.contracts.selectors import Expr
from outstep.expr.values import Hidden, Missing


class Require(Struct, frozen=True, kw_only=True, tag="require", tag_field="kind"):
    """Every expression is true at the event of `for`."""

    all: tuple[Expr, ...]


class RequireMonitor(Quiet):
    """Judges each event at once."""

    def on(self, view: View) -> None:
        """Judge an event of `for` whose conditions hold."""
        kind = self.rule.kind
        assert isinstance(kind, Require)
        false: list[Expr] = []
        missing: dict[str, None] = {}
        hidden: list[str] = []
        for expr in kind.all:
            value = self.run.evidence(expr, view)
            if value is False:
                false.append(expr)
            elif isinstance(value, Hidden):
                hidden.append(value.reason)
            elif value is not True:
                missing.update(dict.fromkeys(self._missing(expr, value, view)))
        if false or missing:
            self._not_so(view, false, tuple(missing))
        elif hidden:
            self.run.settle(
                self.index, "inconclusive", view, hidden[0], reason="hidden-evidence", missing=tuple(hidden)
            )
        else:
            self.run.settle(self.index, "satisfied", view)

    def _missing(self, expr: Expr, value: Any, view: View) -> tuple[str, ...]:
        """Return what is missing, in the words of the facts that have no entry, else of the expression."""
        absent = self.run.absent_facts(expr, view)
        if absent:
            return absent
        return (value.reason if isinstance(value, Missing) else f"`{expr.text}` gives no truth value",)

    def _not_so(self, view: View, false: list[Expr], missing: tuple[str, ...]) -> None:
        values = tuple(pair for expr in false for pair in self.run.comparison(expr, view))
        self.run.settle(
            self.index,
            "inconclusive" if not false and self.rule.missing == "inconclusive" else "violated",
            view,
            f"`{false[0].text}` is false" if false else missing[0],
            reason="" if false else "missing-evidence",
            values=values,
            missing=missing,
        )

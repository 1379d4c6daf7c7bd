"""`require`: every expression is true at the event of `for` (invariant).

docs: docs/kinds/require.md
"""

from __future__ import annotations

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
        missing: list[str] = []
        hidden: list[str] = []
        for expr in kind.all:
            value = self.run.evidence(expr, view)
            if value is False:
                false.append(expr)
            elif isinstance(value, Hidden):
                hidden.append(value.reason)
            elif value is not True:
                missing.append(value.reason if isinstance(value, Missing) else f"`{expr.text}` gives no truth value")
        if false or missing:
            self._not_so(view, false, missing)
        elif hidden:
            self.run.settle(
                self.index, "inconclusive", view, hidden[0], reason="hidden-evidence", missing=tuple(hidden)
            )
        else:
            self.run.settle(self.index, "satisfied", view)

    def _not_so(self, view: View, false: list[Expr], missing: list[str]) -> None:
        values = tuple(pair for expr in false for pair in self.run.comparison(expr, view))
        sentence = f"`{false[0].text}` is false" if false else missing[0]
        is_only_missing = not false
        self.run.settle(
            self.index,
            "inconclusive" if is_only_missing and self.rule.missing == "inconclusive" else "violated",
            view,
            sentence,
            reason="missing-evidence" if is_only_missing else "",
            values=values,
            missing=tuple(missing),
        )

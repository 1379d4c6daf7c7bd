"""A lower bound of a count, as `at_least` and `exactly` hold it (SEMANTICS section 6)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from outstep.contracts.kinds.base import View
from outstep.contracts.kinds.counting import ALL, CountingMonitor
from outstep.contracts.selectors import Expr
from outstep.expr.values import Hidden, Missing, show


class LowerBound:
    """Says at the end whether each count reached the bound."""

    def __init__(self, counting: CountingMonitor, bound: Expr) -> None:
        self._counting = counting
        self._bound = bound
        self._run: Any = counting.run
        self._rule = counting.rule
        self.amounts: dict[Any, Any] = {}

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.amounts.clear()

    def on(self, view: View) -> None:
        """Count an event."""
        found = self._counting.tally_of(view)
        amount = self._counting.amount(view) if found is not None else None
        if found is not None and amount is not None:
            key = found[0]
            self.amounts[key] = self.amounts.get(key, 0) + amount

    def count(self, key: Any, amount: Any) -> None:
        """Count an event that generated code has read."""
        if type(amount) in {int, Decimal} and amount >= 0:
            self.amounts[key] = self.amounts.get(key, 0) + amount

    def close(self) -> None:
        """Settle every key, or the run."""
        if not self.amounts and not self._rule.per and not self._rule.per_turn:
            self.amounts[ALL] = 0
        if not self._run.ever_inside(self._counting.index):
            return
        bound = self._counting.bound(self._bound, None)
        for key, amount in self.amounts.items():
            self._settle(key, amount, bound)

    def _settle(self, key: Any, amount: Any, bound: Any) -> None:
        run, index = self._run, self._counting.index
        if isinstance(bound, Missing | Hidden):
            run.unreadable(index, None, bound, "")
        elif amount >= bound:
            run.settle(index, "satisfied", None)
        elif self._rule.judge == "run" and (run.gaps.anywhere(self._rule.triggers) or self._counting.is_veiled):
            self._doubt(key, amount, bound, "a gap may hide more of them", "hidden-evidence")
        elif self._rule.judge == "run" and run.was_stopped:
            self._doubt(key, amount, bound, "the run was stopped before more of them could come", "run-stopped")
        else:
            run.settle(
                index,
                "violated",
                None,
                "too few events" if self._rule.total is None else "the total is under the bound",
                key=self._counting.key_text(key),
                values=(f"{show(amount)} < {show(bound)}",),
            )

    def _doubt(self, key: Any, amount: Any, bound: Any, sentence: str, reason: str) -> None:
        self._run.settle(
            self._counting.index,
            "inconclusive",
            None,
            sentence,
            reason=reason,
            key=self._counting.key_text(key),
            values=(f"{show(amount)} < {show(bound)}",),
            missing=(sentence,),
        )

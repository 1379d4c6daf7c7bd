"""An upper bound of a count, as `at_most` and `exactly` hold it (SEMANTICS section 6)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from outstep.contracts.kinds.base import View
from outstep.contracts.kinds.counting import CountingMonitor, Tally
from outstep.contracts.selectors import Expr
from outstep.expr.values import Hidden, Missing

_DONE = frozenset({"ok", "unknown"})
_NUMBERS = frozenset({int, Decimal})


class UpperBound:
    """Counts what a rule counts and reports a key when it goes over the bound."""

    def __init__(self, counting: CountingMonitor, bound: Expr) -> None:
        self._counting = counting
        self._bound = bound
        self._rule = counting.rule
        self._run: Any = counting.run
        self._index = counting.index
        self._counter = self._run.plan.counters.get(self._index)
        self.outcome_slot = self._rule.counting != "attempts"
        """Whether results of counted calls matter."""
        self.open: dict[int, tuple[Any, Tally, Any, Any]] = {}
        """Counted calls whose result has not come yet."""

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.open.clear()

    def on(self, view: View) -> None:
        """Count an event and compare."""
        counting = self._counting
        found = counting.tally_of(view)
        amount = counting.amount(view) if found is not None else None
        if found is None or amount is None:
            return
        key, tally = found
        if tally.first is None:
            tally.first = view.seq
        tally.last_view = view
        if self._rule.counting == "effects":
            self.open[view.seq] = (key, tally, amount, view)
            return
        tally.amount += amount
        seen = surely = tally.amount
        if self._rule.counting == "unless_failed":
            failed = view.lane.counters[self._counter].read((key, tally.since), view.epoch)
            seen = tally.amount - failed
            surely = seen - self._unsettled(tally, view)
            tally.open[view.seq] = amount
            self.open[view.seq] = (key, tally, amount, view)
        bound = counting.bound(self._bound, view)
        if self._rule.in_a_row and self._rule.judge == "run":
            row = self._run.gaps.before(view, self._rule.triggers, since=tally.first)
            surely = 0 if row else surely
        self._doubt_total(tally, view)
        counting.exceeds(view, key, tally, seen, bound, surely)

    def _doubt_total(self, tally: Tally, view: View) -> None:
        is_row_or_sum = self._rule.total is not None or self._rule.counting == "unless_failed" or self._rule.in_a_row
        if not is_row_or_sum or tally.doubt is not None or self._rule.judge == "record":
            return
        if self._run.gaps.all and self._run.gaps.before(view, self._rule.triggers):
            tally.doubt = (view, "a gap may hide an event that counts here")

    def _unsettled(self, tally: Tally, view: Any) -> Any:
        """Return what open calls count whose failure a gap known here may hide."""
        if not self._run.gaps.all or self._rule.judge == "record":
            return 0
        results = self._run.results_of(self._rule.triggers)
        return sum(amount for seq, amount in tally.open.items() if self._run.gap_known(view, results, since=seq))

    def answered(self, view: Any) -> None:
        """Take the result of a counted call."""
        self.answer(view.call.event.seq, view.outcome, view.lane)

    def _compare_effect(self, key: Any, tally: Tally, view: View) -> None:
        bound = self._counting.bound(self._bound, view)
        self._counting.exceeds(view, key, tally, tally.amount, bound, tally.amount)

    def close(self) -> None:
        """Count calls without a result: they may have taken place."""
        if self._rule.counting != "effects":
            return
        results = self._run.results_of(self._rule.triggers)
        for seq, (key, tally, amount, view) in self.open.items():
            bound = self._counting.bound(self._bound, view)
            if isinstance(bound, Missing | Hidden):
                self._counting.exceeds(view, key, tally, 0, bound, 0)
                continue
            if self._rule.judge == "run" and self._run.gaps.behind(seq, results):
                if tally.amount + amount > bound and tally.doubt is None:
                    tally.doubt = (view, "a gap may hide the result of a call that counts here")
                continue
            tally.amount += amount
            self._counting.exceeds(view, key, tally, tally.amount, bound, tally.amount)
        self.open.clear()

    # -- the same for generated code, on traces without gaps --------------------------------------------------------

    def count(self, seq: int, key: Any, amount: Any, bound: Any, lane: Any) -> bool | None:
        """Count an event; false if that goes over the bound, none (and nothing counted) if a number is none."""
        if type(bound) not in _NUMBERS or (type(amount) not in _NUMBERS or amount < 0):
            return None
        tallies = self._counting.tallies
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = Tally(-1)
            tally.first = seq
        tally.amount = seen = tally.amount + amount
        if self._counter is not None:
            failed = lane.counters[self._counter].cells.get((key, -1))
            if failed is not None:
                seen -= failed[1] if failed[0] < lane.epoch else failed[2]
            tally.open[seq] = amount
            self.open[seq] = (key, tally, amount, None)
        return bool(seen <= bound) or tally.is_reported

    def over(self, view: Any, key: Any, bound: Any) -> None:
        """Report a key that `count` found to be over its bound."""
        tally = self._counting.tallies[key]
        seen = tally.amount
        if self._counter is not None:
            seen -= view.lane.counters[self._counter].read((key, -1), view.epoch)
        tally.is_reported = True
        self._counting.report(view, key, tally, seen, bound)

    def answer(self, seq: int, outcome: str, lane: Any) -> None:
        """Take the result of a counted call."""
        found = self.open.pop(seq, None)
        if found is None:
            return
        key, tally, amount, view = found
        if self._rule.counting == "unless_failed":
            tally.open.pop(seq, None)
            if outcome in {"failed", "denied"}:
                lane.counters[self._counter].add(lane.epoch, (key, tally.since), amount)
        elif outcome in _DONE:
            tally.amount += amount
            self._compare_effect(key, tally, view)

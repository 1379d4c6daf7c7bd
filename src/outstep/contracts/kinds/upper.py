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

    def on(self, view: View) -> Tally | None:
        """Count an event and compare; return the count that it belongs to."""
        counting = self._counting
        found = counting.tally_of(view)
        if found is None:
            return None
        key, tally = found
        bound = counting.bound(self._bound, view) if self._rule.counting != "effects" else None
        # A bound that is missing violates, whatever the amount would have been.
        amount = counting.read_amount(view) if isinstance(bound, Missing) else counting.amount(view)
        if amount is None:
            return None
        if tally.first is None:
            tally.first = view.seq
        if isinstance(amount, Missing | Hidden):
            counting.exceeds(view, tally, 0, bound, 0)
            return tally
        if self._rule.counting == "effects":
            self.open[view.seq] = (key, tally, amount, view)
            return tally
        tally.amount += amount
        seen = tally.amount
        if self._counter is not None:
            seen -= view.lane.counters[self._counter].read((key, tally.since), view.epoch)
            tally.open[view.seq] = amount
            self.open[view.seq] = (key, tally, amount, view)
        surely = self._surely(tally, view, seen, amount)
        self._doubt_total(tally, view)
        counting.exceeds(view, tally, seen, bound, surely)
        return tally

    def _surely(self, tally: Tally, view: Any, seen: Any, amount: Any) -> Any:
        """Return what counts at an event whatever gaps and unreadable events hide."""
        cut, row = self._cuts(view)
        if not self._may_hide and cut <= tally.since and row < 0:
            return seen
        is_cut = cut > tally.since
        recent = [item for item in tally.recent if not self._is_known_failure(item[1], view)]
        sure = amount + sum(
            counted for at, seq, counted in recent if at > cut and seq > row and self._is_settled(seq, tally, view)
        )
        before = seen - amount - sum(counted for _, _, counted in recent)
        if not is_cut and (row < 0 or (tally.first is not None and tally.first > row)):
            sure += before - self._unsettled_before(tally, view)
        tally.recent.append((view.at, view.seq, amount))
        return min(sure, seen)

    @property
    def _may_hide(self) -> bool:
        return bool(self._run.gaps.all) and self._rule.judge == "run"

    def _cuts(self, view: Any) -> tuple[int, int]:
        """Return the latest place where the count may have begun anew, and where a row may have been broken."""
        cut = row = -1
        if self._rule.after or self._rule.since:
            cut = self._run.begins(self._index, self._rule, view)[1]
        if self._rule.in_a_row:
            lane = view.lane.id if view.lane is not None else None
            row = self._counting.cuts.get(lane or "", -1)
            if self._may_hide:
                row = max(row, self._run.gaps.newest(self._rule.triggers, view.seq, lane))
        return cut, row

    def _is_known_failure(self, seq: int, view: Any) -> bool:
        if self._counter is None:
            return False
        return bool(view.lane.counters[self._counter].read(("call", seq), view.epoch))

    def _is_settled(self, seq: int, tally: Tally, view: Any) -> bool:
        if self._counter is None or seq not in tally.open:
            return True
        return not self._run.gap_known(view, self._run.results_of(self._rule.triggers), since=seq)

    def _unsettled_before(self, tally: Tally, view: Any) -> Any:
        """Return what earlier open calls count whose failure a gap known here may hide."""
        if self._counter is None:
            return 0
        recent = {seq for _, seq, _ in tally.recent} | {view.seq}
        results = self._run.results_of(self._rule.triggers)
        return sum(
            amount
            for seq, amount in tally.open.items()
            if seq not in recent and self._run.gap_known(view, results, since=seq)
        )

    def _doubt_total(self, tally: Tally, view: View) -> None:
        is_sum = self._rule.total is not None or self._rule.counting == "unless_failed"
        if not is_sum or tally.doubt is not None or self._rule.judge == "record":
            return
        if self._run.gaps.all and self._run.gaps.before(view, self._rule.triggers, tally.since):
            tally.doubt = (view, "a gap may hide an event that counts here")

    def answered(self, view: Any) -> None:
        """Take the result of a counted call."""
        self.answer(view.call.event.seq, view.outcome, view.lane)

    def _compare_effect(self, tally: Tally, view: View) -> None:
        bound = self._counting.bound(self._bound, view)
        self._counting.exceeds(view, tally, tally.amount, bound, tally.amount)

    def close(self) -> None:
        """Count calls without a result: they may have taken place."""
        if self._rule.counting != "effects":
            return
        results = self._run.results_of(self._rule.triggers)
        perhaps: dict[int, Any] = {}
        for seq, (_, tally, amount, view) in self.open.items():
            bound = self._counting.bound(self._bound, view)
            if isinstance(bound, Missing | Hidden):
                self._counting.exceeds(view, tally, 0, bound, 0)
            elif self._rule.judge == "run" and self._run.gaps.behind(seq, results, view.lane.id):
                perhaps[id(tally)] = perhaps.get(id(tally), 0) + amount
                if tally.amount + perhaps[id(tally)] > bound and tally.doubt is None:
                    tally.doubt = (view, "a gap may hide the result of a call that counts here")
            else:
                tally.amount += amount
                seen = tally.amount + perhaps.get(id(tally), 0)
                self._counting.exceeds(view, tally, seen, bound, tally.amount)
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
        self._counting.report(view, tally, seen, bound)

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
                if tally.recent:
                    lane.counters[self._counter].add(lane.epoch, ("call", seq), 1)
        elif outcome in _DONE:
            tally.amount += amount
            self._compare_effect(tally, view)

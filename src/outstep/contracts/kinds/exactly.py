"""`exactly`: exactly so many events of `for` happen (bounded existence).

docs: docs/kinds/exactly.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from outstep.contracts.kinds.base import Lane, Run, View
from outstep.contracts.kinds.counting import CountingMonitor, Tally
from outstep.contracts.kinds.lower import LowerBound
from outstep.contracts.kinds.upper import UpperBound
from outstep.contracts.selectors import Expr

if TYPE_CHECKING:
    from outstep.contracts.model import Rule


class Exactly(Struct, frozen=True, kw_only=True, tag="exactly", tag_field="kind"):
    """Exactly `bound` events of `for` happen, or the total of `sum` is exactly that."""

    bound: Expr


class ExactlyMonitor(CountingMonitor):
    """Reports too many as they come, and too few at the end."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        kind = rule.kind
        assert isinstance(kind, Exactly)
        self.upper = UpperBound(self, kind.bound)
        self.lower = LowerBound(self, kind.bound, is_exact=True)
        self.has_deadline = bool(rule.until)
        self.asks_outcomes = self.upper.outcome_slot
        self._places: dict[int, tuple[int, Any]] = {}
        """Window and key of each count, by the `seq` of its first event."""

    def on(self, view: View) -> None:
        """Judge an event of `for` whose conditions hold."""
        place = self.lower.on(view)
        if place is not None:
            tally = self.upper.on(view)
            if tally is not None and tally.first == view.seq:
                self._places[view.seq] = place

    def opened(self, lane: Lane) -> None:  # noqa: ARG002 - windows are of the whole run
        """Take note that a decision opens."""
        self.lower.opened()

    def marked(self, role: str, seq: int) -> None:
        """Take note that a window opens or ends."""
        self._note_over(self.tallies)
        self.lower.marked(role, seq)

    def awaits(self, seq: int) -> bool:
        """Return whether the call was counted."""
        return seq in self.upper.open

    def answered(self, view: View) -> None:
        """Take the result of a call that was counted."""
        self.upper.answered(view)

    def end_counts(self, tallies: dict[Any, Tally]) -> None:
        """Take counts to which nothing can be added any more; too few of them is said when their window is settled."""
        self._note_over(tallies)
        for tally in tallies.values():
            if tally.first is not None:
                self._places.pop(tally.first, None)
            if tally.doubt is not None and not tally.is_reported:
                view, sentence = tally.doubt
                self.run.settle(
                    self.index,
                    "inconclusive",
                    view,
                    sentence,
                    reason="hidden-evidence",
                    key=self.key_text(view),
                    missing=(sentence,),
                )

    def _note_over(self, tallies: dict[Any, Tally]) -> None:
        """A count that is over the bound, or in doubt, will not be settled a second time."""
        for tally in tallies.values():
            if (tally.is_reported or tally.doubt is not None) and tally.first in self._places:
                self.lower.over.add(self._places[tally.first])

    def close(self) -> None:
        """Settle every key, or the run."""
        self.upper.close()
        self.end_counts(self.tallies)
        self.lower.close()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        super().restart()
        self.upper.restart()
        self.lower.restart()
        self._places.clear()

"""`at_most`: at most so many events of `for` happen (bounded existence).

docs: docs/kinds/at_most.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.contracts.kinds.base import Run, View
from outstep.contracts.kinds.counting import CountingMonitor
from outstep.contracts.kinds.upper import UpperBound
from outstep.contracts.selectors import Expr

if TYPE_CHECKING:
    from outstep.contracts.model import Rule


class AtMost(Struct, frozen=True, kw_only=True, tag="at_most", tag_field="kind"):
    """At most `bound` events of `for` happen, or the total of `sum` is at most that."""

    bound: Expr


class AtMostMonitor(CountingMonitor):
    """Compares each count with the bound as it grows."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        kind = rule.kind
        assert isinstance(kind, AtMost)
        self.upper = UpperBound(self, kind.bound)
        self.asks_outcomes = self.upper.outcome_slot

    def on(self, view: View) -> None:
        """Judge an event of `for` whose conditions hold."""
        self.upper.on(view)

    def awaits(self, seq: int) -> bool:
        """Return whether the call was counted."""
        return seq in self.upper.open

    def answered(self, view: View) -> None:
        """Take the result of a call that was counted."""
        self.upper.answered(view)

    def close(self) -> None:
        """Settle what is still open."""
        self.upper.close()
        self.settle_keys()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        super().restart()
        self.upper.restart()

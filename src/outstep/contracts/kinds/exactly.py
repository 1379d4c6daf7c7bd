"""`exactly`: exactly so many events of `for` happen (bounded existence).

docs: docs/kinds/exactly.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.contracts.kinds.base import Run, View
from outstep.contracts.kinds.counting import CountingMonitor
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
        self.lower = LowerBound(self, kind.bound)
        self.outcome_slot = self.upper.outcome_slot

    def on(self, view: View) -> None:
        """Judge an event of `for` whose conditions hold."""
        self.upper.on(view)
        self.lower.on(view)

    def answered(self, view: View) -> None:
        """Take the result of a call that was counted."""
        self.upper.answered(view)

    def close(self) -> None:
        """Settle every key, or the run."""
        self.upper.close()
        for key in [key for key, tally in self.tallies.items() if tally.is_reported]:
            self.lower.amounts.pop(key, None)
        self.lower.close()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        super().restart()
        self.upper.restart()
        self.lower.restart()

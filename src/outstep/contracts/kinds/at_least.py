"""`at_least`: at least so many events of `for` happen (bounded existence).

docs: docs/kinds/at_least.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.contracts.kinds.base import Lane, Run, View
from outstep.contracts.kinds.counting import CountingMonitor
from outstep.contracts.kinds.lower import LowerBound
from outstep.contracts.selectors import Expr

if TYPE_CHECKING:
    from outstep.contracts.model import Rule


class AtLeast(Struct, frozen=True, kw_only=True, tag="at_least", tag_field="kind"):
    """At least `bound` events of `for` happen, or the total of `sum` is at least that."""

    bound: Expr


class AtLeastMonitor(CountingMonitor):
    """Counts, and settles at the end."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        kind = rule.kind
        assert isinstance(kind, AtLeast)
        self.lower = LowerBound(self, kind.bound)
        self.has_deadline = bool(rule.until)

    def on(self, view: View) -> None:
        """Count an event of `for` whose conditions hold."""
        self.lower.on(view)

    def opened(self, lane: Lane) -> None:  # noqa: ARG002 - windows are of the whole run
        """Take note that a decision opens."""
        self.lower.opened()

    def marked(self, role: str, seq: int) -> None:
        """Take note that a window opens or ends."""
        self.lower.marked(role, seq)

    def close(self) -> None:
        """Settle every key, or the run."""
        self.lower.close()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        super().restart()
        self.lower.restart()

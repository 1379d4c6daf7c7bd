"""`never`: no such event happens (absence).

docs: docs/kinds/never.md
"""

from __future__ import annotations

from msgspec import Struct

from outstep.contracts.kinds.base import Quiet, View


class Never(Struct, frozen=True, kw_only=True, tag="never", tag_field="kind"):
    """No event of the rule's selectors happens; they stand in place of `for`."""


class NeverMonitor(Quiet):
    """Every event of the selectors is a violation, at once."""

    def on(self, view: View) -> None:
        """Judge an event whose conditions hold."""
        texts = " or ".join(f"`{selector.text}`" for selector in self.rule.triggers)
        self.run.settle(self.index, "violated", view, f"{texts} happened")

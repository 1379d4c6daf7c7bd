"""Where events may be hidden, and whether that matters to a question (SEMANTICS section 7)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Selector
from outstep.engine.lanes import LaneState
from outstep.engine.views import View
from outstep.events import Gap


class Gaps:
    """The gaps of one trace."""

    def __init__(self) -> None:
        self.all: list[tuple[Gap, int]] = []
        """Every gap with its place, in log order; a hidden value of a key counts as one that hides its writers."""
        self.places: list[int] = []
        """Where the record itself has a gap: such a place is no event."""

    def since(self, seq: int) -> int:
        """Return how many gaps of the record stand behind a place."""
        return len(self.places) - bisect_right(self.places, seq)

    def before(self, view: View, selectors: Sequence[Selector], since: int = -1) -> bool:
        """Return whether a gap before the view in the log, behind `since`, may hide what the selectors pick."""
        return any(since < place < view.seq and hides(gap, selectors) for gap, place in self.all)

    def behind(self, seq: int, selectors: Sequence[Selector], lane: str | None = None) -> bool:
        """Return whether a gap after `seq` (in a lane, if one is given) may hide what the selectors pick."""
        return any(
            place > seq and (lane is None or gap.agent is None or gap.agent == lane) and hides(gap, selectors)
            for gap, place in reversed(self.all)
        )

    def anywhere(self, selectors: Sequence[Selector]) -> bool:
        """Return whether any gap may hide what the selectors pick."""
        return any(hides(gap, selectors) for gap, _ in self.all)

    def newest(self, selectors: Sequence[Selector], before: int, lane: str | None) -> int:
        """Return where the newest gap before a place stands that may hide what the selectors pick in a lane, or -1."""
        for gap, place in reversed(self.all):
            if place < before and gap.agent in {None, lane} and hides(gap, selectors):
                return place
        return -1

    def between(self, seq: int, until: int) -> bool:
        """Return whether any gap lies between two places."""
        return any(seq < place < until for _, place in self.all)


def known_to(view: View, every: list[tuple[Gap, int]]) -> list[tuple[Gap, int]]:
    """Return the gaps known to a view, oldest first; views without a lane know what the log shows."""
    lane: LaneState | None = view.lane
    if lane is None:
        return [pair for pair in every if pair[1] < view.seq]
    return lane.known_gaps(view.at)


def stands_before(gap: Gap, place: int, at: int) -> bool:
    """Return whether a gap counts before a moment; one that opens a turn also hides what came before that opening."""
    return place < at or (gap.turn is not None and place == at)


def may_hide(gap: Gap, types: Sequence[str]) -> bool:
    """Return whether a gap may hide an event of one of the types."""
    return gap.can_hide(*types)


def hides(gap: Gap, selectors: Sequence[Selector]) -> bool:
    """Return whether a gap may hide an event that one of the selectors picks; only a missing end hides an end."""
    return any(
        selector.what != "end" and gap.can_hide(selector.event_type) and _lane_fits(gap, selector)
        for selector in selectors
    )


def _lane_fits(gap: Gap, selector: Selector) -> bool:
    if gap.agent is None:
        return True
    if selector.what == "state":
        return False
    by = selector.by
    if by is None:
        return selector.event_type != "assistant.message" or gap.agent == "main"
    return by in {"any", "user", "harness"} or glob_fits(by, gap.agent)

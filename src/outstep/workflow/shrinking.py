"""A broken trace made small: what could go without another verdict on any rule is gone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from outstep.codec import encode
from outstep.engine.monitor import Compiled, judge
from outstep.events import Event, Header, ToolCall, ToolResult
from outstep.findings import Verdict

MOST_TRIES = 400
"""Smaller traces that are judged for one example."""


def shrunk(
    compiled: Compiled, good: Sequence[Event], header: Header, broken: Sequence[Event]
) -> tuple[Header, Sequence[Event]]:
    """Return a broken trace without what does not matter.

    What goes also goes from the good trace, and there, too, every rule stands as before: what was broken stays broken.
    """
    header = replace(header, id="", sources=())
    pairs = _Pairs(compiled, header, good, broken)
    left = list(range(len(pairs.parts)))
    tries = 0
    size = max(1, len(left) // 2)
    while size:
        at = 0
        while at < len(left) and tries < MOST_TRIES:
            rest = left[:at] + left[at + size :]
            tries += 1
            if rest and pairs.are_alike(rest):
                left = rest
            else:
                at += size
        size //= 2
    return header, pairs.events(left)


class _Pairs:
    """A broken trace beside the good one, without the same parts."""

    def __init__(self, compiled: Compiled, header: Header, good: Sequence[Event], broken: Sequence[Event]) -> None:
        self._compiled = compiled
        self._header = header
        self._good = good
        self._broken = broken
        self.parts = _parts(broken)
        self._twin = _twins(good, broken)
        self._wanted = self._verdicts(broken), self._verdicts(good)

    def are_alike(self, left: Sequence[int]) -> bool:
        """Return whether both traces are judged as before with these parts alone, and still differ."""
        places = {place for part in left for place in self.parts[part]}
        gone = {twin for place, twin in enumerate(self._twin) if twin is not None and place not in places}
        if any(self._twin[place] is None for place in range(len(self._broken)) if place not in places):
            return False
        broken = self.events(left)
        good = [event for place, event in enumerate(self._good) if place not in gone]
        if list(map(_said, broken)) == list(map(_said, good)):
            return False
        return self._verdicts(broken) == self._wanted[0] and self._verdicts(good) == self._wanted[1]

    def events(self, left: Sequence[int]) -> list[Event]:
        """Return the events of some parts of the broken trace."""
        places = sorted(place for part in left for place in self.parts[part])
        return [replace(self._broken[place], seq=number) for number, place in enumerate(places)]

    def _verdicts(self, events: Sequence[Event]) -> tuple[Verdict, ...]:
        return _verdicts(self._compiled, self._header, events)


def _verdicts(compiled: Compiled, header: Header, events: Sequence[Event]) -> tuple[Verdict, ...]:
    return next(judge(compiled, [[header, *events]])).verdicts


def _parts(events: Sequence[Event]) -> list[list[int]]:
    """Return the places of events that go together: a call with its result, others alone."""
    parts: list[list[int]] = []
    waiting: dict[tuple[str, str], list[int]] = {}
    for place, event in enumerate(events):
        key = (getattr(event, "agent", "") or "", getattr(event, "call_id", ""))
        if isinstance(event, ToolResult) and key in waiting:
            waiting.pop(key).append(place)
            continue
        parts.append([place])
        if isinstance(event, ToolCall):
            waiting[key] = parts[-1]
    return parts


def _twins(good: Sequence[Event], broken: Sequence[Event]) -> list[int | None]:
    """Return for each event of the broken trace which one of the good trace it is; none for what was broken."""
    there: dict[bytes, list[int]] = {}
    for place, event in enumerate(good):
        there.setdefault(_said(event), []).append(place)
    found: list[int | None] = []
    for event in broken:
        places = there.get(_said(event))
        found.append(places.pop(0) if places else None)
    return found


def _said(event: Event) -> bytes:
    fields: dict[str, object] = {"seq": 0, "call": None} if isinstance(event, ToolResult) else {"seq": 0}
    return encode(replace(event, **fields))

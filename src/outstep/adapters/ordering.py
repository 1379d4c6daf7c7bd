"""Events of one trace as they arrived: sorted by number, with remarks and gaps where the record is damaged.

SEMANTICS section 1: a format whose records carry sequence numbers is read in their order, wherever they stand in the
file, and in file order among equal ones. A number used twice is remarked on, and then all events are numbered anew.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, lt
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outstep.events import AssistantMessage, Context, Decision, Event, Gap, Issued, Lane, RunEnd, ToolCall, ToolResult

_ISSUED = frozenset(Issued)


class Hole(Struct, frozen=True, kw_only=True):
    """A record that cannot be read."""

    reason: str


class Settled(Struct, frozen=True, kw_only=True):
    """Events in arrival order, and for each the index of the record that it comes from."""

    events: list[Event]
    sources: list[int]
    lanes: tuple[Lane, ...]


def is_rising(seqs: Sequence[int], last: int | None) -> bool:
    """Return whether numbers strictly increase, from above `last` on."""
    first = seqs[0]
    if last is not None and first <= last:
        return False
    # Most often they are counted without a gap; that is told in half the time.
    has_no_gap = seqs[-1] - first == len(seqs) - 1 and seqs == list(range(first, first + len(seqs)))
    return has_no_gap or all(map(lt, seqs, seqs[1:]))


def settle(records: Sequence[Event | Hole], lanes: tuple[Lane, ...] = ()) -> Settled:
    """Bring the records of a trace, as they stand in the file, into arrival order."""
    events: list[Event] = []
    sources: list[int] = []
    made: set[int] = set()
    """Places of events that no record carries."""
    anew = False

    def make(event: Event, index: int) -> None:
        made.add(len(events))
        events.append(event)
        sources.append(index)

    last: int | None = None
    order = _in_order(records)
    for position, index in enumerate(order):
        record = records[index]
        if isinstance(record, Hole):
            following = (records[later] for later in order[position + 1 : position + 2])
            for gap in _gaps(record, events, next(following, None)):
                make(gap, index)
            continue
        events.append(record)
        sources.append(index)
        if record.seq == last:
            anew = True
            agent = getattr(record, "agent", None) or "main"
            make(Context(seq=last, agent=agent, what="record.duplicate_seq", name=str(last)), index)
        last = record.seq
    return _numbered(events, sources, made, anew, lanes)


def _in_order(records: Sequence[Event | Hole]) -> list[int]:
    """Return the indices by number; a hole stays behind the record before it."""
    keys: list[float] = []
    last = float("-inf")
    for record in records:
        if not isinstance(record, Hole):
            last = record.seq
        keys.append(last)
    return sorted(range(len(records)), key=keys.__getitem__)


def _gaps(hole: Hole, before: Sequence[Event], after: Event | Hole | None) -> Iterable[Gap]:
    """Yield gaps for what one lost record may have been: part of a turn beside it, or a decision of its own."""
    ahead = _last_issued(before)
    if ahead is not None and ahead.turn is not None:
        yield Gap(seq=0, agent=ahead.agent, turn=ahead.turn, reason=hole.reason)
    yield Gap(seq=0, reason=hole.reason)
    # A gap opens the turn that it is stamped with, so it must not move that opening before a delivery.
    if isinstance(after, Issued) and after.turn is not None and (ahead is None or after.turn != ahead.turn):
        yield Gap(seq=0, agent=after.agent, turn=after.turn, reason=hole.reason)


def _last_issued(events: Sequence[Event]) -> Decision | ToolCall | AssistantMessage | None:
    for event in reversed(events[-64:]):
        if isinstance(event, Issued):
            return event
    return None


def end_gap(events: Sequence[Event], seq: int, reason: str) -> Gap:
    """Return the gap behind the last event of a record that was cut off."""
    ahead = _last_issued(events)
    if ahead is None or ahead.turn is None:
        return Gap(seq=seq, reason=reason)
    return Gap(seq=seq, agent=ahead.agent, turn=ahead.turn, reason=reason)


def _numbered(events: list[Event], sources: list[int], made: set[int], anew: bool, lanes: tuple[Lane, ...]) -> Settled:
    """Number made events between their neighbours, or all events anew where there is no room."""
    last = events[0].seq - 1 if events and 0 not in made else None
    if not anew:
        if last is None:
            first = next((event.seq for place, event in enumerate(events) if place not in made), 1)
            last = first - 1 - _leading(made)
        for place, event in enumerate(events):
            if place in made:
                events[place] = event = replace(event, seq=last + 1)
            if event.seq <= last:
                anew = True
                break
            last = event.seq
    if not anew:
        return Settled(events=events, sources=sources, lanes=lanes)
    calls: dict[int, int] = {}
    old: list[int] = []
    for place, event in enumerate(events):
        old.append(old[-1] if place in made and old else event.seq)
        if isinstance(event, ToolCall):
            calls.setdefault(event.seq, place + 1)
    return Settled(
        events=[_renumbered(event, place + 1, calls) for place, event in enumerate(events)],
        sources=sources,
        lanes=tuple(
            lane if lane.forked_at is None else replace(lane, forked_at=bisect_right(old, lane.forked_at))
            for lane in lanes
        ),
    )


def _leading(made: set[int]) -> int:
    count = 0
    while count in made:
        count += 1
    return count


def _renumbered(event: Event, seq: int, calls: Mapping[int, int]) -> Event:
    changes: dict[str, Any] = {"seq": seq}
    if isinstance(event, ToolResult) and event.call is not None:
        changes["call"] = calls.get(event.call)
    return replace(event, **changes)


class Shape:
    """Holds whether a trace is well-formed, event by event (SEMANTICS section 1)."""

    def __init__(self, lanes: tuple[Lane, ...]) -> None:
        self._turns: dict[str, int] = {}
        self._unspawned = {lane.id: lane.call for lane in lanes if lane.call}
        self._awaited: dict[str, list[str]] = {}
        for lane, call in self._unspawned.items():
            self._awaited.setdefault(call, []).append(lane)
        self._flaw = _flaw_of_lanes(lanes) if lanes else ""

    def flaw(self, events: Sequence[Event]) -> str:
        """Return what is wrong with the first event that does not fit, or an empty text."""
        if self._flaw:
            return self._flaw
        if self._unspawned:
            return self._careful_flaw(events)
        # Written for speed: every event of every trace comes through here.
        if events and have_no_turns(events):
            return ""
        turns = self._turns
        for event in events:
            if type(event) in _ISSUED:
                turn: int | None = event.turn  # type: ignore[union-attr]
                if turn is not None:
                    agent: str = event.agent  # type: ignore[union-attr, assignment]
                    last = turns.get(agent)
                    if last is None or turn > last:
                        turns[agent] = turn
                    elif turn < last:
                        return _reopened(event, turn, agent, last)
        return ""

    def _careful_flaw(self, events: Iterable[Event]) -> str:
        for event in events:
            agent = getattr(event, "agent", None)
            if agent in self._unspawned and not isinstance(event, Gap):
                return f"{_named(event)} of lane `{agent}` stands before call `{self._unspawned[agent]}`, its spawn"
            if isinstance(event, ToolCall):
                for lane in self._awaited.pop(event.call_id, ()):
                    del self._unspawned[lane]
            if isinstance(event, Issued) and event.turn is not None:
                last = self._turns.setdefault(event.agent, event.turn)
                if event.turn < last:
                    return _reopened(event, event.turn, event.agent, last)
                self._turns[event.agent] = event.turn
        return ""


def _flaw_of_lanes(lanes: tuple[Lane, ...]) -> str:
    ids = [lane.id for lane in lanes]
    twice = next((id for id, count in Counter(ids).items() if count > 1), None)
    if twice is not None:
        return f"lane `{twice}` is listed twice"
    # Calls of a user do not count: such a header would say of everything that the agent did not do it.
    if any(lane.id == "main" and (lane.kind != "agent" or lane.parent is not None) for lane in lanes):
        return "lane `main` is the agent itself: it is of no other kind, and has no parent"
    return ""


def have_no_turns(events: Sequence[Event]) -> bool:
    """Return true only if no event tells a turn; false says nothing."""
    try:
        return set(map(_turn_of, events[:-1] if type(events[-1]) is RunEnd else events)) <= _NO_TURN
    except AttributeError:
        return False


_turn_of = attrgetter("turn")
_NO_TURN = {None}


def _reopened(event: Event, turn: int, agent: str, last: int) -> str:
    return f"{_named(event)} opens turn {turn} of lane `{agent}` again, or after turn {last}"


def _named(event: Event) -> str:
    kind = type(event).__struct_config__.tag
    return f"event {event.seq} (`{kind}`)"

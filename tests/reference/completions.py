"""What a gap may hide: small completions of a trace, to hold the law of gaps (SEMANTICS section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from outstep.codec import raw
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    Issued,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

from .generate import ANSWERS, Recorded, renumbered
from .known import is_well_formed

WIDE = 1000
"""Visible turns are spread, so that hidden ones fit between them."""

ALPHABET: tuple[Event, ...] = (
    ToolCall(seq=0, tool="a", args=raw({"k": "x", "n": 1})),
    ToolCall(seq=0, tool="a", args=raw({"k": "y", "n": 1})),
    ToolCall(seq=0, tool="b", args=raw({"k": "x", "n": 1})),
    ToolResult(seq=0, **ANSWERS["ok"]),
    ToolResult(seq=0, **ANSWERS["failed"]),
    UserMessage(seq=0, text="please do x"),
    AssistantMessage(seq=0, text="x is done"),
    Approval(seq=0, tool="a", decision="allowed"),
    Approval(seq=0, tool="a", decision="denied"),
    Context(seq=0, what="skill", name="db", text="x"),
    State(seq=0, state=raw({"open": 1})),
    Decision(seq=0, model="m"),
)
"""Events that a gap may hide, before they are given a lane, a turn and an id."""


def completions(trace: Recorded, alphabet: Sequence[Event] = ALPHABET, max_events: int = 2) -> Iterator[Recorded]:
    """Yield complete traces in which each gap hides at most so many events.

    A hidden call has an id of its own, or that of an orphan behind it; a hidden result answers a call without any.
    """
    header, events = trace
    open_end = not header.complete and not any(isinstance(x, RunEnd) and x.end != "cut_off" for x in events)
    spread = [_spread(event) for event in events if not (isinstance(event, RunEnd) and event.end == "cut_off")]
    if open_end:
        spread += [Gap(seq=len(spread)), RunEnd(seq=len(spread) + 1)]
    for filled in _filled(_Filling(header, alphabet, max_events), [], spread):
        done = _numbered(filled)
        if is_well_formed(header, done):
            yield header, done


def _spread(event: Event) -> Event:
    turn = getattr(event, "turn", None)
    return event if turn is None else replace(event, turn=turn * WIDE)


class _Filling(Struct, frozen=True):
    header: Header
    alphabet: Sequence[Event]
    most: int

    def lanes(self, gap: Gap) -> list[str]:
        if gap.agent is not None:
            return [gap.agent]
        return ["main", *(lane.id for lane in self.header.lanes)]


def _filled(filling: _Filling, before: list[Event], rest: list[Event]) -> Iterator[list[Event]]:
    """Yield the events with every gap of the rest filled."""
    for index, event in enumerate(rest):
        if isinstance(event, Gap):
            head, tail = [*before, *rest[:index]], rest[index + 1 :]
            for hidden in _hidden(filling, event, head, tail):
                yield from _filled(filling, [*head, *hidden], tail)
            return
    yield [*before, *rest]


def _hidden(filling: _Filling, gap: Gap, before: list[Event], behind: list[Event]) -> Iterator[list[Event]]:
    """Yield what a gap may hide."""
    must_open = gap.turn is not None and not _holds(before, gap)
    stack: list[list[Event]] = [[]]
    while stack:
        hidden = stack.pop()
        if not must_open or _holds(hidden, gap):
            yield hidden
        if len(hidden) < filling.most:
            stack += [[*hidden, event] for event in _next(filling, gap, [*before, *hidden], behind)]


def _holds(events: Sequence[Event], gap: Gap) -> bool:
    """Return whether an issued event of the gap's turn is among the events."""
    return any(
        isinstance(x, Issued) and x.turn == gap.turn and (gap.agent is None or x.agent == gap.agent) for x in events
    )


def _next(filling: _Filling, gap: Gap, before: list[Event], behind: list[Event]) -> Iterator[Event]:
    for template in filling.alphabet:
        if not gap.can_hide(template.__struct_config__.tag):  # type: ignore[arg-type]
            continue
        if isinstance(template, State):
            if gap.agent is None:
                yield template
            continue
        for lane in filling.lanes(gap):
            yield from _in_lane(template, lane, gap, before, behind)


def _in_lane(template: Event, lane: str, gap: Gap, before: list[Event], behind: list[Event]) -> Iterator[Event]:
    if isinstance(template, ToolResult):
        for call_id in _unanswered(lane, before, behind):
            yield replace(template, agent=lane, call_id=call_id)
        return
    if not isinstance(template, Issued):
        yield replace(template, agent=lane)
        return
    for turn in _turns(lane, gap, before, behind):
        placed = replace(template, agent=lane, turn=turn)
        if not isinstance(placed, ToolCall):
            yield placed
            continue
        for call_id in [_fresh(before, behind), *_orphans(lane, before, behind)]:
            yield replace(placed, call_id=call_id)


def _unanswered(lane: str, before: list[Event], behind: list[Event]) -> list[str]:
    """Return the calls of a lane without any result."""
    answered = {x.call_id for x in [*before, *behind] if isinstance(x, ToolResult) and x.agent == lane}
    calls = [x.call_id for x in before if isinstance(x, ToolCall) and x.agent == lane]
    return [call_id for call_id in calls if call_id not in answered]


def _orphans(lane: str, before: list[Event], behind: list[Event]) -> list[str]:
    """Return the ids of results behind whose call is not there."""
    called = {x.call_id for x in [*before, *behind] if isinstance(x, ToolCall) and x.agent == lane}
    results = [x.call_id for x in behind if isinstance(x, ToolResult) and x.agent == lane]
    return [call_id for call_id in dict.fromkeys(results) if call_id not in called]


def _fresh(before: list[Event], behind: list[Event]) -> str:
    used = {x.call_id for x in [*before, *behind] if isinstance(x, ToolCall | ToolResult)}
    return next(f"h{number}" for number in count() if f"h{number}" not in used)


def _turns(lane: str, gap: Gap, before: list[Event], behind: list[Event]) -> list[int | None]:
    """Return the turns that a hidden decision may have: the gap's, else one that nobody can see."""
    if gap.turn is not None:
        return [gap.turn]
    turns = [x.turn for x in [*before, *behind] if isinstance(x, Issued) and x.turn is not None]
    if not turns:
        return [None]
    earlier = [x.turn for x in before if isinstance(x, (*Issued, Gap)) and x.turn is not None and _is_in(x, lane)]
    newest = max(earlier, default=0)
    return [newest + 1] if newest % WIDE == 0 else [newest, newest + 1]


def _is_in(event: Event, lane: str) -> bool:
    return getattr(event, "agent", None) in (None, lane)


def _numbered(events: Sequence[Event]) -> list[Event]:
    numbers = {event.seq: number for number, event in enumerate(events)}
    done = renumbered(events)
    return [
        replace(event, call=numbers[event.call]) if isinstance(event, ToolResult) and event.call is not None else event
        for event in done
    ]

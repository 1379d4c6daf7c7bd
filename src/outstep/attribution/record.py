"""What a record shows around one event: who did what before it, what came back, and what was known when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from msgspec import Struct

from outstep import codec
from outstep.attribution.answer import Basis
from outstep.codec import Unreadable
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    Outcome,
    RunEnd,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.expr.mentions import mentions


class Act(Struct, frozen=True, kw_only=True):
    """A call with what came of it."""

    call: ToolCall
    result: ToolResult | None
    outcome: str
    """As the contract reads it: `ok`, `failed`, `denied`, `unknown`, or `unanswered`."""


class Record:
    """One trace, looked at from the event of one finding."""

    def __init__(
        self,
        header: Header,
        events: Sequence[Event],
        *,
        quotes: Mapping[int, str],
        outcomes: Mapping[int, Outcome] | None = None,
        place: int | None = None,
    ) -> None:
        """`quotes` shows each event by its `seq`; `outcomes` are those that the contract gives to results."""
        self.header = header
        self.events = events
        self._quotes = quotes
        self._numbers = {event.seq: number for number, event in enumerate(events, 1)}
        self._by_seq = {event.seq: event for event in events}
        self.event = self._by_seq.get(place) if place is not None else None
        """The event of the finding; none where it is about the run."""
        self.acts = _acts(events, outcomes or {})
        self._by_call = {act.call.seq: act for act in self.acts}
        self._openings: dict[tuple[str, int], int] = {}
        """Where each model response begins."""
        for event in events:
            if isinstance(event, Decision | ToolCall | AssistantMessage) and event.turn is not None:
                self._openings.setdefault((event.agent, event.turn), event.seq)
        self.gaps = [event for event in events if isinstance(event, Gap)]
        self.end = next((event for event in reversed(events) if isinstance(event, RunEnd)), None)

    def at(self, place: int | None) -> Record:
        """Return the same trace, looked at from another event."""
        found = copy(self)
        found.event = self._by_seq.get(place) if place is not None else None
        return found

    def basis(self, event: Event, note: str = "") -> Basis:
        """Return an event as evidence."""
        return Basis(event=self._numbers[event.seq], quote=self._quotes.get(event.seq, ""), note=note)

    def number(self, event: Event) -> int:
        """Return the number of an event, from 1."""
        return self._numbers[event.seq]

    def act_of(self, event: Event | None) -> Act | None:
        """Return the act of a call, or of a result."""
        if isinstance(event, ToolResult):
            return next((act for act in self.acts if act.result is event), None)
        return self._by_call.get(event.seq) if isinstance(event, ToolCall) else None

    def gap(self, *types: str) -> Gap | None:
        """Return a gap that may hide such events."""
        return next((gap for gap in self.gaps if gap.can_hide(*types)), None)

    def is_known(self, event: Event, to: Event) -> bool:
        """Return whether an event had reached the lane of another one before that one's own response began."""
        return event.seq < self._opening(to) and _lane(event) == _lane(to)

    def is_same_response(self, one: Event, other: Event) -> bool:
        """Return whether one model response issued both."""
        turn = getattr(one, "turn", None)
        return turn is not None and turn == getattr(other, "turn", None) and _lane(one) == _lane(other)

    def _opening(self, event: Event) -> int:
        turn = getattr(event, "turn", None)
        if turn is None or isinstance(event, ToolResult | UserMessage | Context | Approval):
            return event.seq
        return self._openings.get((_lane(event), turn), event.seq)

    def told(self, event: Event) -> list[Event]:
        """Return everything that had been put before the model when it issued an event."""
        return [
            one
            for one in self.events
            if isinstance(one, UserMessage | Context | ToolResult) and self.is_known(one, event)
        ]

    def instructions(self, event: Event) -> list[Context]:
        """Return the recorded instructions before an event, the system prompt among them."""
        return [
            one
            for one in self.told(event)
            if isinstance(one, Context) and one.text and not one.what.startswith("record.")
        ]

    def has_system(self, event: Event) -> bool:
        """Return whether the record holds what the model was told at the start."""
        return any(one.what in ("system", "developer") and not one.hidden for one in self.instructions(event))

    def first_mention(self, value: Any, among: Iterable[Event]) -> Event | None:
        """Return the first of some events that names a value as a whole word."""
        return next((one for one in among if mentions(content(one), value)), None)

    def has_whole_list(self) -> bool:
        """Return whether the header lists every tool that was offered, as far as the calls tell."""
        if not self.header.tools or any(act.call.by == "program" for act in self.acts):
            return False
        own = [act for act in self.acts if act.call.by == "model" and act.outcome == "ok"]
        return bool(own) and all(act.call.tool in self.header.tools for act in own)

    def is_stopped(self) -> bool:
        """Return whether the run was stopped, or its record stops, before it was over."""
        return self.end.end != "completed" if self.end is not None else not self.header.complete


def arguments(call: ToolCall) -> Any:
    """Return the arguments of a call; none where they cannot be read."""
    try:
        return codec.loads(bytes(call.args)) if bytes(call.args) and call.args_raw is None else None
    except Unreadable:
        return None


def content(event: Event) -> Any:
    """Return what an event puts before the model."""
    if isinstance(event, ToolResult):
        raw = bytes(event.data)
        try:
            data = codec.loads(raw) if raw else ""
        except Unreadable:
            data = raw.decode(errors="replace")
        return [event.text or "", event.error, data]
    return getattr(event, "text", "") or ""


def _lane(event: Event) -> str:
    return getattr(event, "agent", None) or "main"


def _acts(events: Sequence[Event], outcomes: Mapping[int, Outcome]) -> list[Act]:
    """Return the calls with their results: those they name, else by id within their lane, in order."""
    waiting: dict[tuple[str, str], list[ToolCall]] = {}
    found: dict[int, ToolResult] = {}
    for event in events:
        if isinstance(event, ToolCall):
            waiting.setdefault((event.agent, event.call_id), []).append(event)
        elif isinstance(event, ToolResult):
            same = waiting.get((event.agent, event.call_id), [])
            if event.call is not None:
                found.setdefault(event.call, event)
            elif same:
                own = [call for call in same if call.turn == event.turn] or same
                found.setdefault(own[0].seq, event)
                same.remove(own[0])
    acts = []
    for event in events:
        if isinstance(event, ToolCall):
            result = found.get(event.seq)
            outcome = "unanswered" if result is None else outcomes.get(result.seq, result.outcome)
            acts.append(Act(call=event, result=result, outcome="unknown" if outcome == "unrecorded" else outcome))
    return acts

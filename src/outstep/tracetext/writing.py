"""From events to the text of a small trace, which reads back as the same events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from re import compile as linear_pattern
from typing import Any

from outstep import codec
from outstep.events import (
    EVENT_TYPES,
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

_BARE = linear_pattern(r'[^\s"{}\[\]#][^\s"{}\[\]]*')


def trace_text(header: Header, events: Sequence[Event]) -> str:
    """Return a trace as text; ids of calls become `c1`, `c2`, … where each stands for one call alone.

    What the text form cannot say is left out: sources, fractions of a second, how results were joined.
    """
    lines = [*_head(header, events), *(line for _, line in event_lines(events))]
    return "\n".join(lines) + "\n"


def event_lines(events: Sequence[Event]) -> list[tuple[int, str]]:
    """Return each event as its line, with its `seq`."""
    writer = _Writer(events)
    return [(event.seq, writer.line(event)) for event in events]


def _head(header: Header, events: Sequence[Event]) -> Iterable[str]:
    said = [word for name in ("harness", "model", "cwd") for word in _option(name, getattr(header, name))]
    if said:
        yield _joined("trace", *said)
    places = {event.seq: index for index, event in enumerate(events)}
    names = _Writer(events).names
    for lane in header.lanes:
        options = [*_option("parent", lane.parent), *_option("call", names.get(lane.call, lane.call))]
        if lane.kind != "agent":
            options = ["kind", lane.kind, *options]
        if lane.forked_at is not None:
            options += ["forked_at", str(sum(place < lane.forked_at for place in places))]
        yield _joined("lane", _word(lane.id), *options, *_option("cwd", lane.cwd))
    if header.records != EVENT_TYPES:
        yield f"records {','.join(header.records)}"
    if header.complete:
        yield "complete"


class _Writer:
    """Writes events in turn, and keeps in mind which calls wait for a result."""

    def __init__(self, events: Sequence[Event]) -> None:
        calls = [event for event in events if isinstance(event, ToolCall)]
        ids = [call.call_id for call in calls]
        is_plain = len(set(ids)) == len(ids) and all(ids)
        self.names = {id: f"c{number}" for number, id in enumerate(ids, 1)} if is_plain else {}
        self._places = {event.seq: index for index, event in enumerate(events)}
        self._count = 0
        self._waiting: list[str] = []
        self._lanes: dict[str, str] = {}
        """Of calls, by id."""

    def line(self, event: Event) -> str:
        """Return the line of the next event."""
        return _WRITERS[type(event)](self, event)

    def name(self, call_id: str) -> str:
        """Return what a call is called here."""
        if call_id in self.names:
            return self.names[call_id]
        # An id of no call must not be taken for one that was renamed.
        return f"no-{call_id}" if call_id in self.names.values() else call_id

    def user(self, event: UserMessage) -> str:
        return _joined("user", _text(event.text), *_tail(event))

    def say(self, event: AssistantMessage) -> str:
        return _joined("say", _text(event.text), *_turn(event), *_tail(event))

    def call(self, event: ToolCall) -> str:
        self._count += 1
        name = self.name(event.call_id)
        self._waiting.append(name)
        self._lanes[name] = event.agent
        is_readable = event.args_raw is None
        args = bytes(event.args).decode() or "{}" if is_readable else _text(event.args_raw or "")
        options = [] if name == f"c{self._count}" else ["as", _word(name)]
        options += _turn(event)
        if event.by != "model":
            options += ["by", event.by]
        if event.parent is not None:
            options += ["parent", _word(self.name(event.parent))]
        return _joined("call", _word(event.tool), "" if args == "{}" else args, *options, *_tail(event))

    def result(self, event: ToolResult) -> str:
        name = self.name(event.call_id)
        is_newest = bool(self._waiting) and self._waiting[-1] == name
        if name in self._waiting:
            self._waiting.remove(name)
        content, text = _content(event)
        options = [*text, *_option("error", event.error), *_turn(event)]
        if event.exit is not None:
            options += ["exit", str(event.exit)]
        if event.call is not None:
            options += ["of", str(self._places.get(event.call, event.call))]
        who = "" if is_newest else f'"{name}"' if name in _OUTCOMES else _word(name)
        own = _tail(event, lane=self._lanes.get(name, "main"))
        return _joined("result", who, event.outcome, content, *options, *own)

    def approval(self, event: Approval) -> str:
        subject = self.name(event.call_id) if event.call_id else event.tool
        return _joined("approval", _word(subject), event.decision, *_option("by", event.by), *_tail(event))

    def context(self, event: Context) -> str:
        options = [*_option("version", event.version), *_option("digest", event.digest)]
        name = _option("name", event.name)
        return _joined("context", _word(event.what), *name, _text(event.text), *options, *_tail(event))

    def state(self, event: State) -> str:
        return _joined("state", bytes(event.state).decode(), *_tail(event))

    def decision(self, event: Decision) -> str:
        usage = codec.encode(event.usage).decode() if event.usage else ""
        return _joined("decision", *_turn(event), usage, *_option("model", event.model), *_tail(event))

    def gap(self, event: Gap) -> str:
        hides = f"may_hide={','.join(event.may_hide)}" if event.may_hide else ""
        lane = [] if event.agent is None else ["lane", _word(event.agent)]
        return _joined("gap", hides, *_turn(event), *lane, *_option("reason", event.reason))

    def end(self, event: RunEnd) -> str:
        return _joined("end", event.end, *_option("reason", event.reason))


_OUTCOMES = ("ok", "failed", "denied", "unknown", "unrecorded")
_WRITERS: dict[type, Callable[[_Writer, Any], str]] = {
    UserMessage: _Writer.user,
    AssistantMessage: _Writer.say,
    ToolCall: _Writer.call,
    ToolResult: _Writer.result,
    Approval: _Writer.approval,
    Context: _Writer.context,
    State: _Writer.state,
    Decision: _Writer.decision,
    Gap: _Writer.gap,
    RunEnd: _Writer.end,
}


def _content(event: ToolResult) -> tuple[str, list[str]]:
    """Return what stands behind the outcome, and the option `text` where both are recorded."""
    data = bytes(event.data).decode()
    if data[:1] in ("{", "["):
        return data, [] if event.text is None else ["text", _text(event.text)]
    if event.text is not None:
        return _text(event.text), []
    return ("" if not data else data if data[:1] == '"' else _text(data)), []


def _turn(event: Any) -> list[str]:
    return [] if event.turn is None else ["turn", str(event.turn)]


def _tail(event: Any, lane: str = "main") -> list[str]:
    """Return the options that every event of a lane may have; `lane` is the one that goes without saying."""
    agent = getattr(event, "agent", lane)
    found = [] if agent == lane else ["lane", _word(agent)]
    if event.time is not None and event.time == int(event.time):
        found += ["time", str(int(event.time))]
    return [*found, "hidden", ",".join(event.hidden)] if event.hidden else found


def _option(name: str, value: str | None) -> list[str]:
    return [name, _word(value)] if value else []


def _word(text: str) -> str:
    return text if _BARE.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    return codec.encode(text).decode()


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)

"""A trace as people read it, one line an event: turns, lanes, calls, outcomes, gaps, the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.events import Event, Gap, Header, RunEnd, ToolCall, ToolResult
from outstep.render.escape import shown, visible
from outstep.render.quote import name_of, said
from outstep.render.style import Style

_LONGEST_NAME = 13


def timeline(header: Header, events: Sequence[Event], style: Style) -> Iterator[str]:
    """Yield the lines of one trace: its events by their number, then how it ends."""
    digits = max(4, len(str(len(events))))
    answered, tools = _pairs(events)
    lanes = {getattr(event, "agent", None) for event in events} - {None, "main"}
    turn: tuple[str, int | None] = ("", None)
    for index, event in enumerate(events, 1):
        agent = getattr(event, "agent", None) or ""
        mark = ""
        own = getattr(event, "turn", None)
        if own is not None and not isinstance(event, ToolResult) and (agent, own) != turn:
            turn = (agent, own)
            mark = f"turn {own}"
        lane = f"{shown(agent, 14):<14}  " if lanes else ""
        yield _line(f"{index:>{digits}}  {mark:<8}  {lane}", event, answered, tools, style)
    yield from _end(header, events, digits, style)


def _line(start: str, event: Event, answered: set[int], tools: dict[int, str], style: Style) -> str:
    tool = tools.get(event.seq, "") if isinstance(event, ToolResult) else ""
    text = said(event, tool)
    if isinstance(event, ToolCall):
        text = f"{event.by}: {text}" if event.by != "model" else text
    notes = []
    if isinstance(event, ToolCall) and event.seq not in answered:
        notes.append("no result")
    if hidden := getattr(event, "hidden", ()):
        notes.append(f"hidden: {', '.join(hidden)}")
    note = f"  [{shown('; '.join(notes), 80)}]" if notes else ""
    room = max(20, style.columns - len(start) - _LONGEST_NAME - 2 - len(note))
    name = f"{name_of(event):<{_LONGEST_NAME}}"
    return f"{start}{style.paint(name, _colour(event))}{shown(text, room)}{style.paint(note, 'yellow')}".rstrip()


def _colour(event: Event) -> str:
    if isinstance(event, Gap):
        return "yellow"
    if isinstance(event, ToolResult):
        return {"ok": "green", "failed": "red", "denied": "red"}.get(event.outcome, "yellow")
    return "bold" if isinstance(event, ToolCall) else "dim"


def _pairs(events: Sequence[Event]) -> tuple[set[int], dict[int, str]]:
    """Return which calls have a result, and the tool of each result; the engine's pairing is stricter."""
    waiting: dict[tuple[str, str], list[ToolCall]] = {}
    calls: dict[int, ToolCall] = {}
    answered: set[int] = set()
    tools: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolCall):
            waiting.setdefault((event.agent, event.call_id), []).append(event)
            calls[event.seq] = event
        elif isinstance(event, ToolResult):
            call = _answers(event, calls, waiting)
            if call is not None:
                answered.add(call.seq)
                tools[event.seq] = call.tool
    return answered, tools


def _answers(
    event: ToolResult, calls: dict[int, ToolCall], waiting: dict[tuple[str, str], list[ToolCall]]
) -> ToolCall | None:
    """Return the call that a result answers: the one it names, else the newest response's oldest open one."""
    if event.call is not None:
        return calls.get(event.call)
    same = waiting.get((event.agent, event.call_id), [])
    own = [call for call in same if call.turn == (same[-1].turn if event.turn is None else event.turn)]
    if not (own or same):
        return None
    call = (own or same)[0]
    same.remove(call)
    return call


def _end(header: Header, events: Sequence[Event], digits: int, style: Style) -> Iterator[str]:
    if not any(isinstance(event, RunEnd) for event in events):
        word = "inferred: the last word is said and nothing is open" if header.complete else "the record stops here"
        name = style.paint("end".ljust(_LONGEST_NAME), "dim")
        yield f"{' ' * digits}  {' ' * 8}  {name}{word}"


def about(header: Header) -> str:
    """Return what the header tells of a trace, on one line."""
    source = header.sources[0] if header.sources else None
    parts = [f"trace {visible(header.id)}"]
    if source is not None:
        parts.append(f"from {visible(source.uri)} ({visible(f'{source.format} {source.version}'.strip())})")
    text = " ".join(parts)
    told = [
        f"{word} {visible(value)}" for word, value in (("harness", header.harness), ("model", header.model)) if value
    ]
    lanes = [f"{visible(lane.id)} ({lane.kind})" for lane in header.lanes]
    told += [f"lanes main, {', '.join(lanes)}"] if lanes else []
    return f"{text}; {'; '.join(told)}" if told else text

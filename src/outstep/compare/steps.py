"""A trace as the steps that two runs of one agent share: calls with their results, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from outstep import codec
from outstep.codec import Json, Unreadable
from outstep.compare.values import key_of
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Event,
    Gap,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)


class Step(Struct, frozen=True, kw_only=True):
    """One step of a run. Ids, turns and times are no part of what it says."""

    number: int
    """Of its event in the trace, from 1."""
    seq: int
    kind: str
    """`call`, `message`, `user message`, `context`, `approval`, `state`, `gap`, `end`."""
    name: str
    """The tool, or what else tells steps of one kind apart."""
    agent: str
    said: Json
    """Arguments of a call, text of a message."""
    outcome: str = ""
    """Of a call: that of its result, or `unanswered`."""
    answer: Json = None
    """Of a call: data, text or error of its result."""

    @property
    def sort(self) -> tuple[str, str, str]:
        """What steps must share to be the same step with other values."""
        return self.kind, self.name, self.agent

    @property
    def whole(self) -> str:
        """A text that is the same for steps that say and get the same."""
        return key_of([*self.sort, self.said, self.outcome, self.answer])

    @property
    def asked(self) -> str:
        """A text that is the same for steps that say the same, whatever came back."""
        return key_of([*self.sort, self.said])


def steps_of(events: Sequence[Event]) -> list[Step]:
    """Return the steps of a trace, in order."""
    results = _results(events)
    return [step for number, event in enumerate(events, 1) for step in _step(event, number, results)]


def _results(events: Sequence[Event]) -> dict[int, ToolResult]:
    """Return the result of each call, by the `seq` of the call: the nearest of its id."""
    waiting: dict[tuple[str, str], list[int]] = {}
    found: dict[int, ToolResult] = {}
    for event in events:
        if isinstance(event, ToolCall):
            waiting.setdefault((event.agent, event.call_id), []).append(event.seq)
        elif isinstance(event, ToolResult):
            calls = waiting.get((event.agent, event.call_id), [])
            if event.call is not None:
                found.setdefault(event.call, event)
            elif calls:
                found.setdefault(calls.pop(0), event)
    return found


def _step(event: Event, number: int, results: dict[int, ToolResult]) -> Iterator[Step]:
    told: dict[str, Any] = {"number": number, "seq": event.seq, "agent": getattr(event, "agent", None) or "main"}
    if isinstance(event, ToolCall):
        result = results.get(event.seq)
        yield Step(
            kind="call",
            name=event.tool,
            said=event.args_raw if event.args_raw is not None else _value(bytes(event.args), {}),
            outcome=result.outcome if result is not None else "unanswered",
            answer=_answer(result) if result is not None else None,
            **told,
        )
    elif isinstance(event, AssistantMessage):
        yield Step(kind="message", name="", said=event.text, **told)
    elif isinstance(event, UserMessage):
        yield Step(kind="user message", name="", said=event.text, **told)
    elif isinstance(event, Context):
        yield Step(kind="context", name=f"{event.what} {event.name}".strip(), said=event.digest or event.text, **told)
    elif isinstance(event, Approval):
        yield Step(kind="approval", name=event.tool, said=event.decision, **told)
    elif isinstance(event, State):
        yield Step(kind="state", name="", said=_value(bytes(event.state), None), **told)
    elif isinstance(event, Gap):
        yield Step(kind="gap", name="", said=event.reason, **told)
    elif isinstance(event, RunEnd):
        yield Step(kind="end", name="", said=event.end, **told)


def _answer(result: ToolResult) -> Json:
    if result.error:
        return result.error
    return _value(bytes(result.data), result.text)


def _value(raw: bytes, otherwise: Json) -> Json:
    if not raw:
        return otherwise
    try:
        return codec.loads(raw)
    except Unreadable:
        return raw.decode(errors="replace")

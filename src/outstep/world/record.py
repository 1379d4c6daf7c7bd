"""The true record: what a world received, what it answered and what became of its state, apart from any transcript.

docs: docs/worlds.md#record
"""

from __future__ import annotations

from typing import Any, Literal

from outstep import codec
from outstep.events import SCHEMA, Context, Event, Header, RunEnd, State, ToolCall, ToolResult
from outstep.world.tools import Reply, Tool

HARNESS = "outstep world"
FAULT = "world.fault"
"""`what` of the context events that name a fault; no agent was shown them."""


class Record:
    """Grows by one call after the other; its events are a trace in the normal form."""

    def __init__(self, *, id: str = "", tools: tuple[Tool, ...], state: Any, time: float) -> None:
        self._header = Header(
            schema=SCHEMA,
            id=id,
            harness=HARNESS,
            tools={tool.name: "" for tool in tools},
            records=("tool.call", "tool.result", "state", "context", "run.end"),
        )
        self._events: list[Event] = []
        self._open = ""
        self._state = codec.raw(state)
        self._append(State(seq=0, time=time, state=self._state))

    @property
    def faults(self) -> tuple[str, ...]:
        """The kinds of the faults that happened, in order."""
        return tuple(event.name for event in self._events if isinstance(event, Context))

    def called(self, tool: str, args: Any, call_id: str, time: float) -> None:
        """Write down a call as it was received."""
        self._open = call_id
        self._append(ToolCall(tool=tool, seq=len(self._events), call_id=call_id, args=codec.raw(args), time=time))

    def disturbed(self, kind: str, time: float) -> None:
        """Write down that a declared fault happens to the open call."""
        self._append(Context(seq=len(self._events), time=time, what=FAULT, name=kind))

    def replied(self, reply: Reply, state: Any, time: float) -> None:
        """Write down the reply as it was sent, and the state after it where it changed."""
        after = codec.raw(state)
        if bytes(after) != bytes(self._state):
            self._state = after
            self._append(State(seq=len(self._events), time=time, state=after))
        call = next(event.seq for event in reversed(self._events) if isinstance(event, ToolCall))
        self._append(
            ToolResult(
                seq=len(self._events),
                call_id=self._open,
                call=call,
                outcome=reply.outcome,
                data=codec.raw(reply.data) if reply.text is None else codec.NO_RAW,
                text=reply.text,
                exit=reply.exit,
                time=time,
            )
        )

    def events(
        self, *, id: str = "", end: Literal["completed", "aborted", "cut_off"] = "completed"
    ) -> tuple[Header | Event, ...]:
        """Return the record as a trace: header, events, and how the run ended."""
        from msgspec.structs import replace

        header = replace(self._header, id=id) if id else self._header
        return (header, *self._events, RunEnd(seq=len(self._events), end=end))

    def _append(self, event: Event) -> None:
        self._events.append(event)

"""What happened in a conversation, told as events: the agent's part as it was received, the world's part as replied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outstep import codec
from outstep.drivers.base import Status
from outstep.drivers.turns import Call, Received, Turn, call_of, clean
from outstep.events import (
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.world.tools import Reply


class Story:
    """Events of one run, in the order of their happening."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._events: list[Event] = []
        self._turn = 0
        self._state: bytes | None = None
        self._open: dict[int, int] = {}
        """For each call of the last response, by identity, the `seq` of its event."""

    @property
    def turns(self) -> int:
        """How many responses there were."""
        return self._turn

    @property
    def events(self) -> tuple[Event, ...]:
        """All of them, `seq` from 0."""
        return tuple(self._events)

    def begin(self, system: str, goal: str, state: Any) -> None:
        """Tell what the run began with."""
        if system:
            self._events.append(Context(seq=self._seq(), time=self._now(), what="system", text=system))
        self._events.append(UserMessage(seq=self._seq(), time=self._now(), text=goal))
        self._saw(state)

    def response(self, turn: Turn, *, is_cut: bool) -> None:
        """Tell a response of the model; of one that was cut off, the last call was still being written."""
        self._turn += 1
        decision = Decision(
            seq=self._seq(), turn=self._turn, time=self._now(), model=clean(turn.model), usage=dict(turn.usage)
        )
        self._events.append(decision)
        self._said(turn.text)
        whole = turn.calls[:-1] if is_cut else turn.calls
        for call in whole:
            self._called(call)
        if is_cut and turn.calls:
            self._gap(f"the response was cut off while it called {turn.calls[-1].tool or 'a tool'}")

    def result(self, call: Call, reply: Reply, state: Any) -> None:
        """Tell the reply to a call, and the state after it where that is another one."""
        self._events.append(
            ToolResult(
                seq=self._seq(),
                turn=self._turn,
                time=self._now(),
                call_id=clean(call.id),
                call=self._open.get(id(call)),
                outcome=reply.outcome,
                data=codec.NO_RAW if reply.text is not None else codec.raw(reply.data),
                text=reply.text,
                exit=reply.exit,
                error=reply.text if reply.outcome in ("failed", "denied") and reply.text is not None else "",
            )
        )
        self._saw(state)

    def torn(self, received: Received, reason: str) -> None:
        """Tell what had been received of a response that never became whole."""
        if not received:
            return
        self._turn += 1
        self._said(received.texts.get("content", ""))
        for part in received.parts[:-1]:
            self._called(call_of(*part))
        self._gap(reason)

    def end(self, status: Status, reason: str) -> None:
        """Tell how the run ended."""
        ends = {"completed": "completed", "refused": "aborted", "crashed": "aborted", "provider_error": "aborted"}
        self._events.append(RunEnd(seq=self._seq(), time=self._now(), end=ends.get(status, "cut_off"), reason=reason))  # type: ignore[arg-type]

    def _said(self, text: str) -> None:
        if text:
            self._events.append(AssistantMessage(seq=self._seq(), turn=self._turn, time=self._now(), text=clean(text)))

    def _called(self, call: Call) -> None:
        seq = self._seq()
        self._open[id(call)] = seq
        self._events.append(
            ToolCall(
                seq=seq,
                turn=self._turn,
                time=self._now(),
                tool=clean(call.tool),
                call_id=clean(call.id),
                args=codec.NO_RAW if call.mistake else codec.raw(call.args),
                args_raw=clean(call.text) if call.mistake else None,
            )
        )

    def _gap(self, reason: str) -> None:
        hides = ("tool.call", "assistant.message")
        self._events.append(Gap(seq=self._seq(), agent="main", may_hide=hides, reason=clean(reason)))

    def _saw(self, state: Any) -> None:
        if state is None:
            return
        encoded = codec.encode(state)
        if encoded != self._state:
            self._state = encoded
            self._events.append(State(seq=self._seq(), time=self._now(), state=codec.raw(state)))

    def _seq(self) -> int:
        return len(self._events)

    def _now(self) -> float:
        return round(self._clock(), 3)

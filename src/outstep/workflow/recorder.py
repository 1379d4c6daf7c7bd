"""A recorder inside a Python agent: what its model and its tools did becomes a trace.

Either the client of a model is wrapped, and the conversation is the trace; or the tool functions are decorated, and
their calls are. docs: docs/pytest.md#recording
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar, overload

import msgspec

from outstep import codec
from outstep.adapters import discover
from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.write import write
from outstep.errors import OutstepError, problem
from outstep.events import SCHEMA, AssistantMessage, Event, Header, RunEnd, ToolCall, ToolResult, UserMessage
from outstep.workflow.recorded_clients import Conversations, Wrapped
from outstep.workflow.traces import Trace, in_traces

Function = TypeVar("Function", bound=Callable[..., Any])
Client = TypeVar("Client")

_calling: ContextVar[str | None] = ContextVar("outstep_calling", default=None)
"""Id of the call of a recorded tool inside which this runs."""


class Recorder:
    """Records one agent run, or several conversations with one model."""

    def __init__(self, *, id: str = "recorded", harness: str = "python", model: str = "") -> None:
        self._id = id
        self._harness = harness
        self._model = model
        self._events: list[Event] = []
        self._calls = 0
        self._lock = Lock()
        self._conversations = Conversations()

    # --- what is recorded ---

    @overload
    def tool(self, function: Function) -> Function: ...
    @overload
    def tool(self, *, name: str) -> Callable[[Function], Function]: ...
    def tool(self, function: Any = None, *, name: str = "") -> Any:
        """Record every call of a function, plain or async, as a call of a tool; a decorator.

        An exception is recorded as a failed result, and raised as ever. Calls made inside a recorded call are its own.
        """
        if function is None:
            return functools.partial(self._recorded, name=name)
        return self._recorded(function, name=name)

    def wrap(self, client: Client) -> Client:
        """Return a stand-in for an OpenAI or Anthropic client that records the conversations held through it."""
        return Wrapped(client, (), self._conversations)  # type: ignore[return-value]

    def user(self, text: str) -> None:
        """Record what a person said to the agent."""
        self._add(lambda seq: UserMessage(seq=seq, text=text))

    def say(self, text: str) -> None:
        """Record what the agent showed."""
        self._add(lambda seq: AssistantMessage(seq=seq, text=text))

    # --- what was recorded ---

    @property
    def traces(self) -> list[Trace]:
        """The recorded traces: that of the tools, and one for each conversation.

        Raises `OutstepError` where something went past that cannot be recorded.
        """
        found = []
        if self._events:
            end = RunEnd(seq=len(self._events) + 1, end="completed", reason="the recorder was asked")
            header = Header(schema=SCHEMA, id=self._id, harness=self._harness, model=self._model)
            found.append(Trace(header=header, events=[*self._events, end]))
        if self._conversations.passed:
            named = ", ".join(f"`{name}`" for name in dict.fromkeys(self._conversations.passed))
            raise problem(
                "record/not-recorded",
                f"calls of {named} went past the recorder: it cannot read them",
                help="use chat.completions or messages, or decorate the tools with `recorder.tool`",
            )
        log = ReadLog()
        for number, data in enumerate(self._conversations.documents(), 1):
            name = self._id if number == 1 and not found else f"{self._id}#{number}"
            document = Document(name, data=data)
            for group in discover.groups([discover.Found(document=document)], None, log):
                found += in_traces(group.adapter.stream(group.documents, Options(), log))
        if log.faults:
            raise OutstepError(*log.faults)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was recorded as canonical JSON Lines."""
        lines = b"".join(line for trace in self.traces for line in write([[trace.header, *trace.events]]))
        with open(path, "wb") as file:
            file.write(lines)

    # --- how ---

    def _recorded(self, function: Any, *, name: str) -> Any:
        told = name or getattr(function, "__name__", "tool")
        signature = inspect.signature(function)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_later(*words: Any, **named: Any) -> Any:
                with _Call(self, told, signature, words, named) as call:
                    call.result = await function(*words, **named)
                return call.result

            return call_later

        @functools.wraps(function)
        def call(*words: Any, **named: Any) -> Any:
            with _Call(self, told, signature, words, named) as call:
                call.result = function(*words, **named)
            return call.result

        return call

    def _add(self, event: Callable[[int], Event]) -> None:
        with self._lock:
            self._events.append(event(len(self._events) + 1))

    def _new_id(self) -> str:
        with self._lock:
            self._calls += 1
            return f"call-{self._calls}"


class _Call:
    """One call of a recorded tool."""

    def __init__(
        self, recorder: Recorder, tool: str, signature: inspect.Signature, words: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        self.result: Any = None
        self._recorder = recorder
        self._id = recorder._new_id()
        self._tool = tool
        self._args = _arguments(signature, words, named)

    def __enter__(self) -> _Call:
        parent = _calling.get()
        self._token = _calling.set(self._id)
        self._recorder._add(
            lambda seq: ToolCall(
                seq=seq,
                tool=self._tool,
                call_id=self._id,
                args=codec.raw(self._args),
                parent=parent,
                by="model" if parent is None else "program",
            )
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        _calling.reset(self._token)
        if error is not None:
            told = f"{type(error).__name__}: {error}"
            self._recorder._add(lambda seq: ToolResult(seq=seq, call_id=self._id, outcome="failed", error=told))
            return
        data = codec.raw(_plain(self.result))
        self._recorder._add(lambda seq: ToolResult(seq=seq, call_id=self._id, outcome="ok", data=data))


def _arguments(signature: inspect.Signature, words: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name, those of a method without the object that it belongs to."""
    try:
        bound = signature.bind(*words, **named)
    except TypeError:
        # The call is about to fail, and is recorded as it was tried.
        return {**{str(number): _plain(word) for number, word in enumerate(words)}, **_plain(named)}
    values = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            values |= values.pop(name, {})
    first = next(iter(signature.parameters), "")
    if first in ("self", "cls"):
        values.pop(first, None)
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    """Return a JSON value; what JSON cannot say is told by Python's own text of it."""
    try:
        return msgspec.to_builtins(value, enc_hook=_told, str_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _told(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    return repr(value)

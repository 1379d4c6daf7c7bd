"""Conversations inside JSON documents: lists of messages in the wrappings that people record them in.

A conversation is a list of messages, an object that holds one (`messages`, `traj`, `conversation`), a recorded
exchange of request and response, or one message a line. Exchanges repeat the history: it is read once, and an
exchange whose request continues an earlier one continues its conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Document, ReadLog
from outstep.adapters.records import Damage, Damages, Value, read_values
from outstep.codec import Json
from outstep.digest import sha256
from outstep.errors import Place

Message = dict[str, Any]

MESSAGE_LISTS = ("messages", "traj", "conversation")
_COLLECTIONS = ("exchanges", "simulations", "results", "runs", "traces", "conversations")
_NAMES = ("trace_id", "traceId", "conversation_id", "session_id", "id", "instance_id")
_SYSTEM = ("system", "developer")

in_fixed_order = msgspec.json.Encoder(order="sorted", decimal_format="number").encode
"""Encode a JSON value so that equal values give equal bytes."""


class Step(Struct, frozen=True, kw_only=True):
    """One message, with its place."""

    message: Message | None
    """None: a line that cannot be read."""
    place: Place
    index: int
    """Position in its list."""
    model: str = ""
    usage: Message | None = None
    stop: str = ""
    """Why the model stopped, where the response was recorded."""


class Conversation(Struct, kw_only=True):
    """The messages of one run, and what was recorded beside them."""

    name: str = ""
    steps: list[Step] = []
    system: Json = None
    """The system prompt, where it stands beside the messages."""
    place: Place
    """Of the system prompt."""
    tools: list[Json] = []
    model: str = ""
    config: Message = {}
    torn: str = ""
    skipped: dict[str, int] = {}


def is_message(value: Json) -> bool:
    """Return whether a value is one message: a role, and something that it said or did."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and ("content" in value or "tool_calls" in value or "function_call" in value)
    )


def unwrapped(value: Json) -> Json:
    """Return the message inside `{type, message}`, or the value itself."""
    if isinstance(value, dict) and "role" not in value and is_message(value.get("message")):
        return value["message"]
    return value


def conversations(document: Document, log: ReadLog) -> Iterator[Conversation]:
    """Yield the conversations of a document; what cannot be read goes to `log`."""
    yield from _Finder(document, log).all()


class _Finder:
    def __init__(self, document: Document, log: ReadLog) -> None:
        self._document = document
        self._log = log
        self._damages = Damages(document, log)
        self._threads = _Threads()
        self._loose: Conversation | None = None
        self._skipped: dict[str, int] = {}

    def all(self) -> Iterator[Conversation]:
        for value in read_values(self._document, self._log):
            if isinstance(value, Damage):
                self._damaged(value)
                continue
            place = Place(source=self._document.uri, line=value.line, offset=value.offset, pointer="")
            if value.line is not None and is_message(unwrapped(value.value)):
                self._say(value, place)
                continue
            yield from self._close()
            yield from self._of(value.value, place)
        yield from self._close()
        yield from self._threads.all()
        self._damages.close()

    def _say(self, value: Value, place: Place) -> None:
        """Take one message of a conversation whose messages stand one on a line."""
        if self._loose is None:
            self._loose = Conversation(place=place, skipped=self._skip(), steps=[])
        steps = self._loose.steps
        steps.append(Step(message=unwrapped(value.value), place=replace(place, pointer=None), index=len(steps)))

    def _damaged(self, damage: Damage) -> None:
        if damage.torn and self._loose is not None:
            self._loose.torn = f"the last line ({damage.line}) is cut off"
            return
        self._damages.add(damage.line, damage.offset, damage.reason)
        if self._loose is not None:
            place = Place(source=self._document.uri, line=damage.line, offset=damage.offset)
            self._loose.steps.append(Step(message=None, place=place, index=len(self._loose.steps)))

    def _close(self) -> Iterator[Conversation]:
        if self._loose is not None:
            yield self._loose
            self._loose = None

    def _skip(self) -> dict[str, int]:
        skipped, self._skipped = self._skipped, {}
        return skipped

    def _of(self, value: Json, place: Place, depth: int = 0) -> Iterator[Conversation]:
        if isinstance(value, list):
            yield from self._of_list(value, place, depth)
        elif not isinstance(value, dict) or depth > 3:
            self._foreign(value, place)
        elif _is_exchange(value):
            self._threads.add(value, place, self._skip())
        elif (key := _message_key(value)) is not None:
            yield self._of_object(value, key, place)
        elif is_message(unwrapped(value)):
            yield _about(value, place, _steps([value], place, whole=True), self._skip())
        elif _response_of(value) is not None:
            self._threads.add({"request": {}, "response": value}, place, self._skip(), bare=True)
        elif (name := _collection_key(value)) is not None:
            yield from self._of_list(value[name], _below(place, name), depth)
        else:
            self._foreign(value, place)

    def _of_list(self, items: list[Json], place: Place, depth: int) -> Iterator[Conversation]:
        if any(is_message(unwrapped(item)) for item in items[:8]):
            steps = _steps(items, place)
            yield Conversation(place=place, steps=steps, skipped=self._skip())
            return
        for index, item in enumerate(items):
            yield from self._of(item, _below(place, str(index)), depth + 1)

    def _of_object(self, value: Message, key: str, place: Place) -> Conversation:
        steps = _steps(value[key], _below(place, key))
        response = _response_of(value)
        if response is not None:
            steps.append(_response_step(response, value, len(steps), place))
        return _about(value, place, steps, self._skip())

    def _foreign(self, value: Json, place: Place) -> None:
        """Count an object that holds no conversation; anything else in its place is damage."""
        if isinstance(value, dict):
            self._skipped["other record"] = self._skipped.get("other record", 0) + 1
            return
        self._log.fault(
            "adapter/damaged-record",
            f"`{self._document.uri}` holds something that is no conversation",
            place=place,
            help="each trace is a list of messages, or an object with `messages`",
        )


class _Threads:
    """Joins exchanges: a request that repeats what an earlier conversation came to continues it."""

    def __init__(self) -> None:
        self._threads: list[Conversation] = []
        self._ends: dict[bytes, Conversation] = {}

    def add(self, exchange: Message, place: Place, skipped: dict[str, int], bare: bool = False) -> None:
        request, response = _parsed(exchange.get("request")), _parsed(exchange.get("response"))
        listed = request.get("messages")
        below = _below(place, "request", "messages")
        steps = _steps(listed if isinstance(listed, list) else [], below)
        keys = _chain(steps)
        known = next((count for count in range(len(keys) - 1, 0, -1) if keys[count] in self._ends), 0)
        thread = self._ends.pop(keys[known]) if known else None
        if thread is None:
            thread = _about({**request, **_named(exchange)}, _below(place, "request"), steps, skipped)
            self._threads.append(thread)
        else:
            thread.steps += _told_since(steps, known)
            for kind, count in skipped.items():
                thread.skipped[kind] = thread.skipped.get(kind, 0) + count
        message = _response_of(response)
        others = len(response["choices"]) - 1 if isinstance(response.get("choices"), list) else 0
        if others > 0:
            thread.skipped["further choice"] = thread.skipped.get("further choice", 0) + others
        end = keys[-1]
        if message is not None:
            step = _response_step(message, response, len(steps), place if bare else _below(place, "response"))
            thread.steps.append(step)
            end = _link(end, step)
        elif response:
            thread.skipped["response without message"] = thread.skipped.get("response without message", 0) + 1
        self._ends[end] = thread

    def all(self) -> Iterator[Conversation]:
        yield from self._threads


def _chain(steps: list[Step]) -> list[bytes]:
    """Return a key for the history before and after each step; leading system prompts may differ."""
    keys = [b""]
    for step in steps:
        is_system = step.message is not None and step.message.get("role") in _SYSTEM
        if not is_system or len(keys) > 1:
            keys.append(_link(keys[-1], step))
    return keys


def _told_since(steps: list[Step], known: int) -> list[Step]:
    told = len(steps) - (len(_chain(steps)) - 1)
    return steps[told + known :]


def _link(key: bytes, step: Step) -> bytes:
    return sha256(key + in_fixed_order(_essence(step.message))).digest()


_NOISE = frozenset(
    (
        *("annotations", "audio", "cache_control", "caller", "citations", "container", "context_management", "id"),
        *("index", "logprobs", "model", "signature", "stop_details", "stop_reason", "stop_sequence", "type", "usage"),
    )
)


def _essence(value: Json, depth: int = 0) -> Json:
    """Return a message without what a harness adds or drops when it sends a response back."""
    if isinstance(value, dict):
        kept = {}
        for name, item in value.items():
            if name in _NOISE and depth == 0:
                continue
            if name in ("cache_control", "citations", "caller", "signature"):
                continue
            pared = _essence(item, depth + 1)
            if pared not in (None, "", [], {}):
                kept[name] = pared
        return kept
    if isinstance(value, list):
        items = [_essence(item, depth + 1) for item in value if not _is_thinking(item)]
        if len(items) == 1 and isinstance(items[0], dict) and set(items[0]) == {"type", "text"}:
            return items[0]["text"]
        return items
    return value


def _is_thinking(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") in ("thinking", "redacted_thinking")


def _parsed(value: Json) -> Message:
    """Return an object that may have been recorded as JSON text."""
    if isinstance(value, str):
        from outstep.codec import Unreadable, loads

        try:
            value = loads(value)
        except Unreadable:
            return {}
    return value if isinstance(value, dict) else {}


def _is_exchange(value: Message) -> bool:
    request = value.get("request")
    return request is not None and isinstance(_parsed(request).get("messages"), list)


def _response_of(value: Message) -> Message | None:
    """Return the message of a recorded response, of either vendor."""
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return message if isinstance(message, dict) else None
    if value.get("type") == "message" and is_message(value):
        return value
    response = value.get("response")
    return _response_of(response) if isinstance(response, dict) and "messages" in value else None


def _response_step(message: Message, response: Message, index: int, place: Place) -> Step:
    source = response
    if isinstance(response.get("response"), dict) and "choices" not in response and message is not response:
        source = response["response"]
        place = _below(place, "response")
    choices = source.get("choices")
    stop = source.get("stop_reason")
    if isinstance(choices, list):
        stop = choices[0].get("finish_reason")
        place = _below(place, "choices", "0", "message")
    usage = source.get("usage")
    return Step(
        message=message,
        place=place,
        index=index,
        model=_word(source.get("model")),
        usage=usage if isinstance(usage, dict) else None,
        stop=_word(stop),
    )


def _steps(items: list[Json], place: Place, whole: bool = False) -> list[Step]:
    steps = []
    for index, item in enumerate(items):
        message = unwrapped(item)
        steps.append(
            Step(
                message=message if isinstance(message, dict) else {"role": "", "content": None},
                place=place if whole else _below(place, str(index)),
                index=index,
                stop=_word(message.get("stop_reason")) if isinstance(message, dict) else "",
                model=_word(message.get("model")) if isinstance(message, dict) else "",
                usage=_usage(message),
            )
        )
    return steps


def _usage(message: Json) -> Message | None:
    usage = message.get("usage") if isinstance(message, dict) else None
    return usage if isinstance(usage, dict) else None


_NOT_CONFIG = frozenset((*MESSAGE_LISTS, "tools", "system", "stream", "response", "choices", "metadata", "user"))


def _about(value: Message, place: Place, steps: list[Step], skipped: dict[str, int]) -> Conversation:
    tools = value.get("tools")
    is_request = "model" in value and "messages" in value
    return Conversation(
        name=_named(value).get("id", ""),
        steps=steps,
        system=value.get("system"),
        place=_below(place, "system"),
        tools=tools if isinstance(tools, list) else [],
        model=_word(value.get("model")),
        config={name: item for name, item in value.items() if name not in _NOT_CONFIG} if is_request else {},
        skipped=skipped,
    )


def _named(value: Message) -> Message:
    """Return the id of a run, `{"id": …}`, or nothing."""
    task = _word(value.get("task_id"))
    if task:
        trial = _word(value.get("trial"))
        return {"id": f"{task}/{trial}" if trial else task}
    for name in _NAMES:
        word = _word(value.get(name))
        if word:
            return {"id": word}
    return {}


def _message_key(value: Message) -> str | None:
    return next((name for name in MESSAGE_LISTS if isinstance(value.get(name), list)), None)


def _collection_key(value: Message) -> str | None:
    return next((name for name in _COLLECTIONS if isinstance(value.get(name), list)), None)


def _below(place: Place, *names: str) -> Place:
    return replace(place, pointer="/".join((place.pointer or "", *names)))


def _word(value: Json) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""

"""Stand-ins for the clients of models: they pass everything on, and keep the conversations.

Known are `chat.completions.create` of the OpenAI library (also `parse`, plain, async and streamed) and
`messages.create` of Anthropic's. A conversation is what is sent anew with every call; one that does not begin with what
was said before is another one.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from threading import Lock
from typing import Any

from outstep import codec

Say = dict[str, Any]
"""One message of a conversation."""

_KNOWN: dict[tuple[str, ...], str] = {
    ("chat", "completions", "create"): "openai",
    ("chat", "completions", "parse"): "openai",
    ("beta", "chat", "completions", "parse"): "openai",
    ("messages", "create"): "anthropic",
    ("beta", "messages", "create"): "anthropic",
}
_UNREADABLE = (
    ("chat", "completions", "stream"),
    ("beta", "chat", "completions", "stream"),
    ("responses",),
    ("completions",),
    ("messages", "stream"),
    ("messages", "batches"),
    ("beta", "messages", "stream"),
    ("beta", "threads"),
)
"""What speaks with a model, and is not read."""
_SAID = ("role", "content", "tool_calls", "tool_call_id", "name", "function_call", "refusal")


class Conversations:
    """The conversations that were held, each as it stood last."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        """Names of calls that spoke with a model and could not be read."""
        self._held: list[_Held] = []
        self._lock = Lock()

    def take(self, vendor: str, asked: dict[str, Any], answer: Say) -> None:
        """Take one exchange: the arguments of a call, and the message that came back."""
        messages = [_said(_plain(message)) for message in asked.get("messages") or ()]
        model, system = str(asked.get("model") or ""), _plain(asked.get("system"))
        with self._lock:
            for held in self._held:
                if held.vendor == vendor and held.messages == messages[: len(held.messages)]:
                    held.messages = [*messages, _said(answer)]
                    return
            self._held.append(_Held(vendor, model, system, [*messages, _said(answer)]))

    def documents(self) -> Iterator[bytes]:
        """Yield each conversation as the document that it would be in a file."""
        for held in self._held:
            told: dict[str, Any] = {"model": held.model, "messages": held.messages}
            if held.system is not None:
                told["system"] = held.system
            yield codec.encode(told)


class _Held:
    def __init__(self, vendor: str, model: str, system: Any, messages: list[Say]) -> None:
        self.vendor = vendor
        self.model = model
        self.system = system
        self.messages = messages


class Wrapped:
    """A client, or a part of one; everything but a known call is passed on."""

    def __init__(self, inner: Any, path: tuple[str, ...], conversations: Conversations) -> None:
        self._inner = inner
        self._path = path
        self._conversations = conversations

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        path = (*self._path, name)
        if path in _KNOWN:
            return _recording(found, _KNOWN[path], self._conversations)
        if any(path[: len(unreadable)] == unreadable for unreadable in _UNREADABLE) and callable(found):
            return _passing(found, ".".join(path), self._conversations)
        if any(path == longer[: len(path)] for longer in (*_KNOWN, *_UNREADABLE)):
            return Wrapped(found, path, self._conversations)
        return found

    def __enter__(self) -> Wrapped:
        return Wrapped(self._inner.__enter__(), self._path, self._conversations)

    def __exit__(self, *about: object) -> Any:
        return self._inner.__exit__(*about)

    async def __aenter__(self) -> Wrapped:
        return Wrapped(await self._inner.__aenter__(), self._path, self._conversations)

    async def __aexit__(self, *about: object) -> Any:
        return await self._inner.__aexit__(*about)


def _passing(call: Callable[..., Any], name: str, conversations: Conversations) -> Callable[..., Any]:
    def passed(*words: Any, **named: Any) -> Any:
        conversations.passed.append(name)
        return call(*words, **named)

    return passed


def _recording(call: Callable[..., Any], vendor: str, conversations: Conversations) -> Callable[..., Any]:
    def finish(asked: dict[str, Any], answer: Any) -> Any:
        if not asked.get("stream"):
            conversations.take(vendor, asked, _ANSWERS[vendor](_plain(answer)))
            return answer
        if hasattr(answer, "__aiter__"):
            return _AsyncStream(answer, vendor, asked, conversations)
        return _Stream(answer, vendor, asked, conversations)

    def recorded(*words: Any, **asked: Any) -> Any:
        answer = call(*words, **asked)
        if not inspect.isawaitable(answer):
            return finish(asked, answer)

        async def later() -> Any:
            return finish(asked, await answer)

        return later()

    return recorded


class _Kept:
    """A streamed answer that is passed on piece by piece, and kept."""

    def __init__(self, inner: Any, vendor: str, asked: dict[str, Any], conversations: Conversations) -> None:
        self._inner = inner
        self._vendor = vendor
        self._asked = asked
        self._conversations = conversations
        self._pieces: list[Any] = []
        self._is_kept = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _keep(self) -> None:
        # What came is recorded also where nobody reads on.
        if not self._is_kept:
            self._is_kept = True
            answer = _STREAMED[self._vendor](self._pieces)
            self._conversations.take(self._vendor, self._asked, answer)


class _Stream(_Kept):
    def __iter__(self) -> Iterator[Any]:
        try:
            for piece in self._inner:
                self._pieces.append(_plain(piece))
                yield piece
        finally:
            self._keep()

    def __enter__(self) -> _Stream:
        self._inner.__enter__()
        return self

    def __exit__(self, *about: object) -> Any:
        self._keep()
        return self._inner.__exit__(*about)


class _AsyncStream(_Kept):
    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for piece in self._inner:
                self._pieces.append(_plain(piece))
                yield piece
        finally:
            self._keep()

    async def __aenter__(self) -> _AsyncStream:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *about: object) -> Any:
        self._keep()
        return await self._inner.__aexit__(*about)


def _openai_answer(answer: Any) -> Say:
    choices = answer.get("choices") or [{}]
    return dict(choices[0].get("message") or {"role": "assistant", "content": ""})


def _anthropic_answer(answer: Any) -> Say:
    return {"role": "assistant", "content": answer.get("content") or []}


def _openai_streamed(pieces: Sequence[Any]) -> Say:
    """Put the pieces of a Chat Completions stream together: text, and calls by their index."""
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for piece in pieces:
        for choice in (piece.get("choices") or ())[:1]:
            delta = choice.get("delta") or {}
            text.append(delta.get("content") or "")
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part.get("index", 0), {"id": "", "type": "function", "function": {}})
                call["id"] = part.get("id") or call["id"]
                for name, value in (part.get("function") or {}).items():
                    call["function"][name] = call["function"].get(name, "") + (value or "")
    answer: Say = {"role": "assistant", "content": "".join(text)}
    if calls:
        answer["tool_calls"] = [calls[index] for index in sorted(calls)]
    return answer


def _anthropic_streamed(pieces: Sequence[Any]) -> Say:
    """Put the events of a Messages stream together: blocks by their index, arguments from their JSON text."""
    blocks: dict[int, dict[str, Any]] = {}
    texts: dict[int, list[str]] = {}
    for piece in pieces:
        index = piece.get("index", 0)
        if piece.get("type") == "content_block_start":
            blocks[index] = dict(piece.get("content_block") or {})
        elif piece.get("type") == "content_block_delta":
            delta = piece.get("delta") or {}
            texts.setdefault(index, []).append(delta.get("text") or delta.get("partial_json") or "")
    for index, parts in texts.items():
        block, text = blocks.setdefault(index, {"type": "text"}), "".join(parts)
        if block.get("type") == "text":
            block["text"] = (block.get("text") or "") + text
        elif text:
            try:
                block["input"] = codec.loads(text)
            except codec.Unreadable:
                block["input"] = text
    return {"role": "assistant", "content": [blocks[index] for index in sorted(blocks)]}


_ANSWERS = {"openai": _openai_answer, "anthropic": _anthropic_answer}
_STREAMED = {"openai": _openai_streamed, "anthropic": _anthropic_streamed}


def _said(message: Any) -> Say:
    """Return what a message says, the same whether it comes from the model or is sent back to it."""
    if not isinstance(message, dict):
        return {"role": "", "content": str(message)}
    # Nothing said is null, an empty text or left out, as the library likes.
    return {name: _bare(message[name]) for name in _SAID if message.get(name) not in (None, "", [])}


def _bare(value: Any) -> Any:
    """Return a value without members that are null: libraries write them or leave them out as they like."""
    if isinstance(value, dict):
        return {name: _bare(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    """Return a JSON value of what a library's object says."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)

"""A model server that answers what a test tells it to; on raw sockets, so that it can break off anywhere."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any, Literal

from msgspec import Struct

Json = dict[str, Any]


class Answer(Struct, frozen=True, kw_only=True):
    """What is sent back."""

    status: int = 200
    headers: dict[str, str] = {}
    parts: tuple[bytes, ...] = ()
    then: Literal["end", "drop", "stall", "nothing"] = "end"
    """After the parts: an orderly end, a broken connection, silence; `nothing`: no byte was sent at all."""
    delay: float = 0.0


Script = Callable[[Json, int], Answer]
"""From a request and its number (from 1) to the answer."""


class Server:
    """Serves on a port of its own, in a thread of its own."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self.requests: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.keeps = True
        """Whether requests are kept; a long test has no room for them."""
        self.count = 0
        self.most_at_once = 0
        self._script = script
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self.port = port

    @property
    def url(self) -> str:
        """The base URL for Chat Completions and Responses."""
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", self.port), self._loop
        ).result()
        self.port = server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """End."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _end(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request: Json = {"path": lines[0].split()[1], **(json.loads(body) if body else {})}
        self.count += 1
        if self.keeps:
            self.requests.append(request)
            self.headers.append(headers)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            return await self._answer(self._script(request, self.count), writer)
        finally:
            self._open -= 1

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> bool:
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if answer.then == "nothing":
            writer.transport.abort()
            return False
        told = {"content-type": "application/json", **answer.headers}
        is_sized = answer.then == "end" and "text/event-stream" not in told["content-type"]
        told["content-length" if is_sized else "transfer-encoding"] = (
            str(sum(map(len, answer.parts))) if is_sized else "chunked"
        )
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        writer.write(f"HTTP/1.1 {answer.status} x\r\n{head}\r\n".encode())
        for part in answer.parts:
            writer.write(part if is_sized else b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            if not is_sized and answer.then != "end":
                await asyncio.sleep(0.02)
        if answer.then == "stall":
            await asyncio.sleep(30)
        if answer.then != "end":
            writer.transport.abort()
            return False
        if not is_sized:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@contextmanager
def serving(script: Script, port: int = 0) -> Iterator[Server]:
    """Serve a script."""
    server = Server(script, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def in_turn(*answers: Answer) -> Script:
    """Return a script that gives one answer after the other, the last one for ever."""
    return lambda _, number: answers[min(number, len(answers)) - 1]


def error(status: int, message: str, **headers: str) -> Answer:
    """Return an error as OpenAI words it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode()
    return Answer(
        status=status, headers={name.replace("_", "-"): text for name, text in headers.items()}, parts=(body,)
    )


# --- Chat Completions ---

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def call(tool: str, id: str = "call_1", **args: Any) -> Json:
    """Return a call as a message holds it."""
    return {"id": id, "type": "function", "function": {"name": tool, "arguments": json.dumps(args)}}


def chat(text: str | None = None, *calls: Json, finish: str | None = None, **more: Any) -> Answer:
    """Return a whole answer."""
    message: Json = {"role": "assistant", "content": text, **more}
    if calls:
        message["tool_calls"] = list(calls)
    choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice], "usage": USAGE}
    return Answer(parts=(json.dumps(body).encode(),))


def chunk(delta: Json, finish: str | None = None) -> bytes:
    """Return one event of a streamed answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def stream(*parts: bytes, then: Literal["end", "drop", "stall"] = "end") -> Answer:
    """Return a streamed answer of these events."""
    return Answer(headers={"content-type": "text/event-stream"}, parts=parts, then=then)


def streamed(text: str = "", *calls: Json) -> Answer:
    """Return a whole answer as a stream."""
    return stream(*chunks_of(text, *calls), usage_chunk(), b"data: [DONE]\n\n")


def in_words(text: str) -> list[str]:
    """Return the words of a text, each with the space behind it."""
    return re.findall(r"\S+\s*", text)


def chunks_of(text: str = "", *calls: Json) -> Sequence[bytes]:
    """Return the events of an answer: text by words, arguments in two halves."""
    found = [chunk({"role": "assistant", "content": word}) for word in in_words(text)]
    for index, one in enumerate(calls):
        name, arguments = one["function"]["name"], one["function"]["arguments"]
        half = len(arguments) // 2
        begun = {"index": index, "id": one["id"], "function": {"name": name, "arguments": arguments[:half]}}
        found.append(chunk({"tool_calls": [begun]}))
        # vLLM sends no id with later parts.
        found.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[half:]}}]}))
    found.append(chunk({}, "tool_calls" if calls else "stop"))
    return found


def usage_chunk() -> bytes:
    """Return the last event, which tells the usage and has no choice."""
    body = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [], "usage": USAGE}
    return b"data: " + json.dumps(body).encode() + b"\n\n"

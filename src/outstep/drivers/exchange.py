"""Raw requests and responses, kept as they pass: bodies as received, no key, no header that could hold one.

docs: docs/drivers.md#raw-bodies
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id", "request-id", "server", "openai-model")
Log = Callable[[Mapping[str, Any]], None]


class Exchange:
    """One attempt: a request, and as much of its response as was received."""

    def __init__(self, n: int, attempt: int, log: Log, key: str = "") -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.is_whole = False
        self._n = n
        self._attempt = attempt
        self._log = log
        self._key = key.encode()
        self._began = time()

    def sent(self, method: str, url: str, body: bytes) -> None:
        """Keep the request, before it leaves."""
        request = {"method": method, "url": url, **self._text(body)}
        self._log({"n": self._n, "attempt": self._attempt, "time": round(self._began, 3), "request": request})

    def end(self, error: str = "") -> None:
        """Keep what was received."""
        entry: dict[str, Any] = {
            "n": self._n,
            "attempt": self._attempt,
            "seconds": round(time() - self._began, 3),
            "status": self.status,
            "headers": self.headers,
            "response": self._text(bytes(self.body)),
            "whole": self.is_whole,
        }
        if error:
            entry["error"] = error
        self._log(entry)

    def _text(self, body: bytes) -> dict[str, str]:
        if self._key:
            # Some servers repeat the key that they refuse.
            body = body.replace(self._key, b"[key]")
        try:
            return {"body": body.decode()}
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(body).decode()}


_current: ContextVar[Exchange | None] = ContextVar("outstep_exchange", default=None)


@contextmanager
def recording(exchange: Exchange) -> Iterator[Exchange]:
    """Let the requests of this task go to an exchange; it is kept when the block ends, however it ends."""
    token = _current.set(exchange)
    error = ""
    try:
        yield exchange
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        _current.reset(token)
        exchange.end(error)


def recording_client(connections: int) -> httpx2.AsyncClient:
    """Return an HTTP client that keeps what passes in the exchange of the task that uses it."""
    import httpx2

    class Kept(httpx2.AsyncByteStream):
        def __init__(self, stream: Any, exchange: Exchange) -> None:
            self._stream = stream
            self._exchange = exchange

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._stream:
                self._exchange.body += chunk
                yield chunk
            self._exchange.is_whole = True

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Client(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
            exchange = _current.get()
            if exchange is None:
                return await super().send(request, stream=stream, **more)
            url = request.url.copy_with(userinfo=b"", query=None)
            exchange.sent(request.method, str(url), await request.aread())
            response = await super().send(request, stream=True, **more)
            exchange.status = response.status_code
            exchange.headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
            response.stream = Kept(response.stream, exchange)
            if not stream:
                try:
                    await response.aread()
                finally:
                    await response.aclose()
            return response

    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    # What is kept is what was received, so nothing may come compressed.
    return Client(limits=limits, timeout=None, headers={"accept-encoding": "identity"})

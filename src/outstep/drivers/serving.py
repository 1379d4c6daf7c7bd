"""The world of a run as an MCP server, over stdio and over streamable HTTP.

docs: docs/drivers.md#programs
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from outstep import __version__
from outstep.drivers.turns import WireNames
from outstep.world.tools import Tools

BRIDGE = str(Path(__file__).with_name("bridge.py"))
LONGEST_LINE = 1 << 26
"""Bytes of one message over stdio."""


class Door(Struct, kw_only=True):
    """Where a world can be reached, and what went wrong with it."""

    command: tuple[str, ...]
    """What a harness starts as a stdio server."""
    url: str = ""
    """The streamable HTTP endpoint, where one was asked for."""
    names: dict[str, str]
    """Name of a tool as it is served to the world's own."""
    calls: int = 0
    broken: str = ""
    """What the world itself failed with; nothing that it said after that counts."""


@asynccontextmanager
async def serving(tools: Tools, *, http: bool = False) -> AsyncIterator[Door]:
    """Serve a world until the block ends; connections that are still open are closed."""
    names = WireNames(tool.name for tool in tools.list())
    token = secrets.token_urlsafe(24)
    door = Door(command=(), names={names.wire(tool.name): tool.name for tool in tools.list()})
    async with AsyncExitStack() as stack:
        lines = await stack.enter_async_context(_over_lines(tools, door, token))
        door.command = (sys.executable, "-I", "-S", BRIDGE, str(lines), token)
        if http:
            door.url = await stack.enter_async_context(_over_http(tools, door, token))
        yield door


def _server(tools: Tools, door: Door) -> Any:
    """Return the protocol's own side: what tools there are, and what a call of one brings."""
    import mcp_types as types
    from mcp.server import Server

    wire = {own: served for served, own in door.names.items()}

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=wire[tool.name],
                    description=tool.description,
                    input_schema=tool.parameters,
                    annotations=types.ToolAnnotations(read_only_hint=tool.effect == "read"),
                )
                for tool in tools.list()
            ]
        )

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        if door.broken:
            return _failed("the world has broken down")
        door.calls += 1
        try:
            # No MCP server is told the id of the model's call, so it has one of its own here.
            id = f"world-{door.calls}"
            reply = tools.call(door.names.get(asked.name, asked.name), asked.arguments or {}, id)
        except Exception as error:
            door.broken = f"{type(error).__name__}: {error}"
            return _failed("the world has broken down")
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.shown())], is_error=reply.outcome != "ok"
        )

    def _failed(text: str) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)

    return Server("outstep", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


@asynccontextmanager
async def _over_lines(tools: Tools, door: Door, token: str) -> AsyncIterator[int]:
    """Serve whoever comes over loopback with the token in the first line; yield the port."""
    tasks: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        try:
            said = await reader.readline()
            if hmac.compare_digest(said.strip(), token.encode()):
                await _speak(_server(tools, door), reader, writer)
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(meet, "127.0.0.1", 0, limit=LONGEST_LINE)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _speak(server: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    from mcp.server.stdio import stdio_server

    lines: Any = _Lines(reader)
    replies: Any = _Replies(writer)
    async with stdio_server(lines, replies) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Lines:
    """A connection as the library reads standard input."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._reader.readline():
            yield line.decode("utf-8", "replace")


class _Replies:
    """A connection as the library writes to standard output."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        """Send some text."""
        self._writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until it is on its way."""
        with suppress(ConnectionError):
            await self._writer.drain()


@asynccontextmanager
async def _over_http(tools: Tools, door: Door, token: str) -> AsyncIterator[str]:
    """Serve streamable HTTP on loopback, at a path that nobody guesses; yield the address."""
    import uvicorn

    class Quiet(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            # Ctrl-C belongs to whoever makes the runs.
            yield

    path = f"/{token}/mcp"
    app = _server(tools, door).streamable_http_app(streamable_http_path=path)
    server = Quiet(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}{path}"
        finally:
            server.should_exit = True
            await task

"""A model server that refunds at once and says so, after a time; it ends when its standard input does.

usage: scripted_server.py SECONDS
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


def answer(request: dict[str, Any]) -> bytes:
    """Return a Chat Completions response."""
    message: dict[str, Any] = {"role": "assistant", "content": "I could not refund it."}
    if request["messages"][-1]["role"] != "tool":
        function = {"name": "refund_create", "arguments": '{"orderId": "A1", "amountCents": 4200}'}
        message = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(body).encode()


async def main(seconds: float) -> None:
    """Serve."""

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                body = answer(json.loads(await reader.readexactly(length)))
                await asyncio.sleep(seconds)
                sized = b"content-type: application/json\r\ncontent-length: %d" % len(body)
                writer.write(b"HTTP/1.1 200 OK\r\n" + sized + b"\r\n\r\n" + body)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))

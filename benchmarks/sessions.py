"""Sessions of about 50 events in which a refund is made before the customer was verified, one for each format.

The dsh session is a recording of the harness, twice over: its second refund of the same order is a violation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.data import FOLDER

LOOKED_UP = {"native": 20, "chat": 12}
"""Orders that are looked up before the one that is refunded: chat messages give an event for each response, too."""


def native() -> Path:
    """Write the session in the canonical form."""
    header = {"type": "trace", "schema": "trace/v1", "id": "refund-50", "complete": True}
    return _write("session.trace.jsonl", "".join(json.dumps(one) + "\n" for one in (header, *_native_events())))


def chat() -> Path:
    """Write the session as a list of chat messages."""
    return _write("session.chat.json", json.dumps({"messages": list(_chat_messages())}))


def dsh() -> Path:
    """Write a recording of the harness twice over, as one session that goes on."""
    import zstandard

    from benchmarks.dsh_read import RECORDINGS, SESSIONS, repeated
    from outstep.adapters.base import Document
    from outstep.adapters.dsh.text import TextLog

    path = next((RECORDINGS / SESSIONS["format 4"] / "sessions").rglob("session*.jsonl*"))
    text = b"".join(piece for piece in TextLog(Document(path.name, path)).pieces() if isinstance(piece, bytes))
    head, *lines = text.splitlines(keepends=True)
    rows = islice(repeated([json.loads(line) for line in lines]), 2 * len(lines))
    frames = [zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in (head, *rows)]
    return _write("session.v4.jsonl.zstd", b"".join(frames))


def _steps(looked_up: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]] | str]:
    """Yield what the agent did: texts of the user and the agent in turn, and calls with their results."""
    yield "I want a refund for order A1."
    for number in range(looked_up):
        yield "order.get", {"orderId": f"B{number}"}, {"id": f"B{number}", "state": "OPEN", "refundableCents": 100}
    order = {"id": "A1", "customerId": "C1", "state": "PAID", "refundableCents": 900}
    yield "order.get", {"orderId": "A1"}, order
    yield "refund.policy", {"orderId": "A1"}, {"approved": True, "maxRefundCents": 900}
    yield "refund.create", {"orderId": "A1", "amountCents": 900}, {"refundId": "RF-1", "status": "succeeded"}
    yield "Your refund for order A1 has been issued, its number is RF-1."
    yield "Thank you."
    yield "You are welcome."


def _native_events() -> Iterator[dict[str, Any]]:
    seq, turn = 0, 0
    role = "user.message"
    for step in _steps(LOOKED_UP["native"]):
        seq += 1
        if isinstance(step, str):
            turn += role == "assistant.message"
            event = {"type": role, "seq": seq, "text": step}
            yield event if role == "user.message" else {**event, "turn": turn}
            role = "assistant.message" if role == "user.message" else "user.message"
            continue
        turn += 1
        tool, args, data = step
        yield {"type": "tool.call", "tool": tool, "seq": seq, "turn": turn, "call_id": f"c{seq}", "args": args}
        yield {"type": "tool.result", "seq": seq + 1, "call_id": f"c{seq}", "outcome": "ok", "data": data}
        seq += 1


def _chat_messages() -> Iterator[dict[str, Any]]:
    role = "user"
    for number, step in enumerate(_steps(LOOKED_UP["chat"])):
        if isinstance(step, str):
            yield {"role": role, "content": step}
            role = "assistant" if role == "user" else "user"
            continue
        tool, args, data = step
        function = {"name": tool, "arguments": json.dumps(args)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(data)}


def _write(name: str, content: str | bytes) -> Path:
    folder = FOLDER / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path

"""Recorded runs of dsh beside this file: their documents, their truth, and reading them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from outstep import codec
from outstep.adapters.base import Batch, Document, Options, ReadLog
from outstep.adapters.dsh import ADAPTER
from outstep.events import Event, Header, ToolCall, ToolResult

HERE = Path(__file__).parent
RECORDINGS = HERE / "recordings"
EXPECTED = "events.jsonl"

MCP_TOOLS = ("order.get", "identity.verify", "refund.policy", "refund.create")
SERVER = "refunds"


def runs(root: Path = RECORDINGS) -> list[Path]:
    """Every recorded run below a folder."""
    return sorted(path.parent for path in root.glob("*/*/manifest.json"))


def name_of(run: Path) -> str:
    return f"{run.parent.name}/{run.name}"


def documents(run: Path) -> list[Document]:
    """The logs of a run as a user would give them, named from its folder on."""
    found: list[Document] = []
    for path in sorted(run.rglob("*")):
        parts = path.relative_to(run).parts
        if not path.is_file() or not (parts[0] == "sessions" or path.suffix == ".zip"):
            continue
        document = Document("/".join(parts), path)
        if ADAPTER.sniff(document, document.head()):
            found.append(document)
    return found


def read(given: list[Document], *, unpinned: bool = False) -> tuple[list[Batch], ReadLog]:
    log = ReadLog()
    return list(ADAPTER.stream(given, Options(unpinned=unpinned), log)), log


def one(data: bytes, *, name: str = "session.jsonl", unpinned: bool = False) -> tuple[list[Event], ReadLog]:
    """Read one document that holds one trace; its events."""
    traces, log = read([Document(name, data=data)], unpinned=unpinned)
    assert len(traces) <= 1
    return [event for event in (traces[0] if traces else []) if not isinstance(event, Header)], log


class Script:
    """Writes a small log, row by row, in the shape of a format version."""

    def __init__(self, version: int = 4, *, id: str = "s", **head: Any) -> None:
        self.version = version
        self.rows: list[dict[str, Any]] = []
        self.head = {"type": "session", "version": version, "id": id, "createdAt": 1000, "delegationDepth": 0, **head}

    def row(self, type_: str, data: Any, **more: Any) -> int:
        """Add a row; its number."""
        seq = len(self.rows)
        self.rows.append({"type": type_, "seq": seq, "time": 1000 + seq, "data": data, **more})
        return seq

    def turn(self, turn: int = 1) -> None:
        self.row("turn/start", {"turn": turn})

    def step(self, step: int = 1, turn: int = 1) -> None:
        self.row("step/start", {"turn": turn, "step": step})

    def user(self, text: str, **source: Any) -> int:
        message = {"role": "user", "content": blocks(text), "source": source or {"kind": "user"}}
        return self.row("user/message", message, surfaceOp="append")

    def say(self, text: str = "", step: int = 1, turn: int = 1) -> int:
        message = {"role": "assistant", "content": blocks(text) if text else [], "source": {"kind": "model"}}
        return self.row("assistant/message", {"turn": turn, "step": step, "message": message}, surfaceOp="append")

    def call(self, name: str, id: str = "c", args: Any = None, step: int = 1, turn: int = 1) -> int:
        text = args if isinstance(args, str) else json.dumps(args or {})
        return self.row("tool/call", {"turn": turn, "step": step, "callId": id, "name": name, "arguments": text})

    def result(
        self, text: str, call: int | None, *, id: str = "c", failed: bool = False, step: int = 1, **data: Any
    ) -> int:
        source = {"kind": "tool", "callId": id}
        message: dict[str, Any]
        if self.version == 4:
            message = {"role": "tool", "source": source, "toolCallId": id, "content": blocks(text), "isError": failed}
        else:
            inner = {"type": "tool-result", "toolCallId": id, "content": blocks(text), "isError": failed}
            message = {"role": "user", "source": source, "content": [inner]}
        more: dict[str, Any] = {} if call is None else {"sourceEventSeqs": [call]}
        return self.row(
            "tool/result", {"turn": 1, "step": step, "message": message, **data}, surfaceOp="append", **more
        )

    def end(self, kind: str = "completed", turn: int = 1, **reason: Any) -> None:
        self.row("turn/end", {"turn": turn, "reason": {"kind": kind, **reason}})

    def lines(self) -> list[bytes]:
        return [json.dumps(item).encode() + b"\n" for item in (self.head, *self.rows)]

    def text(self) -> bytes:
        return b"".join(self.lines())

    def document(self, uri: str = "session.jsonl") -> Document:
        return Document(uri, data=self.text())

    def events(self) -> list[Event]:
        """What is read from it; no fault."""
        found, log = one(self.text())
        assert log.faults == []
        return found


def blocks(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def header(batch: Batch) -> Header:
    assert isinstance(batch[0], Header)
    return batch[0]


def lines(traces: list[Batch]) -> str:
    return "".join(codec.encode(item).decode() + "\n" for batch in traces for item in batch)


def truth(run: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((run / "manifest.json").read_text("utf-8"))["ground_truth_calls"]
    return found


def calls(batch: Batch) -> list[tuple[str, Any, str]]:
    """Each call as (real tool name, arguments, outcome or `unanswered`)."""
    outcomes = {item.call: item.outcome for item in batch if isinstance(item, ToolResult)}
    real = {_public(name): name for name in MCP_TOOLS} | {name.replace(".", "_"): name for name in MCP_TOOLS}
    return [
        (
            real.get(item.tool, item.tool),
            item.args_raw if item.args_raw is not None else codec.loads(item.args),
            outcomes.get(item.seq, "unanswered"),
        )
        for item in batch
        if isinstance(item, ToolCall)
    ]


def _public(raw: str) -> str:
    """The name under which dsh offers an MCP tool to the model."""
    joined = f"mcp__{SERVER}__{raw}"
    name = re.sub(r"[^A-Za-z0-9_-]", "_", joined)
    if name == joined and len(name) <= 64:
        return name
    return f"{name[:51]}_{hashlib.sha256(f'{SERVER}{chr(0)}{raw}'.encode()).hexdigest()[:12]}"

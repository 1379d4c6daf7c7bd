"""`anthropic-messages`: lists of Messages API turns with content blocks, and recorded exchanges of them.

docs: docs/adapters/anthropic-messages.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outstep.adapters.base import Document
from outstep.adapters.chat import Chat, Scribe, counted, flat_text, wrong_format
from outstep.adapters.conversation import Conversation, Message, Step
from outstep.adapters.glimpse import chat_dialect
from outstep.codec import Json, raw
from outstep.events import Lane

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter

_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
_CUT = ("max_tokens", "refusal", "pause_turn", "model_context_window_exceeded")
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class AnthropicMessages(Chat):
    """Reads Messages API turns."""

    name = "anthropic-messages"
    version = "1"
    pinned: tuple[str, ...] = ("messages",)
    title = "Anthropic Messages API turns and exchanges"
    cannot_carry: tuple[str, ...] = (
        "no approvals, no sub-agents, no time, and no state of the business",
        "a denied call is a result with `is_error`: it reads as failed",
        "no end mark: that a run is whole is inferred from its last message",
    )

    def sniff(self, document: Document, head: bytes) -> bool:
        """Return whether messages with content blocks stand at the beginning."""
        return chat_dialect(document, head) == "anthropic"

    def write(self, conversation: Conversation, scribe: Scribe) -> None:
        """Write the events of a conversation."""
        if conversation.system is not None:
            scribe.at(Step(message=None, place=conversation.place, index=0))
            scribe.context("system", text=flat_text(conversation.system, scribe.skip, "text"))
        for step in conversation.steps:
            scribe.at(step)
            if step.message is None:
                scribe.hole()
            else:
                _write(step, step.message, scribe)


def _write(step: Step, message: Message, scribe: Scribe) -> None:
    role = message.get("role")
    content = message.get("content")
    blocks: list[Json] = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    if role == "assistant":
        _assistant(step, blocks, scribe)
    elif role == "user":
        _user(blocks, scribe)
    elif role == "system":
        scribe.context("system", text=flat_text(content, scribe.skip, "text"))
    elif isinstance(role, str) and role:
        scribe.skip(f"role {role[:40]}")
        scribe.context("record.unknown", name=f"role {role[:40]}")
    else:
        scribe.fault(
            "adapter/damaged-record",
            f"message {step.index} is no message: it has no role",
            "every message is an object with `role` and `content`",
        )
        scribe.hole()


def _user(blocks: list[Json], scribe: Scribe) -> None:
    """Write results first: they came from the tools, and the person's words stand beside them."""
    rest = []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            _result(block, scribe)
        else:
            rest.append(block)
    if rest:
        scribe.user(flat_text(rest, scribe.skip, "text"))


def _assistant(step: Step, blocks: list[Json], scribe: Scribe) -> None:
    writer = _Response(scribe, step)
    for block in blocks:
        if not isinstance(block, dict):
            scribe.skip("block")
            continue
        writer.block(block, str(block.get("type", "")))
    writer.close()
    scribe.end = f"the model stopped for `{step.stop}`" if step.stop in _CUT else ""


class _Response:
    """Writes one assistant message.

    The API runs its own tools in the middle of a message and lets the model go on with their results; what the
    message holds after such a result was written with it in sight, so it is a turn of its own.
    """

    def __init__(self, scribe: Scribe, step: Step) -> None:
        self._scribe = scribe
        self._usage = counted(step.usage, _USAGE)
        self._is_open = False
        self._is_first = True
        self._texts: list[str] = []
        self._is_cited = False
        self._said = False

    def block(self, block: Message, kind: str) -> None:
        """Write one block."""
        if kind == "text":
            text = block.get("text")
            if isinstance(text, str) and text:
                self._texts.append(text)
                self._is_cited = self._is_cited or bool(block.get("citations"))
        elif kind in _CALLS:
            self._flush()
            program = _program(block, kind)
            if not program:
                # A program that calls on is no new response of the model.
                self._open()
            _call(block, program, self._scribe)
            self._said = True
        elif kind == "mcp_tool_result":
            self._deliver()
            _result(block, self._scribe)
        elif kind.endswith("_tool_result"):
            self._deliver()
            _server_result(block, self._scribe)
        elif kind == "compaction":
            self._deliver()
            self._scribe.context("compaction", text=flat_text(block.get("content"), self._scribe.skip, "text"))
        elif kind in ("thinking", "redacted_thinking"):
            self._scribe.skip(kind)
        else:
            if "tool" in kind.lower() or "function" in kind.lower():
                wrong_format(self._scribe, kind)
            self._flush()
            self._scribe.skip(kind[:40] or "block")
            self._scribe.context("record.unknown", name=f"block {kind[:40]}")

    def close(self) -> None:
        """Write what is left; a message that says and does nothing is an empty message."""
        self._flush()
        if not self._said:
            self._open()
            self._scribe.say("")

    def _deliver(self) -> None:
        self._flush()
        self._is_open = False

    def _flush(self) -> None:
        if self._texts:
            self._open()
            # Citations cut one sentence into several blocks; otherwise blocks are paragraphs.
            self._scribe.say(("" if self._is_cited else "\n").join(self._texts))
            self._texts = []
            self._is_cited = False
            self._said = True

    def _open(self) -> None:
        if self._is_open:
            return
        if self._is_first:
            self._scribe.open(self._usage)
        else:
            # The usage covers the whole message, so it is not counted again.
            self._scribe.turn += 1
        self._is_open = True
        self._is_first = False


def _program(block: Message, kind: str) -> str:
    """Return the id of the code execution that makes a call; empty when the model itself does."""
    caller = block.get("caller")
    return _word(caller.get("tool_id")) if kind == "tool_use" and isinstance(caller, dict) else ""


def _call(block: Message, program: str, scribe: Scribe) -> None:
    args = {"args": raw(block["input"])} if block.get("input") is not None else {}
    name, call_id = _word(block.get("name")), _word(block.get("id"))
    if not program:
        scribe.call(name, call_id, args)
        return
    lane = f"program:{program}"
    if lane not in scribe.lanes:
        spawn: dict[str, Any] = {"parent": "main", "call": program} if scribe.has_call(program) else {}
        scribe.lanes[lane] = Lane(id=lane, kind="program", **spawn)
    scribe.call(name, call_id, args, agent=lane, by="program", parent=program)


def _result(block: Message, scribe: Scribe) -> None:
    content = block.get("content")
    text = flat_text(content, scribe.skip, "text")
    failed = block.get("is_error") is True
    scribe.result(
        _word(block.get("tool_use_id")), "failed" if failed else "ok", text=text, error=text if failed else ""
    )


def _server_result(block: Message, scribe: Scribe) -> None:
    content = block.get("content")
    call_id = _word(block.get("tool_use_id"))
    rest: dict[str, Any] = {} if content is None else {"data": raw(content)}
    if not isinstance(content, dict):
        scribe.result(call_id, "ok", **rest)
        return
    if str(content.get("type", "")).endswith("_error"):
        scribe.result(call_id, "failed", error=_word(content.get("error_code")) or "error", **rest)
        return
    code = content.get("return_code")
    if isinstance(code, int) and not isinstance(code, bool):
        scribe.result(
            call_id, "failed" if code else "ok", exit=code, error=_word(content.get("stderr")) if code else "", **rest
        )
        return
    scribe.result(call_id, "ok", **rest)


def _word(value: Json) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


ADAPTER: Adapter = AnthropicMessages()

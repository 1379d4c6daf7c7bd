"""Which vendor's messages a document holds, judged by its first values.

Text-only lists look alike and count as OpenAI's. Documents of harnesses that keep their calls elsewhere than in the
messages are nobody's: read as plain messages, they would lose what the agent did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from outstep.adapters.base import Document
from outstep.adapters.conversation import MESSAGE_LISTS, Message, is_message, unwrapped
from outstep.adapters.opening import opening
from outstep.codec import Json

Dialect = Literal["openai", "anthropic", ""]

HEAD = 1 << 16
FURTHER = 1 << 22
"""Bytes that are looked at when the first ones do not decide."""
ANTHROPIC_BLOCKS = frozenset(
    ("tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "thinking", "redacted_thinking")
)
_FOREIGN_BLOCKS = frozenset(("tool-call", "tool-result", "toolCall", "toolResult", "functionCall"))
_FOREIGN_ITEMS = frozenset(("function_call", "function_call_output", "custom_tool_call", "reasoning", "response_item"))
_FOREIGN_KEYS = ("trajectory_format", "observations", "trajectory", "resourceSpans", "parentUuid")
_TOOL_BLOCK = rb'"type"\s{0,8}:\s{0,8}"(?:tool_use|tool_result|server_tool_use)"'
_DEPTH = 5


def chat_dialect(document: Document, head: bytes) -> Dialect:
    """Return whose messages these are, or nothing."""
    dialect, is_sure = _judged(head)
    if not is_sure and len(head) == HEAD:
        further = document.head(FURTHER)
        dialect, is_sure = _judged(further)
        if dialect == "openai" and not is_sure and re.search(_TOOL_BLOCK, further):
            return "anthropic"
    return dialect


@lru_cache(maxsize=4)
def _judged(head: bytes) -> tuple[Dialect, bool]:
    """Return whose messages stand here, and whether anything but plain text says so."""
    seen: Dialect = ""
    for value in opening(head).values:
        for item in _parts(value, 0):
            sign = _sign(item)
            if sign == "foreign":
                return "", True
            if sign in ("anthropic", "tools"):
                return ("anthropic" if sign == "anthropic" else "openai"), True
            if sign == "plain":
                seen = "openai"
    return seen, False


def _parts(value: Json, depth: int) -> Iterator[Message]:
    """Yield the objects around and in the message lists of a value."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for item in value[:64]:
            yield from _parts(item, depth + 1)
    elif isinstance(value, dict):
        yield value
        inner = unwrapped(value)
        if inner is not value:
            yield inner
        for name in (*MESSAGE_LISTS, *_WITHIN):
            if isinstance(value.get(name), list | dict):
                yield from _parts(value[name], depth + 1)


_WITHIN = ("exchanges", "request", "response", "choices", "simulations", "results", "runs", "traces", "conversations")


def _sign(item: Message) -> str:
    """Return what one object says: plain, tools, anthropic, foreign, or nothing."""
    if any(name in item for name in _FOREIGN_KEYS) or ("parts" in item and "role" in item):
        return "foreign"
    if "messages" in item and ("actions" in item or _is_of_swe_agent(item.get("info"))):
        return "foreign"
    if not is_message(item):
        return _sign_of_wrapping(item)
    content = item["content"] if isinstance(item.get("content"), list) else []
    kinds = {block.get("type") for block in content if isinstance(block, dict) and isinstance(block.get("type"), str)}
    if kinds & _FOREIGN_BLOCKS or "toolInvocations" in item or item.get("role") == "toolResult":
        return "foreign"
    if item.get("tool_calls") or item.get("role") in ("tool", "function") or item.get("function_call"):
        return "tools"
    if kinds & ANTHROPIC_BLOCKS or (item.get("type") == "message" and "stop_reason" in item):
        return "anthropic"
    return "plain"


def _sign_of_wrapping(item: Message) -> str:
    kind = item.get("type")
    if isinstance(kind, str) and kind in _FOREIGN_ITEMS:
        return "foreign"
    is_request = any(isinstance(item.get(name), list) for name in MESSAGE_LISTS)
    if is_request and "system" in item and isinstance(item["system"], str | list):
        return "anthropic"
    if isinstance(item.get("choices"), list):
        return "tools"
    tools = item.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else None
    if is_request and isinstance(first, dict):
        if "input_schema" in first:
            return "anthropic"
        if isinstance(first.get("function"), dict):
            return "tools"
    return ""


def _is_of_swe_agent(info: Json) -> bool:
    """Return whether the commands stand in the text of the messages, as mini-SWE-agent writes them."""
    return isinstance(info, dict) and ("exit_status" in info or "mini_version" in info)

"""One event on one line: `call refund.create(orderId="A1", amountCents=1200)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Raw

from outstep import codec
from outstep.codec import Json, Unreadable
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

LONGEST = 400
"""Characters of a quote in a report; a renderer cuts further."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")


def quote(event: Event, tool: str = "") -> str:
    """Return an event on one line, cut and not yet escaped; `tool` is that of the call which a result answers."""
    text = f"{_NAMES[type(event)]} {said(event, tool)}".rstrip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def said(event: Event, tool: str = "") -> str:
    """Return what an event says, without its type; as long as the event itself may be."""
    if type(event) is ToolResult:
        return _result(event, tool)
    return _SAID[type(event)](event)


def _call(event: ToolCall) -> str:
    return f"{event.tool or '(no name)'}({_arguments(event)})"


def _arguments(event: ToolCall) -> str:
    if event.args_raw is not None:
        return f"unreadable: {event.args_raw[:LONGEST]}"
    raw = bytes(event.args)
    if not raw:
        return ""
    try:
        value = codec.loads(raw)
    except Unreadable:
        return _decoded(raw)
    if not isinstance(value, dict):
        return _json(value)
    parts: list[str] = []
    length = 0
    for name, item in value.items():
        part = f"{name if _WORD.match(name) else _json(name)}={_json(item)}"
        parts.append(part)
        length += len(part)
        if length > LONGEST:
            break
    return ", ".join(parts)


def _result(event: ToolResult, tool: str) -> str:
    text = f"{event.outcome} {tool}".rstrip()
    if event.exit is not None:
        text += f", exit {event.exit}"
    if event.error:
        text += f": {event.error[:LONGEST]}"
    elif (content := content_of(event)) != "":
        text += f": {content}"
    return text


def content_of(event: ToolResult) -> str:
    """Return the data of a result as JSON, else its text in quotes, else nothing."""
    if bytes(event.data):
        return _decoded(bytes(event.data))
    return _text(event.text) if event.text is not None else ""


def _message(event: AssistantMessage | UserMessage) -> str:
    return _text(event.text)


def _context(event: Context) -> str:
    named = f"{event.what} {event.name}".rstrip()
    return f"{named}: {_text(event.text)}" if event.text else named


def _approval(event: Approval) -> str:
    text = f"{event.decision} for {event.call_id or event.tool or 'nothing named'}"
    return f"{text} by {event.by}" if event.by else text


def _state(event: State) -> str:
    return _decoded(bytes(event.state))


def _decision(event: Decision) -> str:
    usage = ", ".join(f"{name}={_json(value)}" for name, value in event.usage.items())
    return f"{event.model} {usage}".strip()


def _gap(event: Gap) -> str:
    hides = f"may hide {', '.join(event.may_hide)}" if event.may_hide else "may hide anything"
    return f"{event.reason} ({hides})" if event.reason else hides


def _end(event: RunEnd) -> str:
    return f"{event.end}: {event.reason}" if event.reason else event.end


def _text(text: str) -> str:
    # Only as much as can be shown is put into quotes.
    return _json(text) if len(text) <= LONGEST else _json(text[:LONGEST])[:-1] + "…"


def _json(value: Json) -> str:
    return codec.encode(value).decode()


def _decoded(raw: bytes | Raw) -> str:
    return bytes(raw)[: LONGEST * 4].decode(errors="ignore")


_NAMES: Mapping[type, str] = {
    ToolCall: "call",
    ToolResult: "result",
    AssistantMessage: "message",
    UserMessage: "user message",
    Context: "context",
    Approval: "approval",
    State: "state",
    Decision: "decision",
    Gap: "gap",
    RunEnd: "end",
}

_SAID: Mapping[type, Callable[[Any], str]] = {
    ToolCall: _call,
    AssistantMessage: _message,
    UserMessage: _message,
    Context: _context,
    Approval: _approval,
    State: _state,
    Decision: _decision,
    Gap: _gap,
    RunEnd: _end,
}


def name_of(event: Event) -> str:
    """Return the word for an event's type: `call`, `result`, `user message`."""
    return _NAMES[type(event)]

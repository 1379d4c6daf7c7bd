"""A trace as the small text form spells it, ready to be a case: the way back from `outstep.tracetext`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Raw

from outstep import codec
from outstep.events import (
    EVENT_TYPES,
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

_NO_WORD = frozenset('"{}[]#=')


def spell_trace(header: Header, events: Sequence[Event]) -> str:
    """Return a trace as text; what the text form has no word for (times, roots of documents) is left out."""
    lines = list(_head(header))
    lines += [_SPELLED[type(event)](event) for event in events]
    if header.complete and not any(isinstance(event, RunEnd) for event in events):
        lines.append("complete")
    return "\n".join(lines) + "\n"


def _head(header: Header) -> Iterator[str]:
    told = [f"{word} {_word(value)}" for word, value in (("harness", header.harness), ("model", header.model)) if value]
    if told:
        yield " ".join(["trace", *told])
    if header.records != EVENT_TYPES:
        yield f"records {','.join(header.records)}"
    for lane in header.lanes:
        parts = [f"lane {_word(lane.id)}", *([f"kind {lane.kind}"] if lane.kind != "agent" else [])]
        parts += [f"parent {_word(lane.parent)}"] if lane.parent is not None else []
        parts += [f"call {_word(lane.call)}"] if lane.call else []
        parts += [f"forked_at {lane.forked_at}"] if lane.forked_at is not None else []
        yield " ".join(parts)


def _user(event: UserMessage) -> str:
    return _line("user", _text(event.text), *_common(event))


def _said(event: AssistantMessage) -> str:
    return _line("say", _text(event.text), *_common(event))


def _call(event: ToolCall) -> str:
    args = _text(event.args_raw) if event.args_raw is not None else _json(event.args)
    more = [f"as {_word(event.call_id)}", *([f"by {event.by}"] if event.by != "model" else [])]
    more += [f"parent {_word(event.parent)}"] if event.parent is not None else []
    return _line("call", _word(event.tool), args, *more, *_common(event))


def _result(event: ToolResult) -> str:
    body = _json(event.data) or (_text(event.text) if event.text is not None else "")
    more = [f"error {_text(event.error)}"] if event.error else []
    more += [f"exit {event.exit}"] if event.exit is not None else []
    return _line("result", _word(event.call_id), event.outcome, body, *more, *_common(event))


def _approval(event: Approval) -> str:
    by = [f"by {_word(event.by)}"] if event.by else []
    return _line("approval", _word(event.call_id or event.tool), event.decision, *by, *_common(event))


def _context(event: Context) -> str:
    name = [f"name {_word(event.name)}"] if event.name else []
    digest = [f"digest {_word(event.digest)}"] if event.digest else []
    return _line("context", _word(event.what), *name, _text(event.text), *digest, *_common(event))


def _state(event: State) -> str:
    return _line("state", _json(event.state))


def _decision(event: Decision) -> str:
    model = [f"model {_word(event.model)}"] if event.model else []
    return _line("decision", codec.encode(event.usage).decode(), *model, *_common(event))


def _gap(event: Gap) -> str:
    more = [f"may_hide={','.join(event.may_hide)}"] if event.may_hide else []
    more += [f"turn {event.turn}"] if event.turn is not None else []
    more += [f"lane {_word(event.agent)}"] if event.agent is not None else []
    more += [f"reason {_text(event.reason)}"] if event.reason else []
    return _line("gap", *more)


def _end(event: RunEnd) -> str:
    return _line("end", event.end)


def _common(event: Any) -> Iterator[str]:
    if event.turn is not None:
        yield f"turn {event.turn}"
    if event.agent != "main":
        yield f"lane {_word(event.agent)}"


def _line(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _word(text: str) -> str:
    is_word = text.isprintable() and not any(sign.isspace() or sign in _NO_WORD for sign in text)
    return text if text and is_word else _text(text)


def _text(text: str) -> str:
    return codec.encode(text).decode()


def _json(raw: Raw) -> str:
    return bytes(raw).decode()


_SPELLED: dict[type, Callable[[Any], str]] = {
    UserMessage: _user,
    AssistantMessage: _said,
    ToolCall: _call,
    ToolResult: _result,
    Approval: _approval,
    Context: _context,
    State: _state,
    Decision: _decision,
    Gap: _gap,
    RunEnd: _end,
}

"""One record of the seed form, read into an event (docs/adapters/native.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from outstep.codec import Json, Unreadable, compact, encode, raw
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


class Unfit(ValueError):
    """A record that is no event."""


def read_event(record: Json, position: int | None) -> Event:
    """Return the event of a record; `position` is its number where the records carry none. Raises `Unfit`."""
    if not isinstance(record, dict):
        raise Unfit("it is no object")
    kind = record.get("type")
    if not isinstance(kind, str):
        raise Unfit("it has no `type`")
    seq = position if position is not None else record.get("seq")
    if not is_whole_number(seq):
        raise Unfit("its `seq` is no whole number" if "seq" in record else "it has no `seq`, which others have")
    turn = record.get("turn")
    if turn is not None and not is_whole_number(turn):
        raise Unfit("its `turn` is no whole number")
    head: dict[str, Any] = {
        "seq": seq,
        "turn": turn,
        "agent": text_of(record, "agent", "lane") or "main",
        "time": _time(record.get("time")),
        "hidden": _texts(record.get("hidden")),
    }
    read = _READERS.get(kind)
    if read is None:
        return Context(seq=head["seq"], agent=head["agent"], time=head["time"], what="record.unknown", name=kind[:80])
    return read(record, head)


def _user_message(record: dict[str, Json], head: dict[str, Any]) -> Event:
    return UserMessage(**head, text=_content(record) or "")


def _assistant_message(record: dict[str, Json], head: dict[str, Any]) -> Event:
    return AssistantMessage(**head, text=_content(record) or "")


def _decision(record: dict[str, Json], head: dict[str, Any]) -> Event:
    usage = record.get("usage")
    return Decision(**head, model=text_of(record, "model"), usage=usage if isinstance(usage, dict) else {})


def _tool_call(record: dict[str, Json], head: dict[str, Any]) -> Event:
    by = record.get("by", "model")
    if by not in ("model", "program", "user", "harness"):
        raise Unfit(f"its `by` is `{str(by)[:40]}`, not model, program, user or harness")
    rest: dict[str, Any] = {} if by == "model" else {"by": by}
    parent = text_of(record, "parent", "parentCallId", "parent_call_id")
    if parent:
        rest["parent"] = parent
    args = record.get("args", record.get("arguments"))
    text = record.get("argsRaw", record.get("args_raw"))
    if isinstance(args, str):
        try:
            rest["args"] = compact(args)
        except Unreadable:
            rest["args_raw"] = args
    elif args is not None:
        rest["args"] = raw(args)
    elif isinstance(text, str):
        rest["args_raw"] = text
    return ToolCall(**head, **rest, tool=text_of(record, "name", "tool"), call_id=text_of(record, "callId", "call_id"))


_OUTCOMES = ("ok", "failed", "denied", "unknown", "unrecorded")


def _tool_result(record: dict[str, Json], head: dict[str, Any]) -> Event:
    ok = record.get("ok")
    outcome = record.get(
        "outcome", {True: "ok", False: "failed"}.get(ok, "unrecorded") if isinstance(ok, bool) else "unrecorded"
    )
    if outcome not in _OUTCOMES:
        raise Unfit(f"its `outcome` is `{str(outcome)[:40]}`, not one of {', '.join(_OUTCOMES)}")
    rest: dict[str, Any] = {}
    text = _content(record)
    data = record.get("data")
    if isinstance(data, str) and text is None:
        text = data
    elif "data" in record:
        rest["data"] = raw(data)
    if text is not None:
        rest["text"] = text
    exit_ = record.get("exit", record.get("exitCode"))
    if is_whole_number(exit_):
        rest["exit"] = exit_
    call = record.get("call")
    if is_whole_number(call):
        rest["call"] = call
    error = _message(record.get("error"))
    if not error and outcome != "ok" and isinstance(data, dict):
        error = _message(data.get("error")) or _message(data.get("message"))
    return ToolResult(**head, **rest, call_id=text_of(record, "callId", "call_id"), outcome=outcome, error=error)


_DECISIONS = {
    "asked": "asked",
    "requested": "asked",
    "allowed": "allowed",
    "approved": "allowed",
    "denied": "denied",
    "rejected": "denied",
}


def _approval(record: dict[str, Json], head: dict[str, Any]) -> Event:
    decision = _DECISIONS.get(str(record.get("decision")))
    if decision is None:
        raise Unfit("its `decision` is none of asked, allowed, denied")
    return Approval(
        **head,
        tool=text_of(record, "tool", "name"),
        call_id=text_of(record, "callId", "call_id"),
        decision=cast(Any, decision),
        by=text_of(record, "by"),
    )


def _context(record: dict[str, Json], head: dict[str, Any]) -> Event:
    return Context(
        **head,
        what=text_of(record, "what"),
        name=text_of(record, "name"),
        version=text_of(record, "version"),
        digest=text_of(record, "digest"),
        text=_content(record) or "",
    )


def _state(record: dict[str, Json], head: dict[str, Any]) -> Event:
    if "state" not in record and "data" not in record:
        raise Unfit("it has no `state`")
    state = raw(record.get("state", record.get("data")))
    return State(seq=head["seq"], time=head["time"], hidden=head["hidden"], state=state)


def _gap(record: dict[str, Json], head: dict[str, Any]) -> Event:
    agent = text_of(record, "agent", "lane")
    return Gap(
        seq=head["seq"],
        turn=head["turn"],
        agent=agent or None,
        may_hide=_texts(record.get("mayHide", record.get("may_hide"))),
        reason=text_of(record, "reason"),
    )


def _run_end(record: dict[str, Json], head: dict[str, Any]) -> Event:
    end = record.get("end", "completed")
    if end not in ("completed", "aborted", "cut_off"):
        raise Unfit(f"its `end` is `{str(end)[:40]}`, not completed, aborted or cut_off")
    return RunEnd(seq=head["seq"], time=head["time"], end=end, reason=text_of(record, "reason"))


_READERS: dict[str, Callable[[dict[str, Json], dict[str, Any]], Event]] = {
    "user.message": _user_message,
    "assistant.message": _assistant_message,
    "decision": _decision,
    "tool.call": _tool_call,
    "tool.result": _tool_result,
    "approval": _approval,
    "context": _context,
    "state": _state,
    "gap": _gap,
    "run.end": _run_end,
}


def is_whole_number(value: Json) -> bool:
    """Return whether a JSON value is an integer; `true` is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _time(value: Json) -> float | None:
    if value is None or isinstance(value, bool | str | list | dict):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def text_of(record: dict[str, Json], *names: str) -> str:
    """Return the first of the members that is a text, or a number as it stands."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str):
            return value
        if is_whole_number(value):
            return str(value)
    return ""


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _content(record: dict[str, Json]) -> str | None:
    """Return the text of `content` or `text`; parts of a list are joined, anything else is shown as JSON."""
    value = record.get("content", record.get("text"))
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [
            part if isinstance(part, str) else text_of(part, "text") for part in value if isinstance(part, str | dict)
        ]
        return "\n".join(part for part in parts if part)
    return encode(value).decode()


def _message(value: Json) -> str:
    if isinstance(value, dict):
        return text_of(value, "message", "error", "code")
    return value if isinstance(value, str) else ""

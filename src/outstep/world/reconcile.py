"""The world's record against the agent's log: what the log lacks, what it adds, and what it tells otherwise.

docs: docs/worlds.md#reconcile
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct

from outstep import codec
from outstep.errors import Place
from outstep.events import Event, Gap, Header, RunEnd, ToolCall, ToolResult
from outstep.findings import Finding, Level, Verdict, Witness
from outstep.world.changes import ABSENT, changes
from outstep.world.matching import Deed, deeds, pairs, same_arguments

RULES: dict[str, tuple[Level, str]] = {
    "CALL_NOT_LOGGED": ("block", "every call that the world carried out is in the agent's log"),
    "CALL_INVENTED": ("block", "every answered call of the agent's log reached the world"),
    "ARGUMENTS_CHANGED": ("block", "calls have the arguments that the world received"),
    "SUCCESS_INVENTED": ("block", "no call succeeded in the log that failed in the world"),
    "RESULT_CHANGED": ("block", "results are those that the world sent"),
    "RESULT_WRAPPED": ("warn", "results are those that the world sent, with nothing around them"),
}
"""Rules by id: level, and what holds where they are satisfied."""
CLASS = "evidence"


def reconcile(record: Sequence[Event | Header], log: Sequence[Event | Header]) -> tuple[Finding, ...]:
    """Return every disagreement between a world's record and the log of the agent that acted in it."""
    header = next((item for item in record if isinstance(item, Header)), None)
    tools = tuple(header.tools) if header is not None else ()
    of_log = next((item for item in log if isinstance(item, Header)), None)
    sides = _Sides(
        trace=of_log.id if of_log is not None else "",
        source=of_log.sources[0].uri if of_log is not None and of_log.sources else "",
        order={item.seq: at for at, item in enumerate((one for one in log if not isinstance(one, Header)), start=1)},
        hides=next((item for item in log if isinstance(item, Gap) and item.can_hide("tool.call")), None),
        is_cut=any(isinstance(item, RunEnd) and item.end == "cut_off" for item in record),
    )
    found: list[Finding] = []
    for true, told in pairs(deeds(record, tools), deeds(log, tools)):
        found.extend(_compared(true, told, sides))
    return tuple(found)


class _Sides(Struct, frozen=True, kw_only=True):
    trace: str
    source: str
    order: dict[int, int]
    """`seq` of an event of the log to its number, from 1."""
    hides: Gap | None
    """Where calls of the log may be hidden."""
    is_cut: bool
    """Whether the world's record may lack calls at its end."""


def _compared(true: Deed | None, told: Deed | None, sides: _Sides) -> Iterator[Finding]:
    if true is None:
        if told is not None and told.result is not None and told.result.outcome in ("ok", "unrecorded"):
            yield _invented(told, sides)
        return
    if told is None:
        yield _not_logged(true, sides)
        return
    if not same_arguments(true.call, told.call) and not told.call.hidden:
        sentence = f"the world received {true.call.tool} with other arguments than the log tells"
        values = (f"world: {_shown(true.call)}", f"log: {_shown(told.call)}")
        yield _finding("ARGUMENTS_CHANGED", sentence, told.call, true.call, sides, values=values)
    if true.result is not None and told.result is not None:
        yield from _results(true.call, true.result, told.call, told.result, sides)


def _invented(told: Deed, sides: _Sides) -> Finding:
    sentence = f"the log has a call of {told.call.tool} with a result, and the world never saw it"
    verdict: Verdict = "inconclusive" if sides.is_cut else "violated"
    missing = ("the record of the world was cut off, and may lack it",) if sides.is_cut else ()
    return _finding("CALL_INVENTED", sentence, told.call, None, sides, verdict=verdict, missing=missing)


def _not_logged(true: Deed, sides: _Sides) -> Finding:
    sentence = f"the world carried out a call of {true.call.tool} that the log does not have"
    verdict: Verdict = "inconclusive" if sides.hides is not None else "violated"
    missing = (f"a gap may hide it: {sides.hides.reason or 'no reason given'}",) if sides.hides is not None else ()
    return _finding("CALL_NOT_LOGGED", sentence, None, true.call, sides, verdict=verdict, missing=missing)


def _results(
    true_call: ToolCall, true: ToolResult, told_call: ToolCall, told: ToolResult, sides: _Sides
) -> Iterator[Finding]:
    if true.outcome != "ok" and told.outcome == "ok":
        sentence = f"the log says that {told_call.tool} succeeded, and the world's reply was `{true.outcome}`"
        yield _finding("SUCCESS_INVENTED", sentence, told_call, true_call, sides)
    elif true.outcome == "ok" and told.outcome in ("failed", "denied"):
        sentence = f"the log says that {told_call.tool} was {told.outcome}, and the world carried it out"
        yield _finding("RESULT_CHANGED", sentence, told_call, true_call, sides)
    if told.hidden or _equal(true, told):
        return
    sent, read = _text(true), _text(told)
    values = _differences(true, told) or (f"world: {_cut(sent)}", f"log: {_cut(read)}")
    if sent.strip() and sent.strip() in read:
        sentence = f"the log has the result of {told_call.tool} with text around it that the world did not send"
        yield _finding("RESULT_WRAPPED", sentence, told_call, true_call, sides, values=values)
    else:
        sentence = f"the log has another result of {told_call.tool} than the world sent"
        yield _finding("RESULT_CHANGED", sentence, told_call, true_call, sides, values=values)


ERROR = "Error: "
"""What harnesses put in front of a result that an MCP server flags as an error."""


def _equal(true: ToolResult, told: ToolResult) -> bool:
    sent, read = _text(true).strip(), _text(told).strip()
    if sent == read or (true.outcome != "ok" and told.outcome != "ok" and read == f"{ERROR}{sent}"):
        return True
    a, b = _json(true), _json(told)
    return a is not _NONE and a == b


_NONE = object()


def _json(result: ToolResult) -> Any:
    """Return the content of a result as JSON, or `_NONE` where it is none."""
    try:
        return codec.loads(bytes(result.data) or result.text or "")
    except codec.Unreadable:
        return _NONE


def _text(result: ToolResult) -> str:
    if result.text is not None:
        return result.text
    value = _json(result)
    return value if isinstance(value, str) else bytes(result.data).decode("utf-8", "replace")


def _differences(true: ToolResult, told: ToolResult) -> tuple[str, ...]:
    """Return the first places in which two JSON contents differ; none where one of them is no JSON."""
    a, b = _json(true), _json(told)
    if a is _NONE or b is _NONE or type(a) is not type(b):
        return ()
    found = [f"{place}: world {_value(old)}, log {_value(new)}" for place, old, new in changes(a, b)]
    return (*found[:3], f"{len(found) - 3} more") if len(found) > 3 else tuple(found)


def _value(value: Any) -> str:
    return "nothing" if value is ABSENT else _cut(codec.encode(value).decode(), 60)


def _shown(call: ToolCall) -> str:
    return _cut(bytes(call.args).decode("utf-8", "replace") if call.args_raw is None else call.args_raw)


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _finding(
    rule: str,
    sentence: str,
    told: ToolCall | None,
    true: ToolCall | None,
    sides: _Sides,
    *,
    verdict: Verdict = "violated",
    values: tuple[str, ...] = (),
    missing: tuple[str, ...] = (),
) -> Finding:
    witness = tuple(
        Witness(seq=call.seq, note=note, type="tool.call", quote=f"call {call.tool} {_shown(call)}")
        for call, note in ((told, "in the log"), (true, "in the world's record"))
        if call is not None
    )
    place = told or true
    assert place is not None
    name = f"{rule}\0{sides.trace}\0{place.tool}\0{place.call_id or place.seq}\0{sentence}"
    return Finding(
        rule=rule,
        level=RULES[rule][0],
        cls=CLASS,
        verdict=verdict,
        reason="hidden-evidence" if verdict == "inconclusive" else "",
        message=sentence,
        sentence=sentence,
        trace=sides.trace,
        seq=None if told is None else told.seq,
        event=None if told is None else sides.order.get(told.seq),
        of=len(sides.order),
        place=Place(source=sides.source) if sides.source else None,
        turn=place.turn,
        agent=place.agent,
        call_id=place.call_id,
        values=values,
        missing=missing,
        witness=witness,
        contract="world",
        fingerprint=sha256(name.encode()).hexdigest()[:16],
    )

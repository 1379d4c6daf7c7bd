"""Which call of an agent's log is which call of the world's record.

Equal ids of the same tool are one call. Where the log has ids of its own (an MCP server is told none), calls of a tool
are paired in order, those with equal arguments first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from outstep import codec
from outstep.contracts.names import normal_form
from outstep.events import Event, Header, ToolCall, ToolResult


class Deed(Struct, frozen=True):
    """A call and its result, as one side has them."""

    call: ToolCall
    result: ToolResult | None


def deeds(events: Iterable[Event | Header], tools: Sequence[str]) -> list[Deed]:
    """Return the calls of some tools with their results; what other tools did is none of the world's business."""
    names = {normal_form(tool) for tool in tools}
    return [deed for deed in every_deed(events) if normal_form(deed.call.tool) in names]


def every_deed(events: Iterable[Event | Header]) -> list[Deed]:
    """Return all calls with their results, in the order of the calls."""
    calls: dict[int, ToolCall] = {}
    by_id: dict[tuple[str, str], list[int]] = {}
    results: dict[int, ToolResult] = {}
    for event in events:
        if isinstance(event, ToolCall):
            calls[event.seq] = event
            by_id.setdefault((event.agent, event.call_id), []).append(event.seq)
        elif isinstance(event, ToolResult):
            seq = event.call
            if seq is None:
                waiting = [one for one in by_id.get((event.agent, event.call_id), ()) if one not in results]
                seq = waiting[0] if waiting else None
            if seq is not None and seq not in results:
                results[seq] = event
    return [Deed(call, results.get(seq)) for seq, call in calls.items()]


def pairs(record: Sequence[Deed], log: Sequence[Deed]) -> list[tuple[Deed | None, Deed | None]]:
    """Return each call of both sides once, with its other half where there is one, in the order of the record."""
    left = list(range(len(log)))
    found: dict[int, int] = {}

    def pair(fits: object, at: int) -> None:
        for other in left:
            if callable(fits) and fits(record[at], log[other]):
                left.remove(other)
                found[at] = other
                return

    for fits in (_same_id, _same_arguments, _same_tool):
        for at in range(len(record)):
            if at not in found:
                pair(fits, at)
    both: list[tuple[Deed | None, Deed | None]] = [
        (deed, log[found[at]] if at in found else None) for at, deed in enumerate(record)
    ]
    return both + [(None, log[other]) for other in left]


def same_arguments(a: ToolCall, b: ToolCall) -> bool:
    """Return whether two calls have equal arguments, however they are written."""
    return _value(a) == _value(b)


def _value(call: ToolCall) -> object:
    if call.args_raw is not None:
        return call.args_raw
    return codec.loads(bytes(call.args)) if bytes(call.args) else {}


def _same_tool(a: Deed, b: Deed) -> bool:
    return normal_form(a.call.tool) == normal_form(b.call.tool)


def _same_id(a: Deed, b: Deed) -> bool:
    return bool(a.call.call_id) and a.call.call_id == b.call.call_id and _same_tool(a, b)


def _same_arguments(a: Deed, b: Deed) -> bool:
    return _same_tool(a, b) and same_arguments(a.call, b.call)

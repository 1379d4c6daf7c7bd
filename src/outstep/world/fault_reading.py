"""Reads the section `faults` of a world file or of a scenario; see `faults.py` for what it says."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

from outstep.contracts.fields import Fields
from outstep.contracts.located import Node, Scalar, Sequence, plain_value
from outstep.contracts.report import Report, Span
from outstep.world.cases import read_seconds
from outstep.world.expressions import Known, read_expression
from outstep.world.faults import KINDS, Fault, FaultKind

KEYS = ("tool", "kind", "on", "when", "share", "text", "at", "data", "seconds", "keep")
_TAKES: dict[str, tuple[str, ...]] = {
    "text": ("error", "business-failure", "timeout", "lost-reply", "injected", "honeytoken"),
    "at": ("injected", "honeytoken"),
    "data": ("business-failure", "wrong"),
    "seconds": ("timeout", "lost-reply", "latency"),
    "keep": ("truncated",),
}
_NEEDS: dict[str, str] = {"injected": "text", "honeytoken": "text", "wrong": "data", "latency": "seconds"}


def read_faults(
    node: Node | None, tools: tuple[str, ...], state: tuple[str, ...] | None, report: Report
) -> tuple[Fault, ...]:
    """Return the faults; mistakes go to the report. `state` names its members, none where they are not known."""
    if node is None:
        return ()
    if not isinstance(node, Sequence):
        report.error("value", "`faults` is a list", _visible(node), "write `faults: [{tool: …, kind: timeout, on: 1}]`")
        return ()
    found = (_fault(item, tools, state, number, report) for number, item in enumerate(node.items))
    return tuple(fault for fault in found if fault is not None)


def _fault(
    node: Node, tools: tuple[str, ...], state: tuple[str, ...] | None, number: int, report: Report
) -> Fault | None:
    fields = Fields(node, report, "a fault", KEYS)
    if fields.need("kind") is None:
        return None
    kind = cast(FaultKind, fields.choice("kind", KINDS, "error"))
    tool = fields.text("tool", "*")
    if tool != "*" and tools and tool not in tools:
        at = cast(Node, fields.get("tool"))
        report.unknown("unknown-tool", f"there is no tool `{tool}`", _visible(at), tool, list(tools))
    for key, kinds in _TAKES.items():
        if key in fields and kind not in kinds:
            report.error("value", f"a fault of the kind `{kind}` takes no `{key}`", fields.key(key))
    needed = _NEEDS.get(kind)
    if needed is not None:
        fields.need(needed, f"a fault of the kind `{kind}` has `{needed}`")
    when, data = fields.get("when"), fields.get("data")
    return Fault(
        kind=kind,
        tool=tool,
        on=_on(fields, report),
        when=None if when is None else read_expression(when, Known(state), report),
        share=_share(fields, report),
        text=fields.text("text"),
        at=fields.text("at"),
        data=None if data is None else plain_value(data),
        seconds=read_seconds(fields, report),
        keep=_count(fields, "keep", report),
        number=number,
    )


def _on(fields: Fields, report: Report) -> tuple[int, ...]:
    node = fields.get("on")
    if node is None:
        return ()
    items = node.items if isinstance(node, Sequence) else (node,)
    found: list[int] = []
    for item in items:
        if isinstance(item, Scalar) and item.kind == "int" and cast(int, item.value) > 0:
            found.append(cast(int, item.value))
        else:
            report.error("value", "`on` is the number of a call of the tool, from 1, or a list of them", _visible(item))
    return tuple(found)


def _share(fields: Fields, report: Report) -> Decimal | int | None:
    node = fields.get("share")
    if node is None:
        return None
    if isinstance(node, Scalar) and node.kind in ("int", "number") and 0 <= cast(Decimal, node.value) <= 1:
        return cast(Decimal, node.value)
    report.error("value", "`share` is a number from 0 to 1", _visible(node))
    return None


def _count(fields: Fields, key: str, report: Report) -> int | None:
    node = fields.get(key)
    if node is None:
        return None
    if isinstance(node, Scalar) and node.kind == "int" and cast(int, node.value) >= 0:
        return cast(int, node.value)
    report.error("value", f"`{key}` is a whole number from 0", _visible(node))
    return None


def _visible(node: Node) -> Span:
    return Span(node.file, node.start, max(node.end, node.start + 1))

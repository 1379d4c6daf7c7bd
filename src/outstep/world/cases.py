"""Reads the section `tools` of a world file; see `model.py` for what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast, get_args

from outstep.contracts.fields import Fields, entries
from outstep.contracts.fitting import mistake_in
from outstep.contracts.located import Mapping, Node, Scalar, Sequence, plain_value
from outstep.contracts.report import Report, Span
from outstep.contracts.schemas import check_schema
from outstep.scope.model import TargetKind
from outstep.world.expressions import Expr, Known, Shape, read_expression, read_shape
from outstep.world.model import Case, MockTool
from outstep.world.paths import Path, read_path
from outstep.world.tools import Outcome, Tool, any_arguments

KEYS = ("description", "effect", "targets", "args", "let", "key", "cases")
CASE_KEYS = ("when", "reply", "fail", "deny", "set", "remove", "seconds")
TARGETS: tuple[str, ...] = get_args(TargetKind)
MOST = 500
_REPLIES: dict[str, Outcome] = {"reply": "ok", "fail": "failed", "deny": "denied"}


def read_tools(node: Node | None, state: tuple[str, ...], report: Report) -> tuple[MockTool, ...]:
    """Return the tools; mistakes go to the report."""
    found = tuple(_tool(name, value, state, report) for name, value in entries(node, report, "`tools`", MOST))
    if node is not None and not found and not report.failed:
        report.error("value", "`tools` names no tool", Span(node.file, node.start, max(node.end, node.start + 1)))
    return found


def _tool(name: Scalar, node: Node, state: tuple[str, ...], report: Report) -> MockTool:
    fields = Fields(node, report, f"the tool `{name.text}`", KEYS)
    schema = _schema(fields, report)
    known = Known(state, schema)
    lets: list[tuple[str, Expr]] = []
    for let, value in entries(fields.get("let"), report, "`let`", MOST):
        expr = read_expression(value, known, report)
        if expr is not None:
            lets.append((let.text, expr))
        known = Known(state, schema, (*known.lets, let.text))
    effect = fields.choice("effect", ("read", "write"), "read")
    key = fields.get("key")
    tool = Tool(
        name=name.text,
        description=fields.text("description"),
        parameters=schema,
        effect="write" if effect == "write" else "read",
        targets=_targets(fields, schema, report),
    )
    cases = tuple(_cases(fields, known, effect, report))
    return MockTool(
        tool=tool,
        lets=tuple(lets),
        key=None if key is None else read_expression(key, known, report),
        cases=cases,
    )


def _schema(fields: Fields, report: Report) -> dict[str, Any]:
    node = fields.get("args")
    if node is None:
        return any_arguments()
    if not isinstance(node, Mapping):
        report.error("value", "`args` is a JSON Schema", node.span, "write `args: {type: object, properties: {…}}`")
        return any_arguments()
    before = report.mistakes
    check_schema(node, report)
    schema = cast(dict[str, Any], plain_value(node))
    if report.mistakes == before and schema.get("type") != "object":
        report.error("value", "the arguments of a tool are an object", node.span, "add `type: object`")
    if report.mistakes == before and (told := mistake_in(schema)):
        report.error("value", told, node.span)
    return schema if report.mistakes == before else any_arguments()


def _targets(fields: Fields, schema: dict[str, Any], report: Report) -> dict[str, tuple[str, ...]]:
    node = fields.get("targets")
    if node is None:
        return {}
    inner = Fields(node, report, "`targets`", TARGETS)
    found = {kind: inner.texts(kind) for kind in inner}
    known = list(schema.get("properties", {}))
    for kind in inner:
        for name in inner.texts(kind):
            if known and name not in known:
                report.unknown("unknown-name", f"the tool has no argument `{name}`", inner.key(kind), name, known)
    return found


def _cases(fields: Fields, known: Known, effect: str, report: Report) -> Iterator[Case]:
    node = fields.need("cases", "write `cases: [{reply: …}]`")
    if node is None:
        return
    if not isinstance(node, Sequence) or not node.items:
        report.error("value", "`cases` is a list of at least one case", Span(node.file, node.start, node.start + 1))
        return
    open_end: Span | None = None
    for item in node.items:
        case = Fields(item, report, "a case", CASE_KEYS)
        if open_end is not None and case.span is not None:
            report.error("unreachable", "a case before this one fits every call", case.span, "give that one a `when`")
            open_end = None
        if case.span is not None and "when" not in case:
            open_end = case.span
        if effect == "read" and ("set" in case or "remove" in case):
            word = "set" if "set" in case else "remove"
            report.error("effect", f"a tool that only reads has `{word}`", case.key(word), "write `effect: write`")
        yield _case(case, known, report)
    if open_end is None and not report.failed:
        report.error(
            "no-last-case",
            f"{fields.what} has no answer where none of its cases fits",
            fields.key("cases"),
            "let its last case have no `when`",
        )


def _case(case: Fields, known: Known, report: Report) -> Case:
    when = case.get("when")
    given = [word for word in _REPLIES if word in case]
    if len(given) != 1 and case.span is not None:
        sentence = "a case has one of `reply`, `fail` and `deny`"
        if not given:
            sentence = "a case lacks `reply`, `fail` or `deny`"
        report.error(
            "value", sentence, case.key(given[1]) if given else case.span, "write `reply: null` for an empty one"
        )
    reply = Shape(None) if not given else read_shape(cast(Node, case.get(given[0])), known, report)
    return Case(
        when=None if when is None else read_expression(when, known, report),
        outcome=_REPLIES[given[0]] if given else "ok",
        reply=reply,
        set=tuple(_sets(case, known, report)),
        remove=tuple(_removals(case, known, report)),
        seconds=read_seconds(case, report) or 0.0,
    )


def _sets(case: Fields, known: Known, report: Report) -> Iterator[tuple[Path, Shape]]:
    for path, value in entries(case.get("set"), report, "`set`", MOST):
        place = read_path(path, known, report)
        shape = read_shape(value, known, report)
        if place is not None:
            yield place, shape


def _removals(case: Fields, known: Known, report: Report) -> Iterator[Path]:
    node = case.get("remove")
    if node is None:
        return
    for item in node.items if isinstance(node, Sequence) else (node,):
        if not isinstance(item, Scalar):
            report.error("value", "`remove` is a place in the state, or a list of them", item.span)
            continue
        place = read_path(item, known, report)
        if place is not None and len(place.steps) == 1:
            report.error("path", f"`{place.text}` is a member that the state always has", item.span)
        elif place is not None:
            yield place


def read_seconds(fields: Fields, report: Report) -> float | None:
    """Return a number of seconds from 0 to a day."""
    node = fields.get("seconds")
    if node is None:
        return None
    if isinstance(node, Scalar) and node.kind in ("int", "number") and 0 <= cast(int, node.value) <= 86_400:
        return float(cast(int, node.value))
    report.error(
        "value", "`seconds` is a number from 0 to 86400", Span(node.file, node.start, max(node.end, node.start + 1))
    )
    return None

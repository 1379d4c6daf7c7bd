"""From the text of a world file to a checked world, or to every mistake in it at once.

docs: docs/worlds.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from outstep.contracts.fields import Fields, entries
from outstep.contracts.fitting import mistake_in
from outstep.contracts.located import Mapping, Node, Scalar, Sequence, decode, plain_value, read
from outstep.contracts.report import Report, Span
from outstep.contracts.schemas import check_schema
from outstep.errors import OutstepError, Problem
from outstep.expr.times import read_moment
from outstep.world.cases import read_tools
from outstep.world.fault_reading import read_faults
from outstep.world.model import SCHEMA, Machine, WorldFile

KEYS = ("world", "id", "title", "description", "clock", "state", "schema", "machines", "tools", "faults")
MOST = 500
"""Tools or machines of one world."""


def load(data: bytes, *, name: str = "world.yaml") -> tuple[WorldFile, tuple[Problem, ...]]:
    """Return a world and its warnings from the bytes of a file that messages call `name`; raises `OutstepError`."""
    report = Report("world")
    file = decode(data, name, 0, report)
    root = None if file is None else read(file, report)
    if file is not None and root is None and not report.failed:
        report.error("empty", f"`{name}` holds nothing", Span(file, 0, 1), f"begin it with `world: {SCHEMA}`")
    world = None if root is None else _world(root, report)
    problems = report.problems("error")
    if problems or world is None:
        raise OutstepError(*problems)
    return world, report.problems("warning")


def _world(root: Node, report: Report) -> WorldFile:
    fields = Fields(root, report, "a world", KEYS, own="x-")
    _check_schema_name(fields, report)
    state = _state(fields, report)
    schema = _schema(fields, report)
    names = tuple(state)
    tools = read_tools(fields.get("tools"), names, report) if fields.need("tools", "a world has tools") else ()
    if schema is not None and not report.failed:
        _hold_schema(state, schema, fields, report)
    return WorldFile(
        id=fields.text("id"),
        source=root.file.name,
        title=fields.text("title"),
        clock=_clock(fields, report),
        state=state,
        schema=schema,
        machines=tuple(_machines(fields, state, report)),
        tools=tools,
        faults=read_faults(fields.get("faults"), tuple(mock.tool.name for mock in tools), names, report),
    )


def _check_schema_name(fields: Fields, report: Report) -> None:
    node = fields.need("world", f"write `world: {SCHEMA}`")
    if node is None or (isinstance(node, Scalar) and node.text == SCHEMA):
        return
    shown = f", not `{node.text}`" if isinstance(node, Scalar) else ""
    report.error("schema", f"`world` is `{SCHEMA}`{shown}", visible(node))


def _state(fields: Fields, report: Report) -> dict[str, Any]:
    node = fields.get("state")
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        report.error("value", "`state` is a map", visible(node), "write `state: {orders: {…}}`")
        return {}
    return cast(dict[str, Any], plain_value(node))


def _schema(fields: Fields, report: Report) -> dict[str, Any] | None:
    node = fields.get("schema")
    if node is None:
        return None
    before = report.mistakes
    if not isinstance(node, Mapping):
        report.error("value", "a JSON Schema is a map here", visible(node))
        return None
    check_schema(node, report)
    schema = cast(dict[str, Any], plain_value(node))
    if report.mistakes == before and (told := mistake_in(schema)):
        report.error("value", told, node.span)
    return schema if report.mistakes == before else None


def _hold_schema(state: dict[str, Any], schema: dict[str, Any], fields: Fields, report: Report) -> None:
    from outstep.world.arguments import misfit

    if sentence := misfit(state, schema):
        where = fields.get("state") or fields.get("schema")
        assert where is not None
        report.error("state", f"`state` does not fit `schema`: {sentence}", visible(where))


def _clock(fields: Fields, report: Report) -> float:
    node = fields.get("clock")
    if node is None:
        return 0.0
    try:
        return read_moment(node.text if isinstance(node, Scalar) else "").nanos / 1e9
    except ValueError:
        help = "write `clock: 2026-03-02T09:00:00Z`"
        report.error("value", "`clock` is a moment as RFC 3339 has it", visible(node), help)
        return 0.0


def _machines(fields: Fields, state: dict[str, Any], report: Report) -> Iterator[Machine]:
    for name, node in entries(fields.get("machines"), report, "`machines`", MOST):
        inner = Fields(node, report, f"the machine `{name.text}`", ("of", "field", "moves"))
        of, field, moves = inner.need("of"), inner.need("field"), inner.need("moves")
        if not (isinstance(of, Scalar) and isinstance(field, Scalar) and moves is not None):
            continue
        if not isinstance(state.get(of.text), dict):
            sentence = f"`state` has no map `{of.text}` of entities"
            maps = [key for key, value in state.items() if isinstance(value, dict)]
            report.unknown("unknown-name", sentence, of.span, of.text, maps)
            continue
        allowed = {
            old.text: tuple(_words(news, report))
            for old, news in entries(moves, report, f"`moves` of `{name.text}`", MOST)
        }
        _check_moves(moves, allowed, state[of.text], field.text, report)
        yield Machine(name=name.text, of=of.text, field=field.text, moves=allowed)


def _words(node: Node, report: Report) -> Iterator[str]:
    for item in node.items if isinstance(node, Sequence) else (node,):
        if isinstance(item, Scalar) and item.kind != "null":
            yield item.text
        else:
            report.error("value", "a state is a word", visible(item))


def _check_moves(
    node: Node, moves: dict[str, tuple[str, ...]], entities: dict[str, Any], field: str, report: Report
) -> None:
    """Report states that no entity has and no move leads to: most often a typing mistake."""
    known = {one[field] for one in entities.values() if isinstance(one, dict) and isinstance(one.get(field), str)}
    known |= {word for words in moves.values() for word in words}
    for old, _ in node.entries if isinstance(node, Mapping) else ():
        if old.text not in known:
            sentence = f"nothing is or becomes `{old.text}`"
            report.unknown("unknown-name", sentence, old.span, old.text, sorted(known))


def visible(node: Node) -> Span:
    """Return where a value stands, at least one character of it."""
    return Span(node.file, node.start, max(node.end, node.start + 1))

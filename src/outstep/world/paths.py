"""Places in the state: `orders[args.orderId].state`, read as CEL and followed step by step."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from typing import Any

from msgspec import Struct

from outstep.contracts.located import Scalar
from outstep.contracts.positions import part
from outstep.contracts.report import Report
from outstep.errors import OutstepError, Place, Problem
from outstep.expr import nodes
from outstep.expr.lex import ExprError
from outstep.expr.parse import parse
from outstep.expr.values import Value
from outstep.world.expressions import Expr, Known, check_expression, value_of


class Path(Struct, frozen=True):
    """Steps from the state to one place in it: names of members, and expressions that give a name or an index."""

    text: str
    steps: tuple[str | Expr, ...]
    place: Place


def read_path(node: Scalar, known: Known, report: Report) -> Path | None:
    """Return the path in a text; mistakes go to the report."""
    help = "write members of the state: `orders[args.orderId].state`"
    try:
        tree = parse(node.text)
    except ExprError as error:
        report.error("path", error.sentence, part(node, error.at, error.end), help)
        return None
    line, column = node.file.line_column(node.start)
    place = Place(source=node.file.name, line=line, column=column)
    steps: list[str | Expr] = []
    while not isinstance(tree, nodes.Name):
        if isinstance(tree, nodes.Select) and not tree.optional:
            steps.append(tree.field)
            tree = tree.operand
        elif isinstance(tree, nodes.Index) and not tree.optional:
            check_expression(tree.index, node, known, report)
            steps.append(Expr(node.text[tree.index.at : tree.index.end], tree.index, place))
            tree = tree.operand
        else:
            report.error("path", f"`{node.text}` is no place in the state", node.span, help)
            return None
    if tree.name == "state" and steps:
        sentence = f"`{node.text}` begins with `state`, which every path does"
        report.error("path", sentence, node.span, "leave out `state.`")
        return None
    members = list(known.state or ())
    if tree.name not in members:
        span = part(node, tree.at, tree.end)
        report.unknown("unknown-name", f"the state has no `{tree.name}`", span, tree.name, members)
        return None
    return Path(node.text, (tree.name, *reversed(steps)), place)


def put(state: Any, path: Path, value: Any, values: MappingOf[str, Value]) -> Any:
    """Return the state with another value at a path; raises `OutstepError` where nothing leads there."""
    return _changed(state, _keys(path, values), path, lambda _: value)


def removed(state: Any, path: Path, values: MappingOf[str, Value]) -> Any:
    """Return the state without what stands at a path."""
    *above, last = _keys(path, values)

    def without(parent: Any) -> Any:
        if isinstance(parent, dict):
            return {key: item for key, item in parent.items() if key != last}
        if isinstance(parent, list) and _is_index(last, parent):
            return [item for at, item in enumerate(parent) if at != last]
        raise _leads_nowhere(path, last)

    return _changed(state, above, path, without)


def _keys(path: Path, values: MappingOf[str, Value]) -> list[Any]:
    return [step if isinstance(step, str) else value_of(step, values) for step in path.steps]


def _changed(value: Any, keys: list[Any], path: Path, change: Any) -> Any:
    if not keys:
        return change(value)
    key, rest = keys[0], keys[1:]
    if isinstance(value, dict) and isinstance(key, str) and (key in value or not rest):
        return {**value, key: _changed(value.get(key), rest, path, change)}
    if isinstance(value, list) and _is_index(key, value):
        return [_changed(item, rest, path, change) if at == key else item for at, item in enumerate(value)]
    raise _leads_nowhere(path, key)


def _is_index(key: Any, value: list[Any]) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(value)


def _leads_nowhere(path: Path, key: Any) -> OutstepError:
    return OutstepError(
        Problem(
            code="world/no-place",
            sentence=f"`{path.text}` leads nowhere: there is no `{key}` to go through",
            place=path.place,
            help="add a case before it for calls that name nothing known",
        )
    )

"""CEL in world files: read with its place, checked against what a tool knows, evaluated exactly.

docs: docs/worlds.md#expressions
"""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from typing import Any

from msgspec import Struct

from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.positions import part
from outstep.contracts.report import Report, Span
from outstep.contracts.schemas import argument_kinds, strange_member
from outstep.errors import OutstepError, Place, Problem
from outstep.expr import nodes
from outstep.expr.check import Scope, check
from outstep.expr.evaluate import evaluate
from outstep.expr.lex import ExprError
from outstep.expr.parse import parse
from outstep.expr.times import duration_text, moment_text
from outstep.expr.values import Duration, Hidden, Maybe, Missing, Moment, TooCostly, Value

NAMES = ("args", "state", "now", "call")


class Expr(Struct, frozen=True):
    """A checked expression, and where it stands."""

    text: str
    node: nodes.Node
    place: Place


class Shape(Struct, frozen=True):
    """A value of a file whose texts are expressions: a list or a map of shapes, an expression, or a plain value."""

    value: Any
    """A tuple of shapes, a dict of them, an `Expr`, or a JSON value."""


class Known(Struct, frozen=True):
    """What can be asked for in the expressions of one tool."""

    state: tuple[str, ...] | None
    """Members of the state; none where they are not known."""
    schema: Any = None
    """Of the arguments."""
    lets: tuple[str, ...] = ()


class Values:
    """The names of one call."""

    def __init__(self, values: MappingOf[str, Value]) -> None:
        self._values = values

    def lookup(self, name: str) -> Value:
        """Return the value of a name."""
        return self._values[name]

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        """Answer no function: there are no facts in a world."""
        del name, args
        return NotImplemented


def read_expression(node: Node, known: Known, report: Report) -> Expr | None:
    """Return the expression in a value, checked; every mistake goes to the report."""
    if not isinstance(node, Scalar) or node.kind == "null":
        shape = "a map" if isinstance(node, Mapping) else "a list" if isinstance(node, Sequence) else "nothing"
        report.error("value", f"an expression is expected here, not {shape}", _visible(node))
        return None
    text = node.text
    if node.kind == "bool":
        text = "true" if node.value else "false"
    try:
        tree = parse(text)
    except ExprError as error:
        report.error(error.code, error.sentence, part(node, error.at, error.end), error.help)
        return None
    check_expression(tree, node, known, report)
    line, column = node.file.line_column(node.start)
    return Expr(text, tree, Place(source=node.file.name, line=line, column=column))


def check_expression(tree: nodes.Node, node: Scalar, known: Known, report: Report) -> None:
    """Report every name, member, function and type that cannot be right in an expression that stands in `node`."""
    kinds = argument_kinds([known.schema], ("args",)) if isinstance(known.schema, dict) else {}
    for error in check(tree, Scope((*NAMES, *known.lets), {}, kinds)):
        help = error.help
        if error.code == "unknown-name" and node.text.isidentifier():
            help = help or f"text inside an expression has quotes of its own: '\"{node.text}\"'"
        report.error(error.code, error.sentence, part(node, error.at, error.end), help)
    _check_members(tree, node, known, report)


def read_shape(node: Node, known: Known, report: Report) -> Shape:
    """Return a value whose texts are expressions."""
    if isinstance(node, Mapping):
        return Shape({key.text: read_shape(value, known, report) for key, value in node.entries})
    if isinstance(node, Sequence):
        return Shape(tuple(read_shape(item, known, report) for item in node.items))
    if node.kind != "text":
        return Shape(node.value)
    return Shape(read_expression(node, known, report))


def value_of(expr: Expr, values: MappingOf[str, Value]) -> Any:
    """Return what an expression gives as JSON; raises `OutstepError` where it gives nothing."""
    try:
        found = evaluate(expr.node, Values(values))
    except TooCostly as error:
        raise _without_value(expr, str(error)) from None
    if isinstance(found, Missing | Hidden):
        raise _without_value(expr, found.reason)
    return _plain(found)


def is_true(expr: Expr, values: MappingOf[str, Value]) -> bool:
    """Return whether a condition holds; an absent member is null. Raises `OutstepError` where it gives no truth."""
    try:
        found = evaluate(expr.node, Values(values), "null")
    except TooCostly as error:
        raise _without_value(expr, str(error)) from None
    if found is True or found is False:
        return found
    raise _without_value(expr, found.reason if isinstance(found, Missing | Hidden) else "it gives no truth value")


def shaped(shape: Shape, values: MappingOf[str, Value]) -> Any:
    """Return a value with its expressions worked out."""
    inner = shape.value
    if isinstance(inner, Expr):
        return value_of(inner, values)
    if isinstance(inner, dict):
        return {name: shaped(item, values) for name, item in inner.items()}
    if isinstance(inner, tuple):
        return [shaped(item, values) for item in inner]
    return inner


def _plain(value: Value) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Moment):
        return moment_text(value)
    if isinstance(value, Duration):
        return duration_text(value)
    if isinstance(value, Maybe):
        return _plain(value.value) if value.present else None
    return value


def _without_value(expr: Expr, reason: str) -> OutstepError:
    return OutstepError(
        Problem(
            code="world/no-value",
            sentence=f"`{expr.text}` gives no value: {reason}",
            place=expr.place,
            help="the world must answer every call: add a case that comes before it, or `.orValue(…)`",
        )
    )


def _check_members(tree: nodes.Node, node: Scalar, known: Known, report: Report) -> None:
    """Report members of the state and of the arguments that nobody declares."""
    for one in nodes.walk(tree):
        if not isinstance(one, nodes.Select) or one.optional or not isinstance(one.operand, nodes.Name):
            continue
        span = part(node, one.at, one.end)
        if one.operand.name == "state" and known.state is not None and one.field not in known.state:
            sentence = f"the state has no `{one.field}`"
            report.unknown("unknown-name", sentence, span, one.field, list(known.state))
        elif one.operand.name == "args":
            strange = strange_member((known.schema,), (one.field,))
            if strange is not None:
                sentence = f"the tool has no argument `{one.field}`"
                report.unknown("unknown-name", sentence, span, one.field, list(strange.known))


def _visible(node: Node) -> Span:
    return Span(node.file, node.start, max(node.end, node.start + 1))

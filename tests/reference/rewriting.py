"""Expressions that stay decided where a gap hides a value but not that there is one (SEMANTICS section 7)."""

from __future__ import annotations

from outstep.expr.nodes import (
    And,
    Binary,
    Call,
    Cond,
    Has,
    Index,
    ListOf,
    Macro,
    MapOf,
    Name,
    Node,
    Or,
    Select,
    Unary,
)
from outstep.expr.nodes import Literal as Constant

HOLDS = "\0"
"""Before the name of a fact: whether it was ever written."""


def rewritten(node: Node, sure: dict[str, bool]) -> Node:
    """Return an expression in which `f != null` asks whether the fact was ever written, where that is the same.

    `sure` holds the facts whose value is never null nor missing, and whether they are kept by key.
    """
    return _rewrite(node, sure)


def _rewrite(node: Node, sure: dict[str, bool]) -> Node:
    if isinstance(node, Binary) and node.op in ("==", "!="):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(other, Constant) and other.constant is None:
                asked = _asked(side, sure)
                if asked is not None:
                    return asked if node.op == "!=" else Unary(node.at, node.end, "!", asked)
    return _with_parts(node, sure)


def _asked(side: Node, sure: dict[str, bool]) -> Node | None:
    if isinstance(side, Name) and sure.get(side.name) is False:
        return Name(side.at, side.end, HOLDS + side.name)
    if isinstance(side, Index) and isinstance(side.operand, Name) and sure.get(side.operand.name) and not side.optional:
        return Binary(side.at, side.end, "in", _rewrite(side.index, sure), side.operand)
    if (
        isinstance(side, Select)
        and isinstance(side.operand, Name)
        and sure.get(side.operand.name)
        and not side.optional
    ):
        return Binary(side.at, side.end, "in", Constant(side.at, side.end, side.field), side.operand)
    return None


def _with_parts(node: Node, sure: dict[str, bool]) -> Node:
    def on(part: Node) -> Node:
        return _rewrite(part, sure)

    if isinstance(node, And | Or):
        return type(node)(node.at, node.end, tuple(map(on, node.terms)))
    if isinstance(node, Binary):
        return Binary(node.at, node.end, node.op, on(node.left), on(node.right))
    if isinstance(node, Unary):
        return Unary(node.at, node.end, node.op, on(node.operand))
    if isinstance(node, Cond):
        return Cond(node.at, node.end, on(node.condition), on(node.then), on(node.other))
    if isinstance(node, Select):
        return Select(node.at, node.end, on(node.operand), node.field, node.optional)
    if isinstance(node, Index):
        return Index(node.at, node.end, on(node.operand), on(node.index), node.optional)
    if isinstance(node, Call):
        target = None if node.target is None else on(node.target)
        return Call(node.at, node.end, node.function, target, tuple(map(on, node.args)))
    if isinstance(node, ListOf):
        return ListOf(node.at, node.end, tuple(map(on, node.items)), node.optional)
    if isinstance(node, MapOf):
        return MapOf(node.at, node.end, tuple((on(key), on(value)) for key, value in node.entries), node.optional)
    if isinstance(node, Macro):
        inner = {name: keyed for name, keyed in sure.items() if name not in node.variables}
        body = tuple(_rewrite(part, inner) for part in node.body)
        return Macro(node.at, node.end, node.name, on(node.target), node.variables, body)
    assert isinstance(node, Constant | Name | Has)
    return node

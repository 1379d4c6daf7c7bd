"""Why an expression does not hold, in the values that were compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outstep.contracts.selectors import Expr
from outstep.expr.evaluate import evaluate
from outstep.expr.nodes import And, Binary, Cond, Node, Or
from outstep.expr.values import Hidden, Missing, TooCostly, show

if TYPE_CHECKING:
    from outstep.engine.views import View

_OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!=", "!=": "=="}


def comparisons(expr: Expr, view: View) -> tuple[str, ...]:
    """Return the comparisons of an expression that are false, with the values seen: `3500 > 3000`."""
    found: list[str] = []
    for node in _leaves(expr.node):
        if isinstance(node, Binary) and node.op in _OPPOSITE and _value(node, view) is False:
            left, right = _value(node.left, view), _value(node.right, view)
            if not isinstance(left, Missing | Hidden) and not isinstance(right, Missing | Hidden):
                found.append(f"{show(left)} {_OPPOSITE[node.op]} {show(right)}")
    return tuple(dict.fromkeys(found))


def _leaves(node: Node) -> Iterator[Node]:
    if isinstance(node, And | Or):
        for term in node.terms:
            yield from _leaves(term)
    elif isinstance(node, Cond):
        yield from _leaves(node.then)
        yield from _leaves(node.other)
    else:
        yield node


def _value(node: Node, view: View) -> Any:
    try:
        return evaluate(node, view, "missing")
    except TooCostly as error:
        return Missing(str(error))

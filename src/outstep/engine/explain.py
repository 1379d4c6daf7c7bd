"""Why an expression does not hold, in the values that were compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outstep.contracts.selectors import Expr
from outstep.expr.evaluate import evaluate
from outstep.expr.nodes import And, Binary, Cond, Index, Name, Node, Or, walk
from outstep.expr.values import Hidden, Missing, TooCostly, is_lookup, show

if TYPE_CHECKING:
    from outstep.engine.run import Run
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


def absent_facts(run: Run, expr: Expr, view: View) -> tuple[str, ...]:
    """Return the facts that an expression reads and that have no entry here, each with what would have recorded it."""
    found: dict[str, None] = {}
    todo = [expr.node]
    seen: set[str] = set()
    while todo:
        for node in walk(todo.pop()):
            if isinstance(node, Index) and isinstance(node.operand, Name):
                sentence = _absent_entry(run, node.operand.name, node.index, view)
                if sentence:
                    found[sentence] = None
            elif isinstance(node, Name) and node.name not in seen:
                seen.add(node.name)
                if node.name in view.let:
                    todo.append(view.let[node.name].node)
                elif _is_absent(run, node.name, view):
                    found[f"`{node.name}`: no {_writers(run, node.name)} is known here"] = None
    return tuple(found)


def _absent_entry(run: Run, name: str, index: Node, view: View) -> str:
    if name not in run.plan.facts or name in view.let:
        return ""
    key = _value(index, view)
    if isinstance(key, Missing | Hidden):
        return ""
    facts = view.lookup(name)
    if not is_lookup(facts) or facts.holds(key) is not False:
        return ""
    return f"`{name}[{show(key)}]`: no {_writers(run, name)} for it is known here"


def _is_absent(run: Run, name: str, view: View) -> bool:
    index = run.plan.facts.get(name)
    return index is not None and not run.contract.facts[index].keyed and view.lookup(name) is None


def _writers(run: Run, name: str) -> str:
    fact = run.contract.facts[run.plan.facts[name]]
    texts = dict.fromkeys(selector.text for source in fact.sources for selector in source.selectors)
    return " or ".join(f"`{text}`" for text in texts)


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

"""The exact meaning of an expression: four values, as SEMANTICS section 4 has them.

This is the reference: compiled code may give up, but never give something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from outstep.expr import arithmetic
from outstep.expr.calls import Calls
from outstep.expr.core import ABSENT, CONTAINERS, UNDECIDED, Env, cost_of, first_undecided, folded, named
from outstep.expr.macros import Macros
from outstep.expr.members import KEYS, Members
from outstep.expr.nodes import And, Binary, Call, Cond, Has, Index, ListOf, Macro, MapOf, Name, Node, Or, Select, Unary
from outstep.expr.nodes import Literal as Constant
from outstep.expr.values import (
    Absent,
    CutText,
    Hidden,
    Maybe,
    Missing,
    TooCostly,
    Undecided,
    Value,
    compare,
    equal,
    hidden_within,
    is_lookup,
    key_of,
    show,
    visible,
    word,
)

__all__ = ["LIMIT", "Absent", "Env", "evaluate"]

LIMIT = 1_000_000
"""Steps of one evaluation: nodes visited, elements passed, and each 256 characters read or produced."""


def evaluate(node: Node, env: Env, absent: Absent = "missing", limit: int = LIMIT) -> Value:
    """Return what an expression gives: a value, `Missing` or `Hidden`; raises `TooCostly`."""
    run = _Evaluation(env, absent == "null", limit)
    try:
        return run.value(node)
    except RecursionError:
        raise TooCostly("the values are nested too deeply") from None


_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "/": arithmetic.divide,
    "%": arithmetic.remainder,
}
_ORDERS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


class _Evaluation(Members, Calls, Macros):
    """All parts together, with the operators."""

    def conjunction(self, node: And) -> Value:
        return folded((self.truth(term) for term in node.terms), False)

    def disjunction(self, node: Or) -> Value:
        return folded((self.truth(term) for term in node.terms), True)

    def cond(self, node: Cond) -> Value:
        truth = self.truth(node.condition)
        if truth is True:
            return self.raw(node.then)
        return self.raw(node.other) if truth is False else truth

    def unary(self, node: Unary) -> Value:
        if node.op == "!":
            truth = self.truth(node.operand)
            return truth if type(truth) in UNDECIDED else not truth
        value = self.value(node.operand)
        return value if type(value) in UNDECIDED else self.attempt(node, arithmetic.negate, value)

    def binary(self, node: Binary) -> Value:
        a = self.raw(node.left)
        b = self.raw(node.right)
        undecided = first_undecided([a, b])
        if undecided is not None and not (node.op in ("==", "!=") and _is_comparable(a, b)):
            return undecided
        if node.op == "in":
            return self._in(node, a, b)
        a = None if a is ABSENT else a
        b = None if b is ABSENT else b
        if node.op in ("==", "!="):
            same = self._equal(a, b)
            return same if type(same) in UNDECIDED else same is (node.op == "==")
        if type(a) is CutText or type(b) is CutText:
            result = self._ordinary(node, visible(a), visible(b))
            return result if type(result) is Missing else Hidden(f"{named(node)}: the text is cut")
        return self._ordinary(node, a, b)

    def _ordinary(self, node: Binary, a: Value, b: Value) -> Value:
        if node.op in _ARITHMETIC:
            return self.attempt(node, _ARITHMETIC[node.op], a, b)
        order = compare(a, b)
        if order is None:
            return Missing(f"{named(node)}: no order between {word(a)} and {word(b)}")
        return _ORDERS[node.op](order)

    def _equal(self, a: Value, b: Value) -> Value:
        if type(a) in CONTAINERS or type(b) in CONTAINERS:
            self.spend(min(cost_of(a, self.left), cost_of(b, self.left)))
        try:
            return equal(a, b)
        except Undecided as undecided:
            return Missing(str(undecided))

    def _in(self, node: Binary, item: Value, box: Value) -> Value:
        if box is ABSENT or (item is ABSENT and type(box) is dict):
            return False  # absent-null
        item = None if item is ABSENT else item
        if type(box) is list:
            self.spend(len(box))
            return folded((self._equal(item, other) for other in box), True)
        if type(box) is dict and type(item) in KEYS:
            return key_of(item) in box
        if type(box) is dict and type(item) is CutText:
            return Hidden(f"{named(node)}: the text is cut")
        if is_lookup(box):
            hidden = hidden_within(item)
            return self.attempt(node, box.holds, item) if hidden is None else hidden
        return Missing(f"{named(node)}: {word(item)} cannot be in {word(box)}")

    def list_of(self, node: ListOf) -> Value:
        items = [self.value(item) for item in node.items]
        undecided = first_undecided(items)
        if undecided is not None:
            return undecided
        kept: list[Value] = []
        for place, item in enumerate(items):
            if place not in node.optional:
                kept.append(item)
            elif type(item) is not Maybe:
                return Missing(f"{named(node)}: `?` needs an optional value, not {word(item)}")
            elif item.present:
                kept.append(item.value)
        return kept

    def map_of(self, node: MapOf) -> Value:
        keys = [self.value(key) for key, _ in node.entries]
        values = [self.value(value) for _, value in node.entries]
        undecided = first_undecided([*keys, *values])
        if undecided is not None:
            return undecided
        entries: dict[Any, Value] = {}
        for place, (key, value) in enumerate(zip(keys, values, strict=True)):
            if type(key) is CutText:
                return Hidden(f"{named(node)}: a key is cut")
            if type(key) not in (str, int, bool) or key_of(key) in entries:
                why = "stands there twice" if type(key) in (str, int, bool) else "is no key"
                return Missing(f"{named(node)}: {show(key)} {why}")
            if place in node.optional:
                if type(value) is not Maybe:
                    return Missing(f"{named(node)}: `?` needs an optional value, not {word(value)}")
                if not value.present:
                    continue
                value = value.value
            entries[key_of(key)] = value
        return entries


_Evaluation.handlers = {
    Constant: _Evaluation.constant,
    Name: _Evaluation.name,
    Select: _Evaluation.select,
    Index: _Evaluation.index,
    Has: _Evaluation.has,
    Call: _Evaluation.call,
    ListOf: _Evaluation.list_of,
    MapOf: _Evaluation.map_of,
    Unary: _Evaluation.unary,
    Binary: _Evaluation.binary,
    And: _Evaluation.conjunction,
    Or: _Evaluation.disjunction,
    Cond: _Evaluation.cond,
    Macro: _Evaluation.macro,
}


def _is_comparable(a: Value, b: Value) -> bool:
    """Return whether two operands can be told equal or not although one is hidden."""
    if type(a) is Hidden and type(b) is Hidden:
        return bool(a.placeholder and b.placeholder)
    return any(type(x) is Hidden and x.is_something and y is None for x, y in ((a, b), (b, a)))

"""What can be said of conditions before any event is read: whether some event could make all of them true.

Sound and not complete: "impossible" is said only where it is certain; everything else counts as possible. Two readings
of one expression at one event are one value, so an expression that is not understood is a value without a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, get_args

from msgspec import Struct

from outstep.digest import sha256
from outstep.expr.nodes import And, Binary, Call, Cond, Index, ListOf, Literal, Name, Node, Or, Select, Unary, walk
from outstep.expr.values import Hidden, Missing, TooCostly, Value, compare, equal

MOST_ALTERNATIVES = 128
"""Ways for a condition to be true that are looked at; a condition with more counts as possible."""

_STEPS = 10_000
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_ORDER: dict[str, frozenset[str]] = {
    "<": frozenset("<"),
    "<=": frozenset("<="),
    ">": frozenset(">"),
    ">=": frozenset(">="),
    "==": frozenset("="),
    "!=": frozenset("<>?"),
}
"""How two values may stand to each other for an operator to be true; `?` is for values without an order."""
_UNTRUE: dict[str, frozenset[str]] = {
    **{op: frozenset("<=>") - _ORDER[op] for op in ("<", "<=", ">", ">=")},
    "==": frozenset("<>?"),
    "!=": frozenset("="),
}
"""The same, for it to be false: an order between values without one is missing, not false."""


class Lets:
    """What names of `let` stand for; each is looked at once, however often and deep others use it."""

    def __init__(self, nodes: Mapping[str, Node] | None = None) -> None:
        self.nodes = nodes or {}
        self.shapes: dict[str, str] = {}
        self.ways: dict[tuple[str, bool], Ways | None] = {}
        self.sure: dict[str, bool | None] = {}


NO_LETS = Lets()


class Atom(Struct, frozen=True):
    """One thing that an expression says of one value."""

    term: Any
    """The shape of the value."""
    test: str
    """`is`, `not`, `in`, `out`, `stands` (to another value), or a comparison."""
    value: Any
    """A constant, a tuple of constants, or a set of orders."""


def impossible(conditions: Sequence[Node], lets: Lets, known: Sequence[Atom] = ()) -> bool:
    """Return whether certainly no event makes all of the conditions true, as far as `known` holds of it."""
    found = ways(conditions, lets, known)
    return found is not None and not found


def ways(conditions: Sequence[Node], lets: Lets, known: Sequence[Atom] = ()) -> Ways | None:
    """Return every way in which all conditions may be true at once; none where there are too many to tell."""
    found = alternatives(And(0, 0, tuple(conditions)), True, lets)
    return None if found is None else [way for atoms in found if _may_hold(way := (*known, *atoms))]


def exclude(one: Ways, other: Ways) -> bool:
    """Return whether certainly no event is true in a way of each of two conditions."""
    if not {atom.term for way in one for atom in way} & {atom.term for way in other for atom in way}:
        return False
    return not any(_may_hold((*left, *right)) for left in one for right in other)


def surely(node: Node, lets: Lets) -> bool | None:
    """Return the truth value that an expression has at every event, whatever is missing there; else none."""
    if isinstance(node, Name) and node.name in lets.nodes:
        if node.name not in lets.sure:
            lets.sure[node.name] = surely(lets.nodes[node.name], lets)
        return lets.sure[node.name]
    if isinstance(node, And | Or):
        deciding = isinstance(node, Or)
        found = [surely(term, lets) for term in node.terms]
        if deciding in found:
            return deciding
        return (not deciding) if found and None not in found else None
    if isinstance(node, Unary) and node.op == "!":
        inner = surely(node.operand, lets)
        return None if inner is None else not inner
    value = constant(node)
    return value if isinstance(value, bool) else None


def constant(node: Node) -> Value | Missing | Hidden:
    """Return the value of an expression that reads nothing; `Missing` where it reads something, or has none."""
    if isinstance(node, Literal):
        return node.constant
    if any(isinstance(part, Name) or (isinstance(part, Call) and part.function in _OF_THE_RUN) for part in walk(node)):
        return _UNREAD
    from outstep.expr.evaluate import evaluate

    try:
        return evaluate(node, _Nothing(), limit=_STEPS)
    except TooCostly:
        return _UNREAD


_OF_THE_RUN = frozenset(("known", "now"))
_UNREAD = Missing("it depends on the event")


class _Nothing:
    """Surroundings without names."""

    def lookup(self, name: str) -> Value:
        raise KeyError(name)

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        del name, args
        return NotImplemented


def shape(node: Node, lets: Lets) -> str:
    """Return what an expression is, wherever it stands and however it is spaced; names of `let` are looked through."""
    if isinstance(node, Name) and node.name in lets.nodes:
        if node.name not in lets.shapes:
            lets.shapes[node.name] = shape(lets.nodes[node.name], lets)
        return lets.shapes[node.name]
    parts: tuple[Any, ...]
    if isinstance(node, Literal):
        parts = ("value", type(node.constant).__name__, str(node.constant))
    elif isinstance(node, Select):
        parts = ("member", shape(node.operand, lets), shape(Literal(0, 0, node.field), lets), node.optional)
    elif isinstance(node, Index):
        parts = ("member", shape(node.operand, lets), shape(node.index, lets), node.optional)
    else:
        parts = (type(node).__name__, *(_part(getattr(node, name), lets) for name in _fields(type(node))))
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in ("at", "end"))  # type: ignore[attr-defined]


def _part(value: Any, lets: Lets) -> Any:
    if isinstance(value, tuple):
        return tuple(_part(item, lets) for item in value)
    return shape(value, lets) if isinstance(value, NODES) else value


NODES = get_args(Node)

Ways = list[tuple[Atom, ...]]


def alternatives(node: Node, truth: bool, lets: Lets) -> Ways | None:
    """Return the ways in which an expression comes to a truth value; none where there are too many."""
    if isinstance(node, Name) and node.name in lets.nodes:
        place = (node.name, truth)
        if place not in lets.ways:
            lets.ways[place] = alternatives(lets.nodes[node.name], truth, lets)
        return lets.ways[place]
    if isinstance(node, And | Or):
        parts = (alternatives(term, truth, lets) for term in node.terms)
        return _all_of(parts) if isinstance(node, And) == truth else _any_of(parts)
    if isinstance(node, Unary) and node.op == "!":
        return alternatives(node.operand, not truth, lets)
    if isinstance(node, Cond):
        ways = []
        for side, holds in ((node.then, True), (node.other, False)):
            both = (alternatives(node.condition, holds, lets), alternatives(side, truth, lets))
            ways.append(_all_of(iter(both)))
        return _any_of(iter(ways))
    value = constant(node)
    if not isinstance(value, Missing | Hidden):
        return [()] if value is truth else []
    atom = _compared(node, truth, lets) if isinstance(node, Binary) else None
    return [(atom or Atom(shape(node, lets), "is", truth),)]


def _all_of(parts: Iterable[Ways | None]) -> Ways | None:
    ways: Ways = [()]
    for part in parts:
        if part is None:
            return None
        if len(ways) * len(part) > MOST_ALTERNATIVES:
            return None
        ways = [_each_once((*left, *right)) for left, right in product(ways, part)]
    return ways


def _each_once(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
    # By their text: for Python, `1` and `true` are equal, and lists have no hash.
    return tuple({repr(atom): atom for atom in atoms}.values())


def _any_of(parts: Iterable[Ways | None]) -> Ways | None:
    ways: Ways = []
    for part in parts:
        if part is None or len(ways) + len(part) > MOST_ALTERNATIVES:
            return None
        ways += part
    return ways


def _compared(node: Binary, truth: bool, lets: Lets) -> Atom | None:
    op, left, right = node.op, node.left, node.right
    if op == "in":
        values = [constant(item) for item in right.items] if isinstance(right, ListOf) and not right.optional else None
        if values is None or any(isinstance(value, Missing | Hidden) for value in values):
            return None
        return Atom(shape(left, lets), "in" if truth else "out", tuple(values))
    if op not in _TURNED:
        return None
    here, there = constant(left), constant(right)
    if isinstance(there, Missing | Hidden) and not isinstance(here, Missing | Hidden):
        op, left, there = _TURNED[op], right, here
    if not isinstance(there, Missing | Hidden):
        return _with_constant(shape(left, lets), op, there, truth)
    one, other = shape(left, lets), shape(right, lets)
    orders = (_ORDER if truth else _UNTRUE)[op]
    if repr(other) < repr(one):
        one, other = other, one
        orders = frozenset(_MIRRORED[sign] for sign in orders)
    return Atom(("pair", one, other, one == other), "stands", orders)


_MIRRORED = {"<": ">", ">": "<", "=": "=", "?": "?"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _with_constant(term: Any, op: str, value: Any, truth: bool) -> Atom:
    op = op if truth else _OPPOSITE[op]
    return Atom(term, {"==": "is", "!=": "not"}.get(op, op), value)


def _may_hold(atoms: Iterable[Atom]) -> bool:
    """Return whether all atoms may hold at once: false only where those of one value contradict each other."""
    by_term: dict[Any, list[Atom]] = {}
    for atom in atoms:
        by_term.setdefault(atom.term, []).append(atom)
    return all(_may_hold_of_one(term, group) for term, group in by_term.items())


def _may_hold_of_one(term: Any, atoms: list[Atom]) -> bool:
    orders = frozenset("<=>?")
    if isinstance(term, tuple) and term[0] == "pair" and term[3]:
        orders = frozenset("=")  # a value stands to itself in one way only
    candidates: list[Any] | None = None
    for atom in atoms:
        if atom.test == "stands":
            orders &= atom.value
        elif atom.test in ("is", "in"):
            values = [atom.value] if atom.test == "is" else list(atom.value)
            candidates = values if candidates is None else [one for one in candidates if _among(one, values)]
    if not orders:
        return False
    rest = [atom for atom in atoms if atom.test not in ("is", "in", "stands")]
    if candidates is not None:
        return any(all(_allows(atom, one) for atom in rest) for one in candidates)
    return _have_room([atom for atom in rest if atom.test in _ORDER])


def _allows(atom: Atom, value: Any) -> bool:
    if atom.test == "not":
        return equal(value, atom.value) is not True
    if atom.test == "out":
        return not _among(value, atom.value)
    order = compare(value, atom.value)
    sign = "?" if order is None else "<" if order < 0 else ">" if order > 0 else "="
    return sign in _ORDER[atom.test]


def _among(value: Any, values: Sequence[Any]) -> bool:
    return any(equal(value, one) is True for one in values)


def _have_room(bounds: list[Atom]) -> bool:
    """Return whether a value may lie within bounds: each lower one below each upper one, all of one sort."""
    for one in bounds:
        for other in bounds:
            order = compare(one.value, other.value)
            if order is None:
                return False
            if one.test in (">", ">=") and other.test in ("<", "<="):
                is_sharp = one.test == ">" or other.test == "<"
                if order > 0 or (order == 0 and is_sharp):
                    return False
    return True

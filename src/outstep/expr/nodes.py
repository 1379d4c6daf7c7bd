"""The tree of one expression: plain data, so a checked contract can be kept as JSON and read back.

Every node carries `at` and `end`, the 0-based character offsets of its text in the expression.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal

from msgspec import Struct

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class Literal(Struct, frozen=True, tag="lit", tag_field="n", omit_defaults=True):
    """A constant as written."""

    at: int
    end: int
    value: bool | int | str | None = None
    number: str = ""
    """Exact text of a decimal, or of an int wider than 64 bits; then `value` is none."""

    @property
    def constant(self) -> bool | int | str | Decimal | None:
        """The value itself."""
        if not self.number:
            return self.value
        return int(self.number) if self.number.lstrip("-").isdigit() else Decimal(self.number)


class Name(Struct, frozen=True, tag="name", tag_field="n"):
    """A bound name: a fact, a field of the event, the variable of a macro."""

    at: int
    end: int
    name: str


class Select(Struct, frozen=True, tag="sel", tag_field="n", omit_defaults=True):
    """`operand.field`, or `operand.?field`."""

    at: int
    end: int
    operand: "Node"
    field: str
    optional: bool = False


class Index(Struct, frozen=True, tag="idx", tag_field="n", omit_defaults=True):
    """`operand[index]`, or `operand[?index]`."""

    at: int
    end: int
    operand: "Node"
    index: "Node"
    optional: bool = False


class Has(Struct, frozen=True, tag="has", tag_field="n"):
    """`has(a.b.c)`."""

    at: int
    end: int
    select: Select


class Call(Struct, frozen=True, tag="call", tag_field="n", omit_defaults=True):
    """`function(args)`, or with a target `target.function(args)`."""

    at: int
    end: int
    function: str
    target: "Node | None" = None
    args: "tuple[Node, ...]" = ()


class ListOf(Struct, frozen=True, tag="list", tag_field="n", omit_defaults=True):
    """`[a, b, ?c]`."""

    at: int
    end: int
    items: "tuple[Node, ...]" = ()
    optional: tuple[int, ...] = ()
    """Indices of the items marked with `?`: left out when they hold nothing."""


class MapOf(Struct, frozen=True, tag="map", tag_field="n", omit_defaults=True):
    """`{k: v, ?k: v}`."""

    at: int
    end: int
    entries: "tuple[tuple[Node, Node], ...]" = ()
    optional: tuple[int, ...] = ()


class Unary(Struct, frozen=True, tag="un", tag_field="n"):
    """`!a` or `-a`."""

    at: int
    end: int
    op: str
    operand: "Node"


class Binary(Struct, frozen=True, tag="bin", tag_field="n"):
    """`a op b` for `== != < <= > >= in + - * / %`."""

    at: int
    end: int
    op: str
    left: "Node"
    right: "Node"


class And(Struct, frozen=True, tag="and", tag_field="n"):
    """`a && b && c`, flat."""

    at: int
    end: int
    terms: "tuple[Node, ...]"


class Or(Struct, frozen=True, tag="or", tag_field="n"):
    """`a || b || c`, flat."""

    at: int
    end: int
    terms: "tuple[Node, ...]"


class Cond(Struct, frozen=True, tag="if", tag_field="n"):
    """`condition ? then : other`."""

    at: int
    end: int
    condition: "Node"
    then: "Node"
    other: "Node"


class Macro(Struct, frozen=True, tag="macro", tag_field="n"):
    """`target.name(variables…, body…)`: the variables are bound in the body only."""

    at: int
    end: int
    name: str
    """`all`, `exists`, `exists_one`, `map`, `filter`, `transformList`, `transformMap`, `optMap` or `optFlatMap`."""
    target: "Node"
    variables: tuple[str, ...]
    body: "tuple[Node, ...]"


Node = (
    Literal | Name | Select | Index | Has | Call | ListOf | MapOf | Unary | Binary | And | Or | Cond | Macro
)  # one tagged union: `msgspec.json.decode(data, type=Node)`


def _read_annotations() -> None:
    """Put what the annotations in quotes mean in their place: msgspec would compile each of them at every start."""
    many = tuple[Node, ...]
    meant: dict[str, object] = {
        "Node": Node,
        "Node | None": Node | None,
        "tuple[Node, ...]": many,
        "tuple[tuple[Node, Node], ...]": tuple[tuple[Node, Node], ...],
    }
    for made in (Select, Index, Call, ListOf, MapOf, Unary, Binary, And, Or, Cond, Macro):
        made.__annotations__ = {name: meant.get(kind, kind) for name, kind in made.__annotations__.items()}


_read_annotations()


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below, in the order of their text."""
    return _CHILDREN[type(node)](node)


_CHILDREN: dict[type, Callable[..., tuple[Node, ...]]] = {
    Literal: lambda _: (),
    Name: lambda _: (),
    Select: lambda node: (node.operand,),
    Index: lambda node: (node.operand, node.index),
    Has: lambda node: (node.select,),
    Call: lambda node: node.args if node.target is None else (node.target, *node.args),
    ListOf: lambda node: node.items,
    MapOf: lambda node: tuple(part for entry in node.entries for part in entry),
    Unary: lambda node: (node.operand,),
    Binary: lambda node: (node.left, node.right),
    And: lambda node: node.terms,
    Or: lambda node: node.terms,
    Cond: lambda node: (node.condition, node.then, node.other),
    Macro: lambda node: (node.target, *node.body),
}


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it, in the order of the text."""
    rest = [node]
    while rest:
        node = rest.pop()
        yield node
        rest.extend(reversed(children(node)))


def free_names(node: Node) -> Iterator[Name]:
    """Yield every use of a name that no macro inside the expression binds, in the order of the text."""
    rest: list[tuple[Node, frozenset[str]]] = [(node, frozenset())]
    while rest:
        node, bound = rest.pop()
        if isinstance(node, Name):
            if node.name not in bound:
                yield node
        elif isinstance(node, Macro):
            inner = bound.union(node.variables)
            rest.extend((part, inner) for part in reversed(node.body))
            rest.append((node.target, bound))
        elif not isinstance(node, Literal):
            for part in reversed(children(node)):
                rest.append((part, bound))


def names_of(node: Node) -> tuple[str, ...]:
    """Return the free names, each once, in the order of first use."""
    return tuple(dict.fromkeys(use.name for use in free_names(node)))


def paths_of(node: Node, name: str) -> tuple[tuple[str, ...], ...]:
    """Return the member paths read under a free name: `data.a.b` reads `("a", "b")`, plain `data` reads `()`.

    A path ends where the text does not say which member is meant (`data.items[i]` reads `("items",)`).
    """
    found: dict[tuple[str, ...], None] = {}
    rest: list[tuple[Node, tuple[str, ...]]] = [(node, ())]
    while rest:
        node, below = rest.pop()
        if isinstance(node, Name):
            if node.name == name:
                found[below] = None
        elif isinstance(node, Select):
            rest.append((node.operand, (node.field, *below)))
        elif isinstance(node, Index):
            index = node.index
            rest.append((index, ()))
            member = index.value if isinstance(index, Literal) else None
            rest.append((node.operand, (member, *below) if isinstance(member, str) else ()))
        elif isinstance(node, Has):
            rest.append((node.select, below))
        elif isinstance(node, Macro):
            if name not in node.variables:
                rest.extend((part, ()) for part in reversed(node.body))
            rest.append((node.target, ()))
        else:
            rest.extend((part, ()) for part in reversed(children(node)))
    return tuple(found)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """Return the terms of a conjunction, or the node itself."""
    return node.terms if isinstance(node, And) else (node,)

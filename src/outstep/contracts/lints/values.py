"""`never-true`: a comparison with a constant that the value can never be, by the language or by a tool's schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from outstep.contracts.contents import expressions_of, fact_selectors
from outstep.contracts.lints.base import Subject
from outstep.contracts.model import Contract, Fact, Rule
from outstep.contracts.names import is_glob
from outstep.contracts.selectors import Expr, Selector
from outstep.errors import suggestion
from outstep.expr.nodes import Binary, ListOf, Literal, Name, Node, Select, walk
from outstep.expr.values import equal, show

WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("result", "outcome"): ("ok", "failed", "denied", "unknown"),
    ("result", "approval"): ("none", "asked", "allowed", "denied"),
    ("call", "by"): ("model", "program", "user", "harness"),
    ("approval", "decision"): ("asked", "allowed", "denied"),
}
"""Names of an event whose values are words of the language."""


class Place(Struct, frozen=True):
    """An expression, and which events it is read at."""

    expr: Expr
    own: tuple[Selector, ...]
    """What picks the event whose names are bare."""
    this: tuple[Selector, ...]


def warn(subject: Subject) -> None:
    """Warn at each place."""
    for place in places(subject.contract):
        for node in walk(place.expr.node):
            if not isinstance(node, Binary) or node.op not in ("==", "!=", "in"):
                continue
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if node.op == "in" and side is node.right:
                    continue
                allowed = _allowed(side, place, subject)
                if allowed is not None:
                    _warn_of(other, node.op, allowed, place, subject)


def places(contract: Contract) -> Iterator[Place]:
    """Yield every expression of rules and facts with what it is read at."""
    for fact in contract.facts:
        yield from _of_fact(fact)
    for rule in contract.rules:
        yield from _of_rule(rule)
    for selector in contract.known.values():
        if selector.where is not None:
            yield Place(selector.where, (selector,), ())


def _of_fact(fact: Fact) -> Iterator[Place]:
    for source in fact.sources:
        for expr in (source.each, source.key, source.value):
            if expr is not None:
                yield Place(expr, source.selectors, source.selectors)
    for selector in fact_selectors(fact):
        if selector.where is not None:
            yield Place(selector.where, (selector,), (selector,))


def _of_rule(rule: Rule) -> Iterator[Place]:
    second = (*getattr(rule.kind, "any", ()), *rule.after, *rule.until, *rule.since)
    wheres = {id(selector.where): selector for selector in (*rule.triggers, *second)}
    for expr in expressions_of(rule):
        selector = wheres.get(id(expr))
        own = rule.triggers if selector is None else (selector,)
        yield Place(expr, own, rule.triggers)


class Allowed(Struct, frozen=True):
    """The values that something can have."""

    name: str
    values: tuple[Any, ...]
    why: str


def _allowed(node: Node, place: Place, subject: Subject) -> Allowed | None:
    """Return the values that a path can have, or none where nothing says it."""
    fields: list[str] = []
    while isinstance(node, Select) and not node.optional:
        fields.insert(0, node.field)
        node = node.operand
    if not isinstance(node, Name):
        return None
    selectors, path = place.own, [node.name, *fields]
    if path[0] == "this":
        selectors, path = place.this, path[1:]
    if not selectors or not path:
        return None
    name = ".".join(path)
    if path[0] == "args" and len(path) > 1:
        return _by_schemas(name, path[1:], selectors, subject)
    if len(path) > 1:
        return None
    if name == "tool":
        return _tools(selectors)
    words = {WORDS.get((selector.what.removeprefix("its "), name)) for selector in selectors}
    only = words.pop() if len(words) == 1 else None
    return None if only is None else Allowed(name, only, f"`{name}` is one of {_listed(only)}")


def _by_schemas(name: str, path: Sequence[str], selectors: Sequence[Selector], subject: Subject) -> Allowed | None:
    tools = [tool for selector in selectors for tool in selector.names]
    if any(not selector.names or selector.what not in ("call", "result", "its result") for selector in selectors):
        return None
    values: list[Any] = []
    for tool in tools:
        schema: Any = subject.reading.tools.get(tool)
        for member in path:
            properties = schema.get("properties") if isinstance(schema, dict) else None
            schema = properties.get(member) if isinstance(properties, dict) else None
        if not isinstance(schema, dict) or not ("enum" in schema or "const" in schema):
            return None
        found = schema["enum"] if "enum" in schema else [schema["const"]]
        if not isinstance(found, list):
            return None
        values += found
    told = f"`{'`, `'.join(dict.fromkeys(tools))}`"
    shown = ", ".join(dict.fromkeys(f"`{show(value)}`" for value in values[:12]))
    return Allowed(name, tuple(values), f"the schema of {told} allows {shown}" + (" …" if len(values) > 12 else ""))


def _tools(selectors: Sequence[Selector]) -> Allowed | None:
    """Return the names that `tool` can be: declared ones, never the recorded ones that they stand for."""
    names = [name for selector in selectors for name in selector.names]
    is_open = any(not selector.names for selector in selectors)
    if is_open or any(is_glob(name) or name[:1] == "@" for name in names):
        return None
    if any(selector.what not in ("call", "result", "its result") for selector in selectors):
        return None
    return Allowed("tool", tuple(names), f"the selector picks {_listed(names)}")


def _warn_of(other: Node, op: str, allowed: Allowed, place: Place, subject: Subject) -> None:
    items = other.items if op == "in" and isinstance(other, ListOf) else (other,)
    for item in items:
        if not isinstance(item, Literal) or item.constant is None:
            continue
        if any(equal(item.constant, value) is True for value in allowed.values):
            continue
        words = tuple(value for value in allowed.values if isinstance(value, str))
        near = suggestion(item.constant, words) if isinstance(item.constant, str) else ""
        sentence = f"`{allowed.name}` is never `{show(item.constant)}`"
        subject.tell_of("never-true", sentence, place.expr, item, near or allowed.why)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)

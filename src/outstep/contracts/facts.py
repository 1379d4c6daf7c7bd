"""The section `facts`: values remembered from earlier events.

docs: docs/language.md, section 4
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.contracts.bindings import ELEMENT, RESERVED, common
from outstep.contracts.fields import Fields
from outstep.contracts.keys import CHOICES
from outstep.contracts.located import Mapping, Node, Scalar, Sequence
from outstep.contracts.model import Fact, FactSource, Forget
from outstep.contracts.reading import Reading, ordered
from outstep.contracts.report import Span
from outstep.contracts.selecting import Role, read_selectors, settled_tools
from outstep.contracts.selectors import Expr, Selector
from outstep.expr.nodes import Binary, Has, Literal, Name, Select, Unary, conjuncts, names_of
from outstep.expr.nodes import Node as Tree

KEYS = ("from", "each", "key", "value", "keep", "forget")
SOURCE_KEYS = ("from", "each", "key", "value")
FORGET_KEYS = ("from", "key")
MOST_FACTS = 1000
_DEFAULTED = ("data", "args", "state", "text")
"""What `value` is when it is left out: the first of these that the event has."""


class Entry(Struct, frozen=True):
    """One fact as written."""

    key: Scalar
    node: Node


def declare(found: dict[str, Entry], reading: Reading) -> None:
    """Tell which facts there are, and which of them are kept by key, before any expression is read."""
    for name, entry in found.items():
        problem = None
        if not name.isidentifier() or not name.isascii():
            problem = f"`{name}` cannot be read in an expression"
        elif name in RESERVED:
            problem = f"`{name}` is the name of something else in expressions"
        if problem:
            help = "a fact has a name of letters, digits and `_`"
            reading.report.error("reserved-name", problem, entry.key.span, help)
        reading.facts[name] = is_keyed(entry.node)


def read_facts(found: dict[str, Entry], reading: Reading) -> tuple[Fact, ...]:
    """Return the facts, each behind those that it uses."""
    position = {name: index for index, name in enumerate(reading.facts)}
    facts: dict[str, Fact] = {}
    for name, entry in found.items():
        # In an included file any fact may be used: the contract may have put its own in the place of one of them.
        above = position[name] if entry.key.file.index == 0 else None
        facts[name] = _Reader(name, entry, above, reading).fact()
    needs = {name: tuple(use for use in _uses(fact) if use in facts) for name, fact in facts.items()}
    order, looping = ordered(facts, needs)
    for name in looping:
        reading.report.error("cycle", f"the fact `{name}` needs its own value", found[name].key.span)
    return tuple(facts[name] for name in order)


def is_keyed(node: Node) -> bool:
    """Return whether a fact, or one of its sources, has a `key`."""
    if not isinstance(node, Mapping):
        return False
    sources = node.get("from")
    parts = sources.items if isinstance(sources, Sequence) else ()
    return node.get("key") is not None or any(isinstance(part, Mapping) and part.get("key") for part in parts)


class _Reader:
    """Reads one fact."""

    def __init__(self, name: str, entry: Entry, above: int | None, reading: Reading) -> None:
        self._name = name
        self._entry = entry
        self._above = above
        self._reading = reading
        self._report = reading.report
        self._with_key: list[bool] = []
        """Of each source, whether it has a `key`."""

    def fact(self) -> Fact:
        """Return the fact; mistakes go to the report."""
        fields = Fields(self._entry.node, self._report, "a fact", KEYS)
        sources = self._sources(fields)
        keyed = self._reading.facts[self._name]
        if len(set(self._with_key)) > 1:
            sentence = f"some sources of `{self._name}` have a `key` and some have none"
            help = "a fact is one value, or a map by key: give each source a `key`, or none"
            self._report.error("value", sentence, self._entry.key.span, help)
        keep = fields.choice("keep", CHOICES["keep"], "last")
        return Fact(
            name=self._name,
            sources=sources,
            keyed=keyed,
            keep=keep,  # type: ignore[arg-type]
            forget=self._forgets(fields.get("forget"), keyed),
            spot=self._entry.key.span.spot,
        )

    def _sources(self, fields: Fields) -> tuple[FactSource, ...]:
        beside = {key: node for key in ("each", "key", "value") if (node := fields.get(key)) is not None}
        node = fields.need("from", "write `from: ok result order.get`")
        if node is None:
            return ()
        if not isinstance(node, Sequence):
            return self._source(node, beside, fields.key("from"))
        plain = [item for item in node.items if not isinstance(item, Mapping)]
        found: list[FactSource] = []
        if len(plain) == len(node.items):
            return self._source(node, beside, fields.key("from"))
        for item in node.items:
            if isinstance(item, Mapping):
                own = Fields(item, self._report, "a source of a fact", SOURCE_KEYS)
                parts = {**beside, **{key: part for key in own if (part := own.get(key)) is not None}}
                inner = parts.pop("from", None)
                if inner is None:
                    own.need("from")
                else:
                    found.extend(self._source(inner, parts, item.span))
            else:
                found.extend(self._source(item, beside, item.span))
        return tuple(found)

    def _source(self, node: Node, parts: dict[str, Node], span: Span) -> tuple[FactSource, ...]:
        selectors = read_selectors(self._reading, node, Role(key="from", above=self._above))
        if not selectors:
            return ()
        whats = tuple(dict.fromkeys(selector.what for selector in selectors))
        self._with_key.append("key" in parts)
        reading = self._reading
        tools = settled_tools(selectors, reading)
        names = reading.names_at(whats, above=self._above, tools=tools)
        each = reading.expression(parts["each"], names) if "each" in parts else None
        if "each" in parts:
            names = reading.names_at(whats, above=self._above, more=ELEMENT, tools=tools)
        key = reading.expression(parts["key"], names) if "key" in parts else None
        value = reading.expression(parts["value"], names) if "value" in parts else None
        if "value" not in parts and "each" not in parts:
            self._check_default(selectors, span)
        never_null = value is not None and all(_is_never_null(value, selector.where) for selector in selectors)
        return (FactSource(selectors=selectors, each=each, key=key, value=value, never_null=never_null),)

    def _check_default(self, selectors: tuple[Selector, ...], span: Span) -> None:
        for selector in selectors:
            if not any(name in common((selector.what,)) for name in _DEFAULTED):
                sentence = f"`{selector.what}` has none of `data`, `args`, `state` and `text` to remember"
                self._report.error("missing-key", sentence, span, "give the fact a `value`")

    def _forgets(self, node: Node | None, keyed: bool) -> tuple[Forget, ...]:
        if node is None:
            return ()
        items = node.items if isinstance(node, Sequence) else (node,)
        return tuple(found for item in items if (found := self._forget(item, keyed)) is not None)

    def _forget(self, node: Node, keyed: bool) -> Forget | None:
        role = Role(key="forget", above=self._above)
        if not isinstance(node, Mapping):
            selectors = read_selectors(self._reading, node, role)
            return Forget(selectors=selectors) if selectors else None
        fields = Fields(node, self._report, "`forget`", FORGET_KEYS)
        source = fields.need("from")
        selectors = () if source is None else read_selectors(self._reading, source, role)
        if not selectors:
            return None
        whats = tuple(dict.fromkeys(selector.what for selector in selectors))
        written = fields.get("key")
        key = None
        if written is not None:
            key = self._reading.expression(written, self._reading.names_at(whats, above=self._above))
            if not keyed:
                sentence = f"`{self._name}` is one value: there is no entry to forget by `key`"
                self._report.error("value", sentence, fields.key("key"), "give the fact a `key`, or forget all of it")
        return Forget(selectors=selectors, key=key)


def _uses(fact: Fact) -> tuple[str, ...]:
    """Return every name that the expressions of a fact use."""
    found: dict[str, None] = {}
    parts: list[Expr | None] = []
    for source in fact.sources:
        parts += [source.each, source.key, source.value, *(selector.where for selector in source.selectors)]
    for forget in fact.forget:
        parts += [forget.key, *(selector.where for selector in forget.selectors)]
    for part in parts:
        if part is not None:
            found.update(dict.fromkeys(names_of(part.node)))
    return tuple(found)


def _is_never_null(value: Expr, where: Expr | None) -> bool:
    """Return whether a value is surely there and not null (SEMANTICS section 7, *Facts under gaps*)."""
    node = value.node
    if isinstance(node, Unary) and isinstance(node.operand, Literal):
        node = node.operand
    if isinstance(node, Literal):
        return node.constant is not None
    path = _path(node)
    return path is not None and where is not None and any(_tests(part, path) for part in conjuncts(where.node))


def _tests(node: Tree, path: tuple[str, ...]) -> bool:
    """Return whether a condition that holds says that something stands at a path."""
    if isinstance(node, Has):
        return _path(node.select) == path
    if not isinstance(node, Binary) or node.op not in ("==", "!="):
        return False
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if _path(side) == path and isinstance(other, Literal):
            return (other.constant is None) == (node.op == "!=")
    return False


def _path(node: Any) -> tuple[str, ...] | None:
    """Return the members that a node selects, as `("data", "id")`; none where it is anything else."""
    fields: list[str] = []
    while isinstance(node, Select) and not node.optional:
        fields.append(node.field)
        node = node.operand
    return (node.name, *reversed(fields)) if isinstance(node, Name) else None

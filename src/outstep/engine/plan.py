"""What a contract listens to: for each event type, who looks at the event and in which order.

Made once for a contract. Rules read before facts are written, and facts are written from the last declared to the
first, so that a value reads the facts above it as they were before the event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from outstep.contracts.kinds import AtLeast, Exactly, Integrity, Needs, Never, Scope, Then
from outstep.contracts.model import Contract, FactSource, Forget, Rule
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.expr.nodes import Binary, Call, Node, conjuncts, names_of, paths_of, walk
from outstep.findings import Verdict

Role = Literal["for", "kind", "after", "until", "since", "fact", "forget", "known"]


class Listener(Struct, frozen=True):
    """One reason to look at an event."""

    role: Role
    owner: int
    """Of the rule, or of the fact's table."""
    slot: int
    """Number of the selector in its list, or of the fact's source."""
    selector: Selector


class Join(Struct, frozen=True):
    """A `where` over two events, split: `filter` on the picked one, `picked[i] == this[i]`, and the rest on both."""

    filter: tuple[Expr, ...]
    picked: tuple[Expr, ...]
    this: tuple[Expr, ...]
    rest: tuple[Expr, ...]


NO_JOIN = Join((), (), (), ())


_NOWHERE = Spot(0, 0, 0)
_USUAL_SOURCES = (
    Selector(what="user message", by="any", text="user message", spot=_NOWHERE),
    Selector(what="context", by="any", text="context", spot=_NOWHERE),
    Selector(what="result", outcome="ok", text="ok result", spot=_NOWHERE),
)


_FOLLOWED = (
    Selector(what="call", by="any", text="call", spot=_NOWHERE),
    Selector(what="context", by="any", text="context", spot=_NOWHERE),
    Selector(what="result", by="any", text="result", spot=_NOWHERE),
)
"""What decides where the targets of later calls lie."""


class Plan:
    """Listeners by event type, joins by selector, and where facts are kept."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.facts = {fact.name: index for index, fact in enumerate(contract.facts)}
        self.world = tuple(
            any(selector.what == "state" for source in fact.sources for selector in source.selectors)
            for fact in contract.facts
        )
        """Facts that are fed by snapshots of the state and read in log order."""
        self.joins: dict[tuple[Role, int, int], Join] = {}
        self.listeners: dict[str, list[Listener]] = {}
        self.width = len(contract.facts)
        """Tables of a lane: one for each fact, then one for each selector that asks what is known."""
        self.tables: dict[tuple[Role, int, int], int] = {}
        self.counters: dict[int, int] = {}
        """Rules that count known failures, with the place of their counter."""
        self.about = tuple(dict.fromkeys(self.facts[rule.about] for rule in contract.rules if rule.about in self.facts))
        """Facts whose keys a claim may mention."""
        self.known: dict[str, tuple[Selector, ...]] = {}
        """Sources that `known` asks: the text of its selector, or an empty text for the usual ones."""
        if any(_calls_known(expr.node) for expr in expressions(contract)):
            self.known = {"": _USUAL_SOURCES, **{text: (selector,) for text, selector in contract.known.items()}}
        self.sources = tuple(self.known)
        self.reads_response = any(_reads_response(expr.node) for expr in expressions(contract))
        """Whether an expression may ask what the same response held before (`this` may hold it)."""
        for index, rule in enumerate(contract.rules):
            if not isinstance(rule.kind, Integrity):
                self._add_rule(index, rule)
        self.uses_final = any(
            listener.selector.what == "final message" for listener in self.listeners.get("assistant.message", ())
        )
        # A message behind a call of its own response is not the final one.
        self.reads_response = self.reads_response or self.uses_final
        for index in reversed(range(len(contract.facts))):
            self._add_fact(index)
        for number, source in enumerate(self.sources):
            for slot, selector in enumerate(self.known[source]):
                self._add("known", number, slot, selector)
        self.quiet_verdicts: list[Verdict] = [_quiet_verdict(rule) for rule in contract.rules]
        """By rule: the verdict when nothing settled, on a trace that hides nothing."""
        self.unusual = tuple(index for index, rule in enumerate(contract.rules) if _is_unusual(rule))
        """Rules for which that depends on what the format records, or on a window that may never open."""
        self.judged = tuple(
            (index, 3 * index)
            for index, rule in enumerate(contract.rules)
            if not isinstance(rule.kind, Integrity) and index not in self.unusual
        )
        """The other rules, with their place among the tallies."""
        self.conditions = [conditions(rule) for rule in contract.rules]
        """By rule: what `when` asks of the event, and what it asks of each element."""

    def _add_rule(self, index: int, rule: Rule) -> None:
        for slot, selector in enumerate(rule.triggers):
            self._add("for", index, slot, selector)
        kind = rule.kind
        sides = this_side(rule)
        if isinstance(kind, Needs | Then):
            for slot, selector in enumerate(kind.any):
                self._add("kind", index, slot, _of_its_calls(selector, rule))
                self.joins["kind", index, slot] = split(
                    selector.where, sides - {"match"} if selector.what == "claim" else sides
                )
                if isinstance(kind, Needs):
                    self._add_table("kind", index, slot)
        if isinstance(kind, Scope):
            for slot, selector in enumerate(_FOLLOWED):
                self._add("kind", index, slot, selector)
        if rule.counting == "unless_failed":
            self.counters[index] = len(self.counters)
        marks: tuple[tuple[Role, tuple[Selector, ...]], ...] = (
            ("after", rule.after),
            ("until", rule.until),
            ("since", rule.since),
        )
        for role, selectors in marks:
            for slot, selector in enumerate(selectors):
                self._add(role, index, slot, selector)
                self.joins[role, index, slot] = split(
                    selector.where, sides - {"match"} if selector.what == "claim" else sides
                )
                if role == "since" and isinstance(kind, Needs):
                    self._add_table(role, index, slot)

    def _add_table(self, role: Role, index: int, slot: int) -> None:
        self.tables[role, index, slot] = self.width
        self.width += 1

    def _add_fact(self, index: int) -> None:
        fact = self.contract.facts[index]
        for slot, source in enumerate(fact.sources):
            for selector in source.selectors:
                self._add("fact", index, slot, selector)
        for slot, forget in enumerate(fact.forget):
            for selector in forget.selectors:
                self._add("forget", index, slot, selector)

    def _add(self, role: Role, index: int, slot: int, selector: Selector) -> None:
        self.listeners.setdefault(selector.event_type, []).append(Listener(role, index, slot, selector))

    def has_joined_window(self, index: int, rule: Rule) -> bool:
        """Return whether a window of a rule opens or ends, or a count starts again, for some of its events only."""
        roles: tuple[tuple[Role, int], ...] = (
            ("after", len(rule.after)),
            ("until", len(rule.until)),
            ("since", len(rule.since)),
        )
        return any(self.joins[role, index, slot].this for role, count in roles for slot in range(count))

    def source(self, listener: Listener) -> FactSource:
        """Return the source of a fact that a listener stands for."""
        return self.contract.facts[listener.owner].sources[listener.slot]

    def forget(self, listener: Listener) -> Forget:
        """Return what a listener forgets."""
        return self.contract.facts[listener.owner].forget[listener.slot]


def _quiet_verdict(rule: Rule) -> Verdict:
    return "satisfied" if isinstance(rule.kind, Integrity | Never | AtLeast | Exactly) else "vacuous"


def _is_unusual(rule: Rule) -> bool:
    if isinstance(rule.kind, Integrity):
        return False
    return bool(rule.after) or any(
        selector.what == "state" or selector.by not in {None, "main", "any"} for selector in asked(rule)
    )


def asked(rule: Rule) -> tuple[Selector, ...]:
    """Return the selectors whose absence from the record would let a rule hold or be vacuous."""
    is_lower = isinstance(rule.kind, AtLeast | Exactly)
    selectors = rule.after if isinstance(rule.kind, AtLeast) else rule.after + rule.triggers
    if is_lower:
        selectors += rule.until
    if is_lower or isinstance(rule.kind, Needs):
        selectors += rule.since
    return selectors


def _of_its_calls(selector: Selector, rule: Rule) -> Selector:
    """Return `its result` as the results of the calls that the rule is for."""
    if selector.what != "its result" or selector.names or not all(trigger.names for trigger in rule.triggers):
        return selector
    return replace(selector, names=tuple(name for trigger in rule.triggers for name in trigger.names))


def this_side(rule: Rule) -> frozenset[str]:
    """Return the names that belong to the event of `for` in a `where` of the rule's other selectors."""
    return frozenset({"this", "it", "at", "match", *(name for name, _ in rule.let)})


def conditions(rule: Rule) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Return the conditions of `when` that belong to the event of `for`, and those that read an element of it."""
    bound = {"it", "at"} if rule.each is not None else {"it"} if rule.about is not None else set[str]()
    if bound:
        lets = dict(rule.let)
        spread = True
        while spread:
            reading = {name for name, expr in lets.items() if name not in bound and bound & set(names_of(expr.node))}
            bound |= reading
            spread = bool(reading)
    of_element = [bool(bound & set(names_of(expr.node))) for expr in rule.when]
    return (
        tuple(expr for expr, reads in zip(rule.when, of_element, strict=True) if not reads),
        tuple(expr for expr, reads in zip(rule.when, of_element, strict=True) if reads),
    )


def split(where: Expr | None, sides: frozenset[str]) -> Join:
    """Split a `where` over two events (SEMANTICS section 3, *Joins*)."""
    if where is None:
        return NO_JOIN
    alone: list[Expr] = []
    picked: list[Expr] = []
    this: list[Expr] = []
    rest: list[Expr] = []
    for node in conjuncts(where.node):
        part = _part(where, node)
        if not sides & set(names_of(node)):
            alone.append(part)
            continue
        pair = _equality(node, sides)
        if pair is None:
            rest.append(part)
        else:
            picked.append(_part(where, pair[0]))
            this.append(_part(where, pair[1]))
    return Join(tuple(alone), tuple(picked), tuple(this), tuple(rest))


def _part(where: Expr, node: Node) -> Expr:
    return Expr(text=where.text[node.at : node.end], node=node, spot=where.spot)


def _equality(node: Node, sides: frozenset[str]) -> tuple[Node, Node] | None:
    if not isinstance(node, Binary) or node.op != "==":
        return None
    left, right = set(names_of(node.left)), set(names_of(node.right))
    if right & sides and not left & sides and not right - sides:
        return node.left, node.right
    if left & sides and not right & sides and not left - sides:
        return node.right, node.left
    return None


def _reads_response(node: Node) -> bool:
    names = names_of(node)
    return "said" in names or "calls" in names or ("this" in names and _asks_response(node))


def _asks_response(node: Node) -> bool:
    return any(not path or path[0] in {"said", "calls"} for path in paths_of(node, "this"))


def _calls_known(node: Node) -> bool:
    return any(isinstance(part, Call) and part.function == "known" for part in walk(node))


def expressions(contract: Contract) -> Iterator[Expr]:
    """Yield every expression of a contract."""
    for tool in contract.tools:
        yield from filter(None, (tool.denied_when, tool.unknown_when, tool.fails_when, tool.succeeds_when))
    for fact in contract.facts:
        for source in fact.sources:
            yield from filter(None, (source.each, source.key, source.value))
            yield from _wheres(source.selectors)
        for forget in fact.forget:
            yield from filter(None, (forget.key,))
            yield from _wheres(forget.selectors)
    for rule in contract.rules:
        yield from rule_expressions(rule)


def rule_expressions(rule: Rule) -> Iterator[Expr]:
    """Yield every expression of a rule, its messages' excepted."""
    yield from rule.when
    yield from (expr for _, expr in rule.let)
    yield from filter(None, (rule.each, rule.total, getattr(rule.kind, "bound", None)))
    yield from rule.per
    yield from getattr(rule.kind, "all", ())
    for selectors in (rule.triggers, getattr(rule.kind, "any", ()), rule.after, rule.until, rule.since):
        yield from _wheres(selectors)


def _wheres(selectors: tuple[Selector, ...]) -> Iterator[Expr]:
    yield from (selector.where for selector in selectors if selector.where is not None)

"""Which rules, and which sides of each condition, recorded traces exercised.

Every trace is judged exactly, and each part of a condition is looked at by itself wherever the whole is evaluated: the
terms of `&&` and `||`, what `!` denies, the question of `? :`. docs/testing-contracts.md#coverage
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract, Rule
from outstep.contracts.selectors import Expr
from outstep.engine.monitor import judgement_of
from outstep.errors import Place
from outstep.expr.evaluate import evaluate
from outstep.expr.nodes import And, Cond, Node, Or, Unary
from outstep.expr.values import Hidden, Missing, TooCostly
from outstep.findings import Level, Verdict
from outstep.workflow.functions import ready
from outstep.workflow.gating import level_of, place_of
from outstep.workflow.traces import Trace

Side = Literal["true", "false", "missing", "hidden", "other"]


class RuleCoverage(Struct, frozen=True, kw_only=True):
    """How many traces had which verdict on a rule."""

    rule: str
    level: Level
    pack: str
    satisfied: int = 0
    violated: int = 0
    inconclusive: int = 0
    vacuous: int = 0

    @property
    def is_exercised(self) -> bool:
        """Whether some trace triggered it."""
        return bool(self.satisfied or self.violated or self.inconclusive)


class Condition(Struct, frozen=True, kw_only=True):
    """One part of a condition, and how often it was what."""

    owner: str
    """`rule ID`, `fact NAME`, `tool NAME`, `the contract`."""
    key: str
    """`when`, `require`, `where`, …"""
    text: str
    place: Place
    true: int = 0
    false: int = 0
    missing: int = 0
    hidden: int = 0

    @property
    def lacks(self) -> str:
        """What no trace showed; empty: both sides were."""
        if not (self.true or self.false):
            return "never decided" if self.missing or self.hidden else "never evaluated"
        return "" if self.true and self.false else "never true" if self.false else "never false"


class Coverage(Struct, frozen=True, kw_only=True):
    """What traces exercised of a contract."""

    traces: int
    rules: tuple[RuleCoverage, ...]
    conditions: tuple[Condition, ...]

    @property
    def sides(self) -> tuple[int, int]:
        """How many sides of conditions were shown, and how many there are."""
        shown = sum(bool(one.true) + bool(one.false) for one in self.conditions)
        return shown, 2 * len(self.conditions)


def coverage(contract: Contract, traces: Iterable[Trace]) -> Coverage:
    """Return what traces exercise of a contract."""
    watcher = _Watcher(contract)
    compiled = ready(contract)
    counts: list[dict[str, int]] = [{} for _ in contract.rules]
    number = 0
    for trace in traces:
        number += 1
        run = compiled.run(trace.header)
        run.watch = watcher.look
        for event in trace.events:
            run.events += 1
            run.step(event)
        for index, verdict in enumerate(judgement_of(run, run.close()).verdicts):
            counts[index][verdict] = counts[index].get(verdict, 0) + 1
    rules = tuple(_rule(contract, rule, told) for rule, told in zip(contract.rules, counts, strict=True))
    exercised = {f"rule {rule.rule}" for rule in rules if rule.is_exercised}
    # A join on equal values is looked up and not evaluated: of an exercised rule it is no gap.
    conditions = [
        one
        for one in watcher.conditions()
        if not (one.key == "where" and one.lacks == "never evaluated" and one.owner in exercised)
    ]
    return Coverage(traces=number, rules=rules, conditions=tuple(conditions))


def _rule(contract: Contract, rule: Rule, counts: dict[str, int]) -> RuleCoverage:
    verdicts: tuple[Verdict, ...] = ("satisfied", "violated", "inconclusive", "vacuous")
    told = {verdict: counts.get(verdict, 0) for verdict in verdicts}
    return RuleCoverage(rule=rule.id, level=level_of(rule.level, contract.stage), pack=rule.pack, **told)


class _Watcher:
    """Looks at every part of every condition, whenever the condition is evaluated."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._parts: dict[int, list[_Part]] = {}
        """By the identity of the expression, which lives as long as the contract."""
        self._all: list[_Part] = []
        for owner, key, expr in _expressions(contract):
            if id(expr) not in self._parts:
                self._parts[id(expr)] = [_Part(owner, key, expr, node) for node in _parts(expr.node)]
                self._all += self._parts[id(expr)]

    def look(self, expr: Expr, view: Any, absent: Any) -> None:
        """Take note of what the parts of an expression are here."""
        for part in self._parts.get(id(expr), ()):
            part.counts[_side(part.node, view, absent)] += 1

    def conditions(self) -> Iterator[Condition]:
        """Yield the parts that can be true or false, in the order of the contract."""
        for part in self._all:
            if part.counts["other"] and not (part.counts["true"] or part.counts["false"]):
                continue  # a value, and no condition
            if part.expr.text in _TRIVIAL:
                continue
            place = place_of(self._contract, part.expr.spot)
            counts = {side: part.counts[side] for side in ("true", "false", "missing", "hidden")}
            yield Condition(owner=part.owner, key=part.key, text=part.text, place=place, **counts)


_TRIVIAL = ("true", "false")


class _Part:
    def __init__(self, owner: str, key: str, expr: Expr, node: Node) -> None:
        self.owner = owner
        self.key = key
        self.expr = expr
        self.node = node
        self.text = expr.text if node is expr.node else expr.text[node.at : node.end]
        self.counts: dict[Side, int] = {"true": 0, "false": 0, "missing": 0, "hidden": 0, "other": 0}


def _side(node: Node, view: Any, absent: Any) -> Side:
    try:
        value = evaluate(node, view, absent)
    except TooCostly:
        return "hidden"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return "missing" if isinstance(value, Missing) else "hidden" if isinstance(value, Hidden) else "other"


def _parts(node: Node) -> Iterator[Node]:
    """Yield the smallest conditions in an expression."""
    if isinstance(node, And | Or):
        for term in node.terms:
            yield from _parts(term)
    elif isinstance(node, Cond):
        yield from _parts(node.condition)
        yield from _parts(node.then)
        yield from _parts(node.other)
    elif isinstance(node, Unary) and node.op == "!":
        yield from _parts(node.operand)
    else:
        yield node


_KEYS = {"all": "require", "kind": "", "triggers": "", "selector": "", "sources": ""}
"""Keys of the language by the names of our fields; those of none are passed through."""

_VALUES = frozenset({"key", "value", "each", "total", "per", "bound", "n", "count", "let"})
"""Places of expressions that are asked for their value."""


def _expressions(contract: Contract) -> Iterator[tuple[str, str, Expr]]:
    """Yield every condition of a contract with who has it, and under which key."""
    if contract.applies_when is not None:
        yield "the contract", "applies_when", contract.applies_when
    for tool in contract.tools:
        yield from _inside(tool, f"tool {tool.name}", "")
    for fact in contract.facts:
        yield from _inside(fact, f"fact {fact.name}", "")
    for rule in contract.rules:
        if not isinstance(rule.kind, Integrity):
            yield from _inside(rule, f"rule {rule.id}", "")


def _inside(value: Any, owner: str, key: str) -> Iterator[tuple[str, str, Expr]]:
    if isinstance(value, Expr):
        yield owner, key, value
    elif isinstance(value, Struct):
        for field in msgspec.structs.fields(value):
            if field.name not in _VALUES and field.name != "message":
                inner = _KEYS.get(field.name, field.name) or key
                yield from _inside(getattr(value, field.name), owner, inner)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _inside(item, owner, key)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _inside(item, owner, key)

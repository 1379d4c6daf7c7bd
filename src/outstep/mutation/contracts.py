"""A contract made weaker or otherwise in one place: what its traces should be able to tell from the original.

docs/mutation.md#what-a-contract-loses
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract, Rule
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.expr.nodes import And, Binary, Literal, Node, Or, Unary


class Weakened(Struct, frozen=True, kw_only=True):
    """A contract with one change."""

    way: str
    """`rule dropped`, `condition dropped`, `bound moved`, …"""
    rule: str
    """The rule, or `fact NAME`."""
    detail: str
    """A sentence."""
    spot: Spot
    contract: Contract


def weakened(contract: Contract) -> Iterator[Weakened]:
    """Yield the contract with each of its parts dropped or turned, in the order of its rules."""
    for index, rule in enumerate(contract.rules):
        if isinstance(rule.kind, Integrity):
            continue
        rest = contract.rules[:index] + contract.rules[index + 1 :]
        yield _made("rule dropped", rule.id, "the whole rule", rule.spot, replace(contract, rules=rest))
        for way, detail, spot, changed in _changed(rule):
            rules = (*contract.rules[:index], changed, *contract.rules[index + 1 :])
            yield _made(way, rule.id, detail, spot, replace(contract, rules=rules))
    for index, fact in enumerate(contract.facts):
        for way, detail, spot, changed_fact in _inside(fact):
            facts = (*contract.facts[:index], changed_fact, *contract.facts[index + 1 :])
            yield _made(way, f"fact {fact.name}", detail, spot, replace(contract, facts=facts))


def _made(way: str, rule: str, detail: str, spot: Spot, contract: Contract) -> Weakened:
    return Weakened(way=way, rule=rule, detail=detail, spot=spot, contract=contract)


Change = tuple[str, str, Spot, Any]


def _changed(rule: Rule) -> Iterator[Change]:
    """Yield a rule with one of its keys dropped, or one of its parts turned."""
    for key in ("when", "after", "until", "since", "per"):
        value = getattr(rule, key)
        if value:
            spot = value[0].spot
            yield "key dropped", f"`{key}: {', '.join(one.text for one in value)}`", spot, replace(rule, **{key: ()})
    if rule.in_a_row:
        yield "key dropped", "`in_a_row`", rule.spot, replace(rule, in_a_row=False)
    if rule.counting != "attempts":
        yield "key dropped", f"`counting: {rule.counting}`", rule.spot, replace(rule, counting="attempts")
    all_of = getattr(rule.kind, "all", None)
    if isinstance(all_of, tuple) and len(all_of) > 1:
        for place, expr in enumerate(all_of):
            kept = all_of[:place] + all_of[place + 1 :]
            yield "condition dropped", f"`{expr.text}`", expr.spot, replace(rule, kind=replace(rule.kind, all=kept))
    yield from _inside(rule)


def _inside(value: Any) -> Iterator[Change]:
    """Yield a struct in which one expression or selector is another."""
    for field in msgspec.structs.fields(value):
        inner = getattr(value, field.name)
        if field.name in ("message", "let"):
            continue
        for way, detail, spot, changed in _other(inner):
            yield way, detail, spot, replace(value, **{field.name: changed})


def _other(value: Any) -> Iterator[Change]:
    if isinstance(value, Expr):
        for way, detail, node in _nodes(value.node, value.text):
            yield way, detail, value.spot, replace(value, node=node)
    elif isinstance(value, Selector):
        if value.where is not None:
            yield "condition dropped", f"`where {value.where.text}`", value.where.spot, replace(value, where=None)
        if value.outcome is not None:
            yield "outcome dropped", f"`{value.outcome}` of `{value.text}`", value.spot, replace(value, outcome=None)
        yield from _inside(value)
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            for way, detail, spot, changed in _other(item):
                yield way, detail, spot, (*value[:place], changed, *value[place + 1 :])
    elif isinstance(value, Struct) and type(value).__module__.startswith("outstep.contracts"):
        yield from _inside(value)


_TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


def _nodes(node: Node, text: str) -> Iterator[tuple[str, str, Node]]:
    """Yield an expression with one term dropped, one comparison turned, or one bound moved."""
    if isinstance(node, And | Or):
        for place, term in enumerate(node.terms):
            rest = node.terms[:place] + node.terms[place + 1 :]
            whole = rest[0] if len(rest) == 1 else replace(node, terms=rest)
            yield "term dropped", f"`{text[term.at : term.end]}` of `{text[node.at : node.end]}`", whole
            for way, detail, changed in _nodes(term, text):
                terms = (*node.terms[:place], changed, *node.terms[place + 1 :])
                yield way, detail, replace(node, terms=terms)
    elif isinstance(node, Binary):
        if node.op in _TURNED:
            other = _TURNED[node.op]
            yield "comparison turned", f"`{text[node.at : node.end]}` with `{other}`", replace(node, op=other)
        for side in ("left", "right"):
            operand = getattr(node, side)
            if isinstance(operand, Literal) and type(operand.value) is int and node.op in ("<", "<=", ">", ">="):
                for step in (1, -1):
                    moved = replace(operand, value=operand.value + step)
                    detail = f"`{text[node.at : node.end]}` with {moved.value}"
                    yield "bound moved", detail, replace(node, **{side: moved})
    elif isinstance(node, Unary) and node.op == "!":
        yield "negation dropped", f"`{text[node.at : node.end]}`", node.operand
    elif isinstance(node, Literal) and type(node.value) is int and node.at == 0:
        yield "bound moved", f"{node.value} to {node.value + 1}", replace(node, value=node.value + 1)

"""Everything that the parts of a checked contract are made of, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.contracts.model import Contract, Fact, Rule, Tool
from outstep.contracts.selectors import Expr, Selector


def selectors_of(rule: Rule) -> Iterator[Selector]:
    """Yield every selector of a rule."""
    for selectors in (rule.triggers, getattr(rule.kind, "any", ()), rule.after, rule.until, rule.since):
        yield from selectors


def expressions_of(rule: Rule) -> Iterator[Expr]:
    """Yield every expression of a rule, those of its `let` first."""
    yield from (expr for _, expr in rule.let)
    yield from rule.when
    yield from _given(rule.each, rule.total, getattr(rule.kind, "bound", None))
    yield from rule.per
    yield from getattr(rule.kind, "all", ())
    yield from _given(*(selector.where for selector in selectors_of(rule)))
    for text in rule.message.values():
        yield from (part for part in text.parts if isinstance(part, Expr))


def fact_selectors(fact: Fact) -> Iterator[Selector]:
    """Yield every selector of a fact."""
    for source in fact.sources:
        yield from source.selectors
    for forget in fact.forget:
        yield from forget.selectors


def fact_expressions(fact: Fact) -> Iterator[Expr]:
    """Yield every expression of a fact."""
    for source in fact.sources:
        yield from _given(source.each, source.key, source.value)
    yield from _given(*(forget.key for forget in fact.forget))
    yield from _given(*(selector.where for selector in fact_selectors(fact)))


def tool_expressions(tool: Tool) -> Iterator[Expr]:
    """Yield every expression of a tool."""
    yield from _given(tool.denied_when, tool.unknown_when, tool.fails_when, tool.succeeds_when)
    for targets in tool.targets.values():
        yield from targets


def contract_selectors(contract: Contract) -> Iterator[Selector]:
    """Yield every selector of a contract."""
    for fact in contract.facts:
        yield from fact_selectors(fact)
    for rule in contract.rules:
        yield from selectors_of(rule)
    yield from contract.known.values()


def contract_expressions(contract: Contract) -> Iterator[Expr]:
    """Yield every expression of a contract."""
    yield from _given(contract.applies_when)
    for tool in (*contract.tools, *contract.defaults):
        yield from tool_expressions(tool)
    for fact in contract.facts:
        yield from fact_expressions(fact)
    for rule in contract.rules:
        yield from expressions_of(rule)


def _given(*exprs: Expr | None) -> Iterator[Expr]:
    return (expr for expr in exprs if expr is not None)

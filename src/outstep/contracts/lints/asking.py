"""What is known of the events that a rule is asked of."""

from __future__ import annotations

from outstep.contracts.model import Rule
from outstep.contracts.selectors import Selector
from outstep.expr import logic
from outstep.expr.logic import NO_LETS, Atom
from outstep.expr.nodes import Name, Node


def known_of(selector: Selector) -> list[Atom]:
    """Return what is known of an event because a selector picks it."""
    if selector.outcome is None:
        return []
    outcome, ok = (logic.shape(Name(0, 0, name), NO_LETS) for name in ("outcome", "ok"))
    return [Atom(outcome, "is", selector.outcome), Atom(ok, "is", selector.outcome == "ok")]


def contexts(rule: Rule) -> list[tuple[list[Node], list[Atom]]]:
    """Return, for each selector of `for`, the conditions that hold where the rule applies."""
    return [
        (
            [*([selector.where.node] if selector.where is not None else []), *(e.node for e in rule.when)],
            known_of(selector),
        )
        for selector in rule.triggers
    ]

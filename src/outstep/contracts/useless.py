"""Rules that cannot fail, whatever an agent does: a green light that says nothing."""

from __future__ import annotations

from decimal import Decimal

from outstep.contracts.fields import Fields
from outstep.contracts.kinds import AtLeast, AtMost, Require
from outstep.contracts.model import Rule
from outstep.contracts.report import Report
from outstep.contracts.selectors import Expr, Selector
from outstep.expr.nodes import Literal, Or, conjuncts
from outstep.expr.nodes import Node as Tree


def report_useless(rule: Rule, fields: Fields, report: Report) -> None:
    """Report a rule that no trace can violate."""
    kind = rule.kind
    if isinstance(kind, Require) and kind.all and all(_is_true(expr.node) for expr in kind.all):
        _report(report, fields, "require", "`require` is always true")
    elif isinstance(kind, AtLeast):
        least = _number(kind.bound)
        if least is not None and least <= 0:
            _report(report, fields, "at_least", f"`at_least: {kind.bound.text}` holds of every run")
        elif least is not None and least <= 1 and rule.total is None and (rule.per or rule.per_turn):
            sentence = f"`at_least: {kind.bound.text}` with `per` counts only values that occurred, so once at least"
            _report(report, fields, "at_least", sentence)
    elif isinstance(kind, AtMost):
        most = _number(kind.bound)
        if most is not None and most < 0:
            report.error("value", "nothing happens fewer than 0 times", fields.key("at_most"), "write `never`")
    for expr in rule.when:
        if _is_false(expr.node):
            key = "when" if "when" in fields else "id"
            _report(report, fields, key, "the rule never applies: its `when` is false")
    if rule.triggers and all(_never_picks(selector) for selector in rule.triggers):
        key = "never" if "never" in fields else "for"
        _report(report, fields, key if key in fields else "id", "the rule selects nothing: its `where` is false")


def _report(report: Report, fields: Fields, key: str, sentence: str) -> None:
    span = fields.key(key) if key in fields else fields.span
    report.error("useless-rule", sentence, span, "say what must not happen, or leave the rule out")


def _number(expr: Expr) -> int | Decimal | None:
    node = expr.node
    value = node.constant if isinstance(node, Literal) else None
    return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def _is_true(node: Tree) -> bool:
    if isinstance(node, Or):
        return any(_is_true(term) for term in node.terms)
    return all(isinstance(part, Literal) and part.value is True for part in conjuncts(node))


def _is_false(node: Tree) -> bool:
    return any(isinstance(part, Literal) and part.value is False for part in conjuncts(node))


def _never_picks(selector: Selector) -> bool:
    return selector.where is not None and _is_false(selector.where.node)

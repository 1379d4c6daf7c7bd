"""Rules that cannot fail, whatever an agent does: a green light that says nothing."""

from __future__ import annotations

from decimal import Decimal

from outstep.contracts.fields import Fields
from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Require
from outstep.contracts.model import Rule
from outstep.contracts.report import Report
from outstep.contracts.selectors import Expr, Selector
from outstep.expr import logic
from outstep.expr.logic import Lets
from outstep.expr.nodes import Node as Tree


def report_useless(rule: Rule, fields: Fields, report: Report) -> None:
    """Report a rule that no trace can violate."""
    kind, lets = rule.kind, lets_of(rule)
    if isinstance(kind, Require) and kind.all and all(logic.surely(expr.node, lets) is True for expr in kind.all):
        _report(report, fields, "require", "`require` is always true")
    elif isinstance(kind, AtLeast):
        _report_low(rule, kind.bound, fields, report)
    elif isinstance(kind, AtMost | Exactly):
        most = number(kind.bound)
        key = "at_most" if isinstance(kind, AtMost) else "exactly"
        if most is not None and most < 0:
            report.error("value", "nothing happens fewer than 0 times", fields.key(key), "write `never`")
        elif most is not None and rule.total is None and isinstance(kind, Exactly) and most != int(most):
            report.error("value", f"nothing happens {kind.bound.text} times", fields.key(key), "write a whole number")
    _report_never_applies(rule, fields, report, lets)


def lets_of(rule: Rule) -> Lets:
    """Return what the names of `let` stand for in a rule."""
    return Lets({name: expr.node for name, expr in rule.let})


def number(expr: Expr) -> int | Decimal | None:
    """Return the value of a bound that reads nothing, if it is a number."""
    value = logic.constant(expr.node)
    return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def _report_low(rule: Rule, bound: Expr, fields: Fields, report: Report) -> None:
    least = number(bound)
    if least is not None and least <= 0:
        _report(report, fields, "at_least", f"`at_least: {bound.text}` holds of every run")
    elif least is not None and least <= 1 and rule.total is None and (rule.per or rule.per_turn):
        sentence = f"`at_least: {bound.text}` with `per` counts only values that occurred, so once at least"
        _report(report, fields, "at_least", sentence)


def _report_never_applies(rule: Rule, fields: Fields, report: Report, lets: Lets) -> None:
    conditions = [expr.node for expr in rule.when]
    false = next((expr for expr in rule.when if logic.impossible((expr.node,), lets)), None)
    if false is not None:
        key = "when" if "when" in fields else "id"
        is_false = logic.surely(false.node, lets) is False
        told = "is false" if is_false else f"contradicts itself: `{false.text}` is never true"
        _report(report, fields, key, f"the rule never applies: its `when` {told}")
    elif conditions and logic.impossible(conditions, lets):
        texts = " and ".join(f"`{expr.text}`" for expr in rule.when)
        _report(
            report, fields, "when" if "when" in fields else "id", f"the rule never applies: {texts} exclude each other"
        )
    elif rule.triggers and all(_never_picks(selector, conditions, lets) for selector in rule.triggers):
        key = "never" if "never" in fields else "for"
        wheres = [selector.where.node for selector in rule.triggers if selector.where is not None]
        if all(logic.surely(where, lets) is False for where in wheres):
            told = "its `where` is false"
        elif conditions and not all(logic.impossible((where,), lets) for where in wheres):
            told = "its `where` and its `when` exclude each other"
        else:
            told = "its `where` contradicts itself"
        _report(report, fields, key if key in fields else "id", f"the rule selects nothing: {told}")


def _never_picks(selector: Selector, conditions: list[Tree], lets: Lets) -> bool:
    return selector.where is not None and logic.impossible((selector.where.node, *conditions), lets)


def _report(report: Report, fields: Fields, key: str, sentence: str) -> None:
    span = fields.key(key) if key in fields else fields.span
    report.error("useless-rule", sentence, span, "say what must not happen, or leave the rule out")

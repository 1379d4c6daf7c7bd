"""`money`: an amount in cents meets one whose name says nothing of cents."""

from __future__ import annotations

from decimal import Decimal
from re import compile as linear_pattern

from outstep.contracts.contents import contract_expressions
from outstep.contracts.lints.base import Subject, text_of
from outstep.expr.nodes import Binary, Index, Literal, Name, Node, Select, walk

_CENTS = linear_pattern(
    r"(?:.*_)?(?:cents?|minor|minor_units?|pence)|(?:.*[a-z0-9_])?(?:Cents?|Minor|MinorUnits?|Pence)"
    r"|(?:.*_)?(?:CENTS?|MINOR)|(?:cents?|minor)_.*"
)
_MONEY = linear_pattern(
    r"(?i)(?:.*_)?(?:amount|price|total|sum|cost|fee|refund|charge|balance|dollars?|usd|eur|euros?|pounds?|gbp|yuan|cny)"
    r"|.*(?:Amount|Price|Total|Cost|Fee|Dollars?|Usd|Eur|Euros?|Yuan|Cny|USD|EUR|CNY)"
    r"|(?i:amount|price|total|cost|fee|balance)_?(?i:in_?)?(?i:usd|eur|gbp|cny|dollars|euros|pounds|yuan)"
)
_COMPARED = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "in")


def warn(subject: Subject) -> None:
    """Warn of comparisons and sums of the two."""
    for expr in contract_expressions(subject.contract):
        for node in walk(expr.node):
            if not isinstance(node, Binary) or node.op not in _COMPARED:
                continue
            for side, beside in ((node.left, node.right), (node.right, node.left)):
                cents, other = _last_member(side), _last_member(beside)
                if cents and _is_cents(cents) and (part := _fraction(node, cents)) is not None:
                    sentence = (
                        f"`{text_of(expr, node)}` holds `{text_of(expr, part)}` against cents, which are whole numbers"
                    )
                    subject.tell_of("money", sentence, expr, node, "write the amount in cents")
                    break
                if cents and other and _is_cents(cents) and not _is_cents(other) and _MONEY.fullmatch(other):
                    sentence = f"`{text_of(expr, node)}` holds `{other}` against cents"
                    subject.tell_of(
                        "money",
                        sentence,
                        expr,
                        node,
                        f"if `{other}` is no amount in cents, write `{text_of(expr, beside)} * 100`",
                    )
                    break


def _fraction(node: Binary, cents: str) -> Node | None:
    """Return the other side where it is a number with a fraction."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        value = other.constant if isinstance(other, Literal) else None
        if _last_member(side) == cents and isinstance(value, Decimal) and value != value.to_integral_value():
            return other
    return None


def _is_cents(name: str) -> bool:
    return _CENTS.fullmatch(name) is not None


def _last_member(node: Node) -> str:
    """Return the name of what is read: of `order[args.id].amount` and of `prices[i]` the last member."""
    while isinstance(node, Index):
        node = node.operand
    if isinstance(node, Select):
        return node.field
    return node.name if isinstance(node, Name) else ""

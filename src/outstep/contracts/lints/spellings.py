"""`never-matches`: texts that cannot occur where they are sought."""

from __future__ import annotations

from outstep.contracts.contents import contract_expressions
from outstep.contracts.lints.base import Subject, text_of
from outstep.contracts.selectors import Expr
from outstep.expr.nodes import Binary, Call, ListOf, Literal, Node, walk

_OPERATORS = frozenset(("&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1", "|&"))
_SOUGHT = ("contains", "startsWith", "endsWith", "indexOf", "lastIndexOf")


def warn(subject: Subject) -> None:
    """Warn of capitals in a text that was put in small letters, and of commands that are several."""
    for expr in contract_expressions(subject.contract):
        for node in walk(expr.node):
            if isinstance(node, Binary) and node.op in ("==", "!="):
                _warn_of_case(subject, expr, node.left, node.right)
                _warn_of_case(subject, expr, node.right, node.left)
            elif isinstance(node, Binary) and node.op == "in" and isinstance(node.right, ListOf):
                for item in node.right.items:
                    _warn_of_case(subject, expr, node.left, item)
            elif isinstance(node, Call) and node.function in _SOUGHT and node.target is not None and node.args:
                _warn_of_case(subject, expr, node.target, node.args[0])
            elif isinstance(node, Call) and node.function == "runs" and len(node.args) == 2:
                _warn_of_commands(subject, expr, node.args[1])


def _warn_of_case(subject: Subject, expr: Expr, text: Node, sought: Node) -> None:
    if (
        not isinstance(text, Call)
        or text.function not in ("lowerAscii", "upperAscii")
        or not isinstance(sought, Literal)
    ):
        return
    value = sought.value
    if not isinstance(value, str):
        return
    is_lower = text.function == "lowerAscii"
    odd = next((sign for sign in value if sign.isascii() and (sign.isupper() if is_lower else sign.islower())), "")
    if odd:
        sentence = f"`{text_of(expr, text)}` holds no `{odd}`, so `{value}` never occurs in it"
        subject.tell_of("never-matches", sentence, expr, sought, "write it in the same case")


def _warn_of_commands(subject: Subject, expr: Expr, patterns: Node) -> None:
    for item in patterns.items if isinstance(patterns, ListOf) else (patterns,):
        value = item.value if isinstance(item, Literal) else None
        words = value.split() if isinstance(value, str) else ()
        odd = next((word for word in words if word in _OPERATORS), "")
        if odd:
            sentence = f"`{odd}` in `{value}` stands between commands, and each command is matched on its own"
            subject.tell_of("never-matches", sentence, expr, item, "write one pattern for each command")

"""Warnings that need only the contract: what is allowed, and probably not meant.

A warning is given only where the text itself shows it; what traces show is for other places to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import compile as linear_pattern

from outstep.contracts.contents import contract_expressions, selectors_of
from outstep.contracts.including import Part, Parts
from outstep.contracts.kinds import Python, Scope, Then
from outstep.contracts.located import Mapping, Scalar
from outstep.contracts.model import Contract
from outstep.contracts.reading import Reading
from outstep.contracts.report import Span
from outstep.contracts.selectors import Expr, Spot
from outstep.expr.nodes import Binary, Call, Has, Index, Literal, Name, Node, Select, walk

_CENTS = linear_pattern(r"(?:.*_)?cents?|(?:.*[a-z0-9_])?Cents?|(?:.*_)?CENTS?")
_MONEY = linear_pattern(
    r"(?i)(?:.*_)?(?:amount|price|total|sum|cost|fee|refund|charge|balance|dollars?|usd|eur|euros?|yuan|cny)"
    r"|.*(?:Amount|Price|Total|Cost|Fee|Dollars?|Usd|Eur|Euros?|Yuan|Cny|USD|EUR|CNY)"
)
_COMPARED = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "in")
_EDGE = linear_pattern(r"\\b[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]\\b")


def warn(contract: Contract, reading: Reading, parts: Parts) -> None:
    """Add the warnings to the report."""
    files = {part.file.index: part for part in parts.in_order if not part.is_bundled}
    for part in files.values():
        _warn_of_unused(part, reading)
        _warn_of_patterns(part, reading)

    def tell(code: str, sentence: str, spot: Spot, length: int, help: str) -> None:
        if (part := files.get(spot.file)) is not None:
            start = part.file.offset(spot.line, spot.column)
            reading.report.warning(code, sentence, Span(part.file, start, start + length), help)

    for expr in contract_expressions(contract):
        _warn_of_money(expr, tell)
        _warn_of_keyed_facts(expr, reading, tell)
        _warn_of_edges(expr, tell)
    _warn_of_rules(contract, reading, tell)


Tell = Callable[[str, str, Spot, int, str], None]


def _warn_of_unused(part: Part, reading: Reading) -> None:
    """Warn of what a file declares and nothing asks for."""
    for section, what in (("facts", "fact"), ("claims", "claim"), ("params", "param")):
        node = part.fields.get(section)
        for key, _ in node.entries if isinstance(node, Mapping) else ():
            if f"{what} {key.text}" not in reading.used and not (what == "claim" and _any_claim(reading)):
                word = "parameter" if what == "param" else what
                reading.report.warning(
                    "unused", f"nothing uses the {word} `{key.text}`", key.span, "leave it out, or use it"
                )


def _any_claim(reading: Reading) -> bool:
    """Return whether a selector picks claims of every name."""
    return "claims" in reading.used


def _warn_of_patterns(part: Part, reading: Reading) -> None:
    """Warn of claim patterns that match every sentence, or none because a word edge knows ASCII only."""
    from outstep.expr.patterns import compile_pattern

    for scalar in _claim_patterns(part):
        if compile_pattern(scalar.text).search(""):
            sentence = f"`{scalar.text}` matches every sentence"
            reading.report.warning("regex", sentence, scalar.span, "let it ask for at least one word")
        elif _EDGE.search(scalar.text):
            reading.report.warning("regex", _edge_sentence(scalar.text), scalar.span, "leave `\\b` out there")


def _claim_patterns(part: Part) -> Iterator[Scalar]:
    node = part.fields.get("claims")
    for _, value in node.entries if isinstance(node, Mapping) else ():
        for item in getattr(value, "items", (value,)):
            if isinstance(item, Scalar):
                yield item


def _edge_sentence(pattern: str) -> str:
    return (
        f"`\\b` in `{pattern}` stands beside a character that RE2 takes for no letter, so it matches only next to one"
    )


def _warn_of_edges(expr: Expr, tell: Tell) -> None:
    for node in walk(expr.node):
        if isinstance(node, Call) and node.function == "matches" and node.args:
            pattern = node.args[-1]
            text = pattern.value if isinstance(pattern, Literal) else None
            if isinstance(text, str) and _EDGE.search(text):
                tell("regex", _edge_sentence(text), expr.spot, 1, "leave `\\b` out there")


def _warn_of_money(expr: Expr, tell: Tell) -> None:
    """Warn where an amount in cents meets one whose name says nothing of cents."""
    for node in walk(expr.node):
        if not isinstance(node, Binary) or node.op not in _COMPARED:
            continue
        left, right = _last_member(node.left), _last_member(node.right)
        for cents, other in ((left, right), (right, left)):
            if cents and other and _CENTS.fullmatch(cents) and not _CENTS.fullmatch(other) and _MONEY.fullmatch(other):
                sentence = f"`{expr.text[node.at : node.end]}` holds `{other}` against cents"
                help = f"if `{other}` is no amount in cents, write `{other} * 100`"
                tell("money", sentence, expr.spot, 1, help)
                break


def _last_member(node: Node) -> str:
    while isinstance(node, Index):
        node = node.operand
    if isinstance(node, Select):
        return node.field
    return node.name if isinstance(node, Name) else ""


def _warn_of_keyed_facts(expr: Expr, reading: Reading, tell: Tell) -> None:
    """Warn where a member of a map by key is read as if the fact were one value."""
    tested = {id(node.select) for node in walk(expr.node) if isinstance(node, Has)}
    for node in walk(expr.node):
        if not isinstance(node, Select) or not isinstance(node.operand, Name) or id(node) in tested:
            continue
        fact = node.operand.name
        if reading.facts.get(fact):
            sentence = f"`{fact}.{node.field}` is the entry of `{fact}` under the key `{node.field}`"
            help = f'if a member is meant: `{fact}[key].{node.field}`; if not: `{fact}["{node.field}"]`'
            tell("keyed-fact", sentence, expr.spot, 1, help)


def _warn_of_rules(contract: Contract, reading: Reading, tell: Tell) -> None:
    for rule in contract.rules:
        if isinstance(rule.kind, Scope | Python):
            name = "scope" if isinstance(rule.kind, Scope) else "python"
            sentence = f"`{rule.id}`: this version reads rules of the kind `{name}` and cannot judge them"
            tell(
                "not-judged", sentence, rule.spot, 1, "`check` ends with exit code 2; set its level to `off` until then"
            )
        within = rule.kind.within if isinstance(rule.kind, Then) else None
        if within is not None and within.unit == "events":
            sentence = f"`{rule.id}`: the number of events between two others changes with the format of the record"
            tell("within-events", sentence, rule.spot, 1, "write `turns`")
        for selector in selectors_of(rule):
            for name in selector.names:
                if name in ("@read", "@write") and name[1:] not in reading.groups:
                    sentence = f"no tool has `effect: {name[1:]}`, so `{selector.text}` picks nothing"
                    tell("never-picks", sentence, selector.spot, len(selector.text), "declare the effects in `tools`")

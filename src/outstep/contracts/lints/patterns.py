"""`regex`: patterns that match everything, or can never match."""

from __future__ import annotations

from collections.abc import Iterator
from re import compile as linear_pattern

from outstep.contracts.contents import contract_expressions
from outstep.contracts.lints.base import Subject
from outstep.contracts.located import Mapping, Scalar
from outstep.expr.nodes import Call, Literal, walk
from outstep.expr.patterns import PatternError, compile_pattern

_EDGE = linear_pattern(r"\\b[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]|[\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]\\b")
_TOKEN = linear_pattern(
    r"\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*[:)]|[*+?]\??|\{[0-9,]+\}\??|."
)
_OPENERS = ("(",)


def warn(subject: Subject) -> None:
    """Warn of patterns of claims, and of those that expressions write out."""
    for scalar in _claim_patterns(subject):
        if not _is_readable(scalar.text):
            continue
        told = _everything(scalar.text) or _never(scalar.text) or _never_in_a_sentence(scalar.text)
        if told is not None:
            subject.reading.report.warning("regex", told[0], scalar.span, told[1])
    for expr in contract_expressions(subject.contract):
        for node in walk(expr.node):
            pattern = node.args[-1] if isinstance(node, Call) and node.function == "matches" and node.args else None
            text = pattern.value if isinstance(pattern, Literal) else None
            if (
                pattern is not None
                and isinstance(text, str)
                and _is_readable(text)
                and (told := _never(text)) is not None
            ):
                subject.tell_of("regex", told[0], expr, pattern, told[1])


def _claim_patterns(subject: Subject) -> Iterator[Scalar]:
    for part in subject.files.values():
        node = part.fields.get("claims")
        for _, value in node.entries if isinstance(node, Mapping) else ():
            for item in getattr(value, "items", (value,)):
                if isinstance(item, Scalar):
                    yield item


def _is_readable(pattern: str) -> bool:
    try:
        compile_pattern(pattern)
    except PatternError:
        return False
    return True


def _everything(pattern: str) -> tuple[str, str] | None:
    if compile_pattern(pattern).search(""):
        return f"`{pattern}` matches every sentence", "let it ask for at least one word"
    return None


def _never(pattern: str) -> tuple[str, str] | None:
    """Return what is wrong with a pattern, a part of which can never match; none if nothing is seen."""
    if _EDGE.search(pattern):
        return (
            f"`\\b` in `{pattern}` stands beside a character that RE2 takes for no letter, "
            "so it matches only next to one",
            "leave `\\b` out there",
        )
    sign = _misplaced_anchor(pattern)
    if sign:
        place = "begins" if sign in ("^", r"\A") else "ends"
        sentence = f"`{sign}` in `{pattern}` asks that the text {place} there, and a character stands on its other side"
        return sentence, f"leave `{sign}` out, or write `\\{sign}` for the character itself" if len(
            sign
        ) == 1 else "leave it out"
    return None


def _never_in_a_sentence(pattern: str) -> tuple[str, str] | None:
    if r"\n" in pattern or "\n" in pattern:
        return f"`{pattern}` asks for a line end, and a sentence holds none", "write a pattern for each sentence"
    if pattern.endswith((r"\?", r"\?$")):
        return f"`{pattern}` asks for a question, and a question claims nothing", "leave the question mark out"
    return None


def _misplaced_anchor(pattern: str) -> str:
    """Return an anchor beside which a character must stand on the side where the text ends; empty if there is none."""
    if "(?" in pattern and any("m" in flags for flags in linear_pattern(r"\(\?([a-zA-Z]+)[-:)]").findall(pattern)):
        return ""
    tokens = [found.group() for found in _TOKEN.finditer(pattern)]
    for place, token in enumerate(tokens):
        if token in ("^", r"\A"):
            before = place - 1
            while before >= 0 and (tokens[before] == "(" or tokens[before].startswith("(?")):
                before -= 1
            if before >= 0 and _is_character(tokens[before]):
                return token
        elif token in ("$", r"\z") and place + 1 < len(tokens) and _is_character(tokens[place + 1]):
            behind = tokens[place + 2] if place + 2 < len(tokens) else ""
            if not behind.startswith(("*", "?", "{0")):
                return token
    return ""


def _is_character(token: str) -> bool:
    """Return whether a token takes one character of the text."""
    if token.startswith("\\"):
        return len(token) > 2 or token[1] not in "bBAzQE"
    return token.startswith("[") or (len(token) == 1 and token not in "^$()|*+?")

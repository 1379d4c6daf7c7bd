"""Messages of rules: text with values, `{expr}` for a value and `{{` for a brace.

docs: docs/language.md, section 6
"""

from __future__ import annotations

from outstep.contracts.bindings import Names
from outstep.contracts.fields import entries
from outstep.contracts.located import Mapping, Node, Scalar
from outstep.contracts.model import Text
from outstep.contracts.reading import Piece, Reading
from outstep.contracts.selectors import Expr

DEFAULT_LANGUAGE = "en"
_QUOTES = "\"'"
MOST_LANGUAGES = 50


def read_message(node: Node | None, reading: Reading, names: Names) -> dict[str, Text]:
    """Return the message of a rule by language; mistakes go to the report."""
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        text = _text(node, reading, names)
        return {} if text is None else {DEFAULT_LANGUAGE: text}
    if not node.entries:
        reading.report.error("value", "`message` holds no text", node.span)
    found: dict[str, Text] = {}
    for language, value in entries(node, reading.report, "`message`", MOST_LANGUAGES):
        word = language.text
        if not word.replace("-", "").isalnum() or not word.isascii() or len(word) > 12:
            sentence = f"`{word}` is no language"
            reading.report.error("value", sentence, language.span, "write `en`, `zh`, …, or one text")
            continue
        text = _text(value, reading, names)
        if text is not None:
            found[word] = text
    return found


def _text(node: Node, reading: Reading, names: Names) -> Text | None:
    piece = reading.piece(node, "a text") if not isinstance(node, Mapping) else None
    if piece is None or not isinstance(node, Scalar):
        if isinstance(node, Mapping):
            reading.report.error("value", "a text is expected here, not a map", node.span, "a text with `: ` is quoted")
        return None
    parts: list[str | Expr] = []
    text, at = piece.text, 0
    literal = ""
    while at < len(text):
        sign = text[at]
        if sign in "{}" and text[at : at + 2] == sign * 2:
            literal += sign
            at += 2
        elif sign == "}":
            reading.report.error(
                "value", "`}` closes nothing", piece.span(at, at + 1), "a brace itself is written `}}`"
            )
            return None
        elif sign == "{":
            end = _closing(text, at)
            if end is None:
                sentence = "`{` is not closed"
                reading.report.error("value", sentence, piece.span(at, at + 1), "a brace itself is written `{{`")
                return None
            expr = _value(piece, at, end, reading, names)
            if expr is not None:
                parts += [literal, expr] if literal else [expr]
                literal = ""
            at = end + 1
        else:
            literal += sign
            at += 1
    if literal or not parts:
        parts.append(literal)
    return Text(parts=tuple(parts))


def _value(piece: Piece, at: int, end: int, reading: Reading, names: Names) -> Expr | None:
    inner = Piece(scalar=piece.scalar, start=piece.start + at + 1, text=piece.text[at + 1 : end])
    if not inner.text.strip():
        reading.report.error("expression", "an expression is missing between `{` and `}`", piece.span(at, end + 1))
        return None
    return reading.checked(inner, names)


def _closing(text: str, at: int) -> int | None:
    """Return where the brace at `at` is closed, braces and quotes in the expression left alone."""
    depth, quote = 0, ""
    while at < len(text):
        sign = text[at]
        if quote:
            at += sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in _QUOTES:
            quote = sign
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None

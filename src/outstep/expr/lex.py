"""CEL text to tokens.

docs: LANGUAGE section 7. Bytes and unsigned ints are refused here, by name.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

MAX_LENGTH = 65_536
"""Characters of one expression."""

_SPACE = re.compile(r"[ \t\r\n\f]+|//[^\n]*")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_REST = re.compile(r"[A-Za-z0-9_]+")
_QUOTED_NAME = re.compile(r"`([A-Za-z0-9_./ -]+)`")
_OPERATOR = re.compile(r"&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}]")
_STRING = re.compile(r"""([rRbB]{0,2})(\"{3}|'{3}|"|')""")
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)
_CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_SLIPS = {
    "=": "`=` compares nothing: write `==`",
    "&": "write `&&`",
    "|": "write `||`",
    "“": 'write plain quotes: `"…"`',
    "”": 'write plain quotes: `"…"`',
    "‘": "write plain quotes: `'…'`",
    "’": "write plain quotes: `'…'`",
    "#": "a comment begins with `//`",
    "$": "names stand alone: write `name`, not `$name`",
    "，": "write a plain comma",
    "（": "write plain brackets",
    "）": "write plain brackets",
}


class ExprError(Exception):
    """One mistake in an expression, with its place in the text."""

    def __init__(self, sentence: str, at: int, end: int, help: str = "", code: str = "expression") -> None:
        """`at` and `end` are 0-based character offsets; `code` is the name of the error family."""
        super().__init__(sentence)
        self.sentence = sentence
        self.at = at
        self.end = end
        self.help = help
        self.code = code

    def __repr__(self) -> str:
        return f"ExprError({self.code}: {self.sentence!r} at {self.at}:{self.end})"


class Token(NamedTuple):
    """One word of an expression."""

    kind: str
    """`name`, `member` (in backquotes), `int`, `decimal`, `text`, `op` or `end`."""
    value: Any
    at: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the tokens of an expression, closed by one of kind `end`; raises `ExprError`."""
    if len(text) > MAX_LENGTH:
        raise ExprError(
            f"the expression has {len(text)} characters; {MAX_LENGTH} is the most",
            0,
            len(text),
            "move data to `params`",
        )
    found: list[Token] = []
    at = 0
    while True:
        while space := _SPACE.match(text, at):
            at = space.end()
        if at >= len(text):
            break
        token = _token(text, at)
        found.append(token)
        at = token.end
    last = max(len(text) - 1, 0)
    found.append(Token("end", "the end", last, len(text)))
    return found


def _token(text: str, at: int) -> Token:
    if match := _STRING.match(text, at):
        return _string(text, at, match)
    if match := _NAME.match(text, at):
        return Token("name", match.group(), at, match.end())
    if match := _NUMBER.match(text, at):
        return _number(text, match)
    if match := _OPERATOR.match(text, at):
        return Token("op", match.group(), at, match.end())
    if match := _QUOTED_NAME.match(text, at):
        return Token("member", match.group(1), at, match.end())
    char = text[at]
    name = f"`{char}`" if char.isprintable() else f"the character U+{ord(char):04X}"
    raise ExprError(f"{name} has no meaning here", at, at + 1, _SLIPS.get(char, ""))


def _number(text: str, match: re.Match[str]) -> Token:
    written, at, end = match.group(), match.start(), match.end()
    if rest := _WORD_REST.match(text, end):
        end = rest.end()
        if rest.group() in ("u", "U"):
            raise ExprError(f"`{text[at:end]}`: unsigned ints are not offered", at, end, f"write `{written}`")
        raise ExprError(f"`{text[at:end]}` is no number", at, end)
    if len(written) > 4000:
        raise ExprError("the number is too long", at, end)
    if written.startswith("0x"):
        return Token("int", int(written, 16), at, end)
    if written.isdigit():
        return Token("int", int(written), at, end)
    try:
        value = Decimal(written)
    except InvalidOperation:
        value = Decimal("1e9999")
    if value and abs(value.adjusted()) > 6144:
        raise ExprError(f"`{written}` is beyond 10^±6144", at, end, code="type")
    return Token("decimal", written, at, end)


def _string(text: str, at: int, match: re.Match[str]) -> Token:
    prefix, quote = match.group(1).lower(), match.group(2)
    begin = match.end()
    raw = "r" in prefix
    end = _closing(text, begin, quote, raw)
    if end < 0:
        raise ExprError("the text that begins here is not closed", at, len(text), f"close it with `{quote}`")
    if "b" in prefix:
        raise ExprError("bytes are not offered", at, end + len(quote), "write text: leave the `b` away")
    if len(prefix) > 1:
        raise ExprError(f"`{match.group(1)}` is no prefix of a text", at, begin)
    body = text[begin:end]
    value = body if raw else _unescaped(body, begin)
    for index, char in enumerate(value):
        if "\ud800" <= char <= "\udfff":
            raise ExprError(f"half a character (U+{ord(char):04X}, character {index + 1} of the text)", at, end)
    return Token("text", value, at, end + len(quote))


def _closing(text: str, begin: int, quote: str, raw: bool) -> int:
    """Return where the closing quote stands, or -1."""
    at = begin
    while True:
        end = text.find(quote, at)
        line = text.find("\n", begin, end if end >= 0 else len(text)) if len(quote) == 1 else -1
        if end < 0 or line >= 0:
            return -1
        slash = -1 if raw else text.find("\\", at, end)
        if slash < 0:
            return end
        at = slash + 2


def _unescaped(body: str, offset: int) -> str:
    if "\\" not in body:
        return body
    pieces: list[str] = []
    at = 0
    while (slash := body.find("\\", at)) >= 0:
        pieces.append(body[at:slash])
        match = _ESCAPE.match(body, slash)
        if match is None:
            wrong = body[slash : slash + 2]
            raise ExprError(
                f"`{wrong}` is no escape",
                offset + slash,
                offset + slash + len(wrong),
                'write `\\\\` for a backslash, or a raw text: `r"…"`',
            )
        pieces.append(_character(match, offset))
        at = match.end()
    pieces.append(body[at:])
    return "".join(pieces)


def _character(match: re.Match[str], offset: int) -> str:
    simple, two, four, eight, octal = match.groups()
    if simple:
        return _CONTROLS.get(simple, simple)
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ExprError(f"`{match.group()}` is no character", offset + match.start(), offset + match.end())
    return chr(code)

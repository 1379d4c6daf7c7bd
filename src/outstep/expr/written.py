"""Values and expressions as text: one line, as CEL would write them."""

from __future__ import annotations

from decimal import Decimal

from outstep.codec import encode
from outstep.expr.nodes import (
    And,
    Binary,
    Call,
    Cond,
    Has,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Name,
    Node,
    Or,
    Select,
    Unary,
)
from outstep.expr.values import CutText, Duration, Hidden, Maybe, Missing, Moment, Value, from_key, is_lookup


def shown(value: Value, limit: int = 80) -> str:
    """Return a value on one line of at most `limit` characters; what does not fit ends in `…`."""
    pieces: list[str] = []
    _pieces(value, pieces, limit + 1)
    text = "".join(pieces)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(text: str) -> str:
    """Return text as a CEL string literal; control and invisible characters are spelled out."""
    try:
        plain = encode(text).decode()
    except UnicodeEncodeError:
        # JSON has no half of a pair; CEL text may have one, and it is spelled out.
        plain = '"' + "".join(_escape(char) if _is_half(char) else encode(char).decode()[1:-1] for char in text) + '"'
    if plain.isprintable():
        return plain
    return "".join(char if char.isprintable() else _escape(char) for char in plain)


def _is_half(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def number_text(value: int | Decimal) -> str:
    """Return an int in its digits, a decimal without trailing zeros, with an exponent where it would be very long."""
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 10_000 else format(Decimal(value), "f")
    if not value:
        return "0"
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    bare = text.rstrip("0")
    exponent = int(exponent) + len(text) - len(bare)
    return ("-" if sign else "") + _placed(bare, exponent)


def _placed(digits: str, exponent: int) -> str:
    point = len(digits) + exponent
    if exponent >= 0 and point <= 40:
        return digits + "0" * exponent
    if exponent < 0 < point:
        return f"{digits[:point]}.{digits[point:]}"
    if -7 < point <= 0:
        return "0." + "0" * -point + digits
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{point - 1:+d}"


def _pieces(value: Value, pieces: list[str], room: int) -> int:
    """Append the text of a value until there is no room, and return what room is left."""
    if room <= 0:
        return room
    if type(value) is list:
        room = _put("[", pieces, room)
        for index, item in enumerate(value):
            room = _pieces(item, pieces, _put(", ", pieces, room) if index else room)
            if room <= 0:
                return room
        return _put("]", pieces, room)
    if type(value) is dict:
        room = _put("{", pieces, room)
        for index, (name, item) in enumerate(value.items()):
            room = _put(", ", pieces, room) if index else room
            room = _pieces(from_key(name), pieces, room)
            room = _pieces(item, pieces, _put(": ", pieces, room))
            if room <= 0:
                return room
        return _put("}", pieces, room)
    return _put(_scalar(value, room), pieces, room)


def _put(text: str, pieces: list[str], room: int) -> int:
    pieces.append(text)
    return room - len(text)


def _scalar(value: Value, room: int) -> str:
    kind = type(value)
    if kind is str:
        return quoted(value[:room])
    if kind is CutText:
        return quoted(value.visible[:room]) + "…"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Decimal:
        return number_text(value)
    if kind is Missing:
        return "(missing)"
    if kind is Hidden:
        return "(hidden)"
    if kind is Maybe:
        return f"optional.of({shown(value.value, room)})" if value.present else "optional.none()"
    if kind is Moment or kind is Duration:
        from outstep.expr.times import duration_text, moment_text

        return f'time("{moment_text(value)}")' if kind is Moment else f'duration("{duration_text(value)}")'
    return "a fact with keys" if is_lookup(value) else kind.__name__


_LEVELS = {"in": 4, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_TIGHT = 8


def text_of(node: Node) -> str:
    """Return an expression as text; `parse` reads it back as the same tree."""
    return _text(node, 0)


def _text(node: Node, level: int) -> str:
    own, text = _written(node)
    return f"({text})" if own < level else text


def _written(node: Node) -> tuple[int, str]:
    """Return how tightly the outermost operator of a node binds, and the text of the node."""
    if isinstance(node, Cond):
        return 1, f"{_text(node.condition, 2)} ? {_text(node.then, 2)} : {_text(node.other, 1)}"
    if isinstance(node, Or):
        return 2, " || ".join(_text(term, 3) for term in node.terms)
    if isinstance(node, And):
        return 3, " && ".join(_text(term, 4) for term in node.terms)
    if isinstance(node, Binary):
        level = _LEVELS[node.op]
        return level, f"{_text(node.left, level)} {node.op} {_text(node.right, level + 1)}"
    if isinstance(node, Unary):
        text = _text(node.operand, 7 if node.op == "!" else _TIGHT)
        if node.op == "-" and text[0] in ".0123456789":
            text = f"({text})"  # else the sign would be read as part of the number
        return 7, node.op + text
    if isinstance(node, Literal):
        value = node.constant
        if type(value) is int or type(value) is Decimal:
            text = node.number or str(value)
            return 7 if text.startswith("-") else _TIGHT, text
        return _TIGHT, shown(value, len(value) * 12 + 8 if type(value) is str else 8)
    return _TIGHT, _tight(node)


def _tight(node: Node) -> str:
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Select):
        field = node.field if node.field.isidentifier() and node.field.isascii() else f"`{node.field}`"
        return f"{_text(node.operand, _TIGHT)}.{'?' if node.optional else ''}{field}"
    if isinstance(node, Index):
        return f"{_text(node.operand, _TIGHT)}[{'?' if node.optional else ''}{_text(node.index, 0)}]"
    if isinstance(node, Has):
        return f"has({_text(node.select, 0)})"
    if isinstance(node, Call):
        target = "" if node.target is None else _text(node.target, _TIGHT) + "."
        return f"{target}{node.function}({', '.join(_text(part, 0) for part in node.args)})"
    if isinstance(node, Macro):
        parts = [*node.variables, *(_text(part, 0) for part in node.body)]
        return f"{_text(node.target, _TIGHT)}.{node.name}({', '.join(parts)})"
    if isinstance(node, ListOf):
        items = (("?" if at in node.optional else "") + _text(item, 0) for at, item in enumerate(node.items))
        return f"[{', '.join(items)}]"
    assert isinstance(node, MapOf)
    entries = (
        ("?" if at in node.optional else "") + f"{_text(name, 0)}: {_text(item, 0)}"
        for at, (name, item) in enumerate(node.entries)
    )
    return "{" + ", ".join(entries) + "}"

"""JSON texts that people may look at: indented, and what nobody sees spelled out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from outstep import codec
from outstep.errors import Problem

_UNSEEN = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f]")
_HALF = re.compile("[\ud800-\udfff]")


def pretty(value: Any) -> str:
    """Return a value as indented JSON with a last line end; what nobody sees is spelled out."""
    try:
        text = codec.encode(value)
    except UnicodeEncodeError:
        text = codec.encode(without_halves(value))
    # Signs that nobody sees may stand only inside of JSON texts, where an escape means the same.
    return _UNSEEN.sub(_escaped, msgspec.json.format(text, indent=2).decode()) + "\n"


def spelled_out(text: str) -> str:
    """Return a text of JSON texts with the signs in it that nobody sees spelled out as escapes; lines stay lines."""
    for pattern in (_UNSEEN, _CONTROL, _HALF):
        text = pattern.sub(_escaped, text)
    return text


def pretty_parts(members: Mapping[str, Any]) -> Iterator[str]:
    """Yield a map as `pretty` gives it, in parts; a member that is an iterator of lists stands for all their items."""
    opening = "{\n  "
    for name, value in members.items():
        yield f"{opening}{pretty(name)[:-1]}: "
        opening = ",\n  "
        if isinstance(value, Iterator):
            yield from _joined(value)
        else:
            yield _indented(pretty(value)[:-1])
    yield "\n}\n"


def _joined(lists: Iterator[list[Any]]) -> Iterator[str]:
    opening = "["
    for some in lists:
        inside = pretty(some)[1:-3]
        if inside:
            yield _indented(f"{opening}{inside}")
            opening = ","
    yield "[]" if opening == "[" else "\n  ]"


def _indented(text: str) -> str:
    # No JSON text holds a line end of its own.
    return text.replace("\n", "\n  ")


def problem_values(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return problems as maps, their level always in them."""
    # A default is left out only where it is the very same object, which it is not after another process gave it.
    return [{**msgspec.to_builtins(problem), "level": problem.level} for problem in problems]


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def without_halves(value: Any) -> Any:
    """Return a value in which bytes of a file name that are no UTF-8 are spelled out."""
    if isinstance(value, str):
        return _HALF.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", value)
    if isinstance(value, dict):
        return {without_halves(name): without_halves(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_halves(item) for item in value]
    return value

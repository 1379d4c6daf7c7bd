"""CEL's functions of text, with its string extensions. Places and sizes are counted in characters."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from outstep.expr.arithmetic import MAX_PRODUCED, whole
from outstep.expr.function import BOOL, INT, LIST, NUMBER, TEXT, Function, Kind
from outstep.expr.values import TooCostly, Value, word

if TYPE_CHECKING:
    from outstep.expr.patterns import Pattern

_BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space; Python's own list holds four more."""
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code + 32: code for code in _LOWER}
PATTERNS_KEPT = 256


@lru_cache(maxsize=PATTERNS_KEPT)
def compiled(pattern: str) -> Pattern:
    """Return the compiled RE2 pattern of a text; raises `ValueError`."""
    from outstep.expr.patterns import compile_pattern

    return compile_pattern(pattern)


def _matches(text: str, pattern: str) -> bool:
    return bool(compiled(pattern).search(text))


def _contains(text: str, part: str) -> bool:
    return part in text


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LOWER)


def _upper(text: str) -> str:
    return text.upper() if text.isascii() else text.translate(_UPPER)


def _trim(text: str) -> str:
    return text.strip(_BLANKS)


def _place(value: Value, text: str) -> int:
    place = whole(value)
    if place is None or not 0 <= place <= len(text):
        raise ValueError(f"no place in a text of {len(text)} characters")
    return place


def _char_at(text: str, place: Value) -> str:
    at = _place(place, text)
    return text[at : at + 1]


def _index_of(text: str, part: str, start: Value = 0) -> int:
    return text.find(part, _place(start, text))


def _last_index_of(text: str, part: str, start: Value = None) -> int:
    return text.rfind(part) if start is None else text.rfind(part, 0, _place(start, text) + len(part))


def _substring(text: str, start: Value, end: Value = None) -> str:
    begin = _place(start, text)
    stop = len(text) if end is None else _place(end, text)
    if begin > stop:
        raise ValueError("the end stands before the beginning")
    return text[begin:stop]


def _count(value: Value) -> int:
    count = whole(value)
    if count is None:
        raise ValueError("the limit is no int")
    return max(-1, min(count, 1 << 40))


def _replace(text: str, old: str, new: str, limit: Value = -1) -> str:
    count = _count(limit)
    if len(new) > len(old):
        times = text.count(old) if count < 0 else min(count, text.count(old))
        if len(text) + times * (len(new) - len(old)) > MAX_PRODUCED:
            raise TooCostly("a text grows beyond sixteen million characters")
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: Value = -1) -> list[Value]:
    count = _count(limit)
    if count == 0:
        return []
    if separator:
        return list(text.split(separator, count - 1 if count > 0 else -1))
    if count < 0 or count >= len(text):
        return list(text) or [""]
    return [*text[: count - 1], text[count - 1 :]]


def _join(parts: list[Value], separator: str = "") -> str:
    for part in parts:
        if type(part) is not str:
            raise ValueError(f"{word(part)} cannot be joined")
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_PRODUCED:
        raise TooCostly("a text grows beyond sixteen million characters")
    return separator.join(parts)


def _reverse(text: str) -> str:
    return text[::-1]


def _method(name: str, usage: str, run: Callable[..., Value], *more: Kind, least: int, gives: Kind) -> Function:
    return Function(
        name=name,
        usage=usage,
        takes=(TEXT, *more),
        least=least,
        gives=gives,
        run=run,
        style="method",
    )


def _search(name: str, usage: str, run: Callable[..., Value]) -> Function:
    return Function(
        name=name,
        usage=usage,
        takes=(TEXT, TEXT),
        least=2,
        gives=BOOL,
        run=run,
        style="both",
        search=name != "endsWith",
    )


FUNCTIONS = (
    _search("matches", "text.matches(pattern)", _matches),
    _search("contains", "text.contains(part)", _contains),
    _search("startsWith", "text.startsWith(part)", str.startswith),
    _search("endsWith", "text.endsWith(part)", str.endswith),
    _method("lowerAscii", "text.lowerAscii()", _lower, least=1, gives=TEXT),
    _method("upperAscii", "text.upperAscii()", _upper, least=1, gives=TEXT),
    _method("trim", "text.trim()", _trim, least=1, gives=TEXT),
    _method("split", "text.split(separator, limit)", _split, TEXT, NUMBER, least=2, gives=LIST),
    _method("replace", "text.replace(old, new, limit)", _replace, TEXT, TEXT, NUMBER, least=3, gives=TEXT),
    _method("substring", "text.substring(start, end)", _substring, NUMBER, NUMBER, least=2, gives=TEXT),
    _method("indexOf", "text.indexOf(part, start)", _index_of, TEXT, NUMBER, least=2, gives=INT),
    _method("lastIndexOf", "text.lastIndexOf(part, start)", _last_index_of, TEXT, NUMBER, least=2, gives=INT),
    _method("charAt", "text.charAt(place)", _char_at, NUMBER, least=2, gives=TEXT),
    _method("reverse", "text.reverse()", _reverse, least=1, gives=TEXT),
    Function(
        name="join", usage="list.join(separator)", takes=(LIST, TEXT), least=1, gives=TEXT, run=_join, style="method"
    ),
)

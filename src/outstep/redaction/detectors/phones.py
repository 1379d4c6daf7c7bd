"""Telephone numbers: with a `+`, Chinese mobiles, forms of North America and of Chinese lines, and what is called one.

A bare number of another length is no telephone number: orders and items have those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern
from outstep.redaction.detectors.base import DIGITS, Hit, digits_of, stands_alone

# E.164: country codes as the ITU lists them; what follows has 7 to 12 digits, in North America 10, in China 10 or 11.
_COUNTRY = re.compile(
    rb"(?:1(?=[2-9]\d\d[2-9]\d{6}$)|86(?=1[3-9]\d{9}$|[1-9]\d{8,10}$)|7(?=\d{10}$)|"
    rb"(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[124]|9[0-58])(?=\d{7,12}$)|"
    rb"(?:2[1-689]\d|3[578]\d|42\d|50\d|59\d|67\d|68\d|69\d|80\d|85\d|87\d|88\d|96\d|97\d|99\d)(?=\d{6,11}$))"
)
# MIIT's numbering plan: what begins a mobile number.
_MOBILE = r"1(?:3[0-9]|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8[0-9]|9[0-35-9])"
_CALLED = (
    r"(?i)(?:phone|mobile|telephone|whatsapp|手机|电话|\btel|\bcell|\bfax)(?:[_ ]?(?:number|num|no|nr)\.?|号码|号)?"
    r"[\"'\\]{0,4}\s?(?:[:=：]|is\b|是|为)?\s?[\"'\\]{0,4}(\+?\(?[0-9][0-9 ().-]{5,18}[0-9])"
)
_GROUPS = r"[0-9]{3}-[0-9]{3}-[0-9]{4}|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|[2-9][0-9]{2}\.[0-9]{3}\.[0-9]{4}"
"""North America writes its numbers so."""
_DATE = re.compile(rb"(?:19|20)\d\d[-. ]?[01]\d[-. ]?[0-3]\d")
_SIZE_NAMED = re.compile(
    rb"(?i)(?:size|bytes|length|offset|total|used|free|avail\w*|count|\w*id|seq|time\w*|ts|inode|order|number|no)"
    rb"[\"'\\]{0,4}\s?[:=]\s?[\"'\\]{0,4}$"
)
_MEASURED = re.compile(
    rb"\s?(?:bytes|[KMGT]?i?B\b|[mnu\xc2\xb5]?s\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|20\d\d-)"
)
"""Behind a number that counts bytes or time; `ls -l` writes a date there."""
_LOOK_BACK = 32

_Check = Callable[[bytes, int, int], bool]


def find(text: bytes) -> Iterator[Hit]:
    """Yield telephone numbers."""
    for pattern, group, is_right in _forms():
        place = 0
        while (spans := pattern.spans(text, place)) is not None:
            start, end = spans[group]
            if text[start : start + 1] == b"(" and b")" not in text[start:end]:
                start += 1
            if is_right(text, start, end) and not (group and _is_within_word(text, spans[0][0])):
                yield Hit(start, end, "phone", sure=is_right is _is_called)
            place = max(end, place + 1)


def hints() -> list[str]:
    """Return what every telephone number holds."""
    return [
        r"\+[1-9][0-9() .-]{6}",
        rf"(?:^|[^0-9]){_MOBILE}(?:[0-9]{{8}}|[ -][0-9]{{4}}[ -][0-9]{{4}})(?:[^0-9]|$)",
        rf"(?:^|[^0-9])86[ -]?{_MOBILE}[0-9]{{8}}(?:[^0-9]|$)",
        _GROUPS,
        r"(?:^|[^0-9])0[0-9]{2,3}-[0-9]{7,8}",
        _CALLED.replace(r"\b", ""),
    ]


@cache
def _forms() -> tuple[tuple[Pattern, int, _Check], ...]:
    return (
        (compile_pattern(_CALLED), 1, _is_called),
        (compile_pattern(r"\+[1-9][0-9]{0,3}(?:[ .-]?\(?[0-9]{1,12}\)?){1,6}"), 0, _is_international),
        (compile_pattern(rf"(?:86[ -]?)?{_MOBILE}(?:[0-9]{{8}}|[ -][0-9]{{4}}[ -][0-9]{{4}})"), 0, _is_mobile),
        (compile_pattern(rf"(?:1[ -])?(?:{_GROUPS})"), 0, _is_in_groups),
        (compile_pattern(r"\(?0(?:10|2[0-9]|[3-9][0-9]{2})\)?-[0-9]{7,8}"), 0, _is_in_groups),
    )


def _is_called(text: bytes, start: int, end: int) -> bool:
    value = text[start:end]
    digits = digits_of(value)
    if not 7 <= len(digits) <= 15 or _DATE.match(value) or _is_price(value):
        return False
    return end >= len(text) or (text[end] not in DIGITS and stands_alone(text, start, end))


def _is_within_word(text: bytes, start: int) -> bool:
    """Return whether the name goes on before it: `smartphone`, `iPhone`; but `customerPhone` is a name of its own."""
    before, first = text[max(0, start - 5) : start].lower(), text[start : start + 1]
    if not before[-1:].isalpha():
        return False
    return not first.isupper() or before.endswith((b"smart", b"head", b"ear", b"micro")) or not before[-2:].isalpha()


def _is_price(value: bytes) -> bool:
    whole, point, fraction = value.rpartition(b".")
    return bool(point) and len(fraction) <= 2 and b"." not in whole and b"-" not in whole and b" " not in whole


def _is_international(text: bytes, start: int, end: int) -> bool:
    if start and (text[start - 1 : start].isalnum() or text[start - 1] in b"+_.)]"):
        return False
    return bool(_COUNTRY.match(digits_of(text[start:end]))) and not text[end : end + 1].isalnum()


def _is_mobile(text: bytes, start: int, end: int) -> bool:
    if not stands_alone(text, start, end) or (start and text[start - 1] in b"#$.-/\\+"):
        return False
    if text[end : end + 1] in (b"-", b"/") and text[end + 1 : end + 2].isalnum():
        return False
    return not (_MEASURED.match(text, end) or _SIZE_NAMED.search(text, max(0, start - _LOOK_BACK), start))


def _is_in_groups(text: bytes, start: int, end: int) -> bool:
    if not stands_alone(text, start, end) or (start and text[start - 1] in b"#$-/.+"):
        return False
    return not (text[end : end + 1] in (b"-", b"/") and text[end + 1 : end + 2].isalnum())

"""Numbers of payment cards: beginning and length of a network, and the check digit (ISO/IEC 7812, Luhn)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern
from outstep.redaction.detectors.base import Hit, digits_of, stands_alone

_NUMBER = (
    r"[2-6][0-9]{13,18}|"
    r"[2-6][0-9]{3}(?:-[0-9]{4}){3}(?:-[0-9]{1,3})?|[2-6][0-9]{3}(?: [0-9]{4}){3}(?: [0-9]{3})?|"
    r"3[0-9]{3}-[0-9]{6}-[0-9]{4,5}|3[0-9]{3} [0-9]{6} [0-9]{4,5}"
)
# ISO/IEC 7812 issuer numbers, as the networks publish them: Visa 4 (16); Mastercard 51-55, 2221-2720; American
# Express 34, 37 (15); Discover 6011, 644-649, 65; JCB 3528-3589; Diners Club 300-305, 36, 38 (14); UnionPay 62 (16-19).
_NETWORK = re.compile(
    rb"4\d{15}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12}|"
    rb"35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)


def find(text: bytes) -> Iterator[Hit]:
    """Yield card numbers."""
    place = 0
    while (span := next(_pattern().places(text, place), None)) is not None:
        start, end = span
        if stands_alone(text, start, end) and not _is_joined(text, start, end) and is_card(digits_of(text[start:end])):
            yield Hit(start, end, "card", sure=True)
            place = end
        else:
            # Groups that only seem to belong together may hide a number that begins with the next group.
            place = _next_group(text, start, end)


def hints() -> list[str]:
    """Return what every card number holds."""
    return [
        r"(?:^|[^0-9])[2-6][0-9]{13,18}(?:[^0-9]|$)",
        r"[2-6][0-9]{3}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}",
        r"3[0-9]{3}[ -][0-9]{6}[ -][0-9]{4}",
    ]


def is_card(digits: bytes) -> bool:
    """Return whether digits are the number of a card."""
    if not _NETWORK.fullmatch(digits) or len(set(digits)) < 2:
        return False
    total = 0
    for place, sign in enumerate(reversed(digits)):
        number = sign - 48
        if place % 2:
            number = number * 2 - 9 if number > 4 else number * 2
        total += number
    return total % 10 == 0


@cache
def _pattern() -> Pattern:
    return compile_pattern(_NUMBER)


def _is_joined(text: bytes, start: int, end: int) -> bool:
    """Return whether more groups or letters hang on it, as in a UUID."""
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    return (len(before) == 2 and before[1:] == b"-" and before[:1].isalnum()) or (
        len(behind) == 2 and behind[:1] == b"-" and behind[1:].isalnum()
    )


def _next_group(text: bytes, start: int, end: int) -> int:
    while start < end and text[start : start + 1].isdigit():
        start += 1
    return start + 1 if start < end else end

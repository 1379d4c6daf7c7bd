"""What every detector offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct


class Hit(Struct, frozen=True):
    """A value that is to be replaced."""

    start: int
    end: int
    kind: str
    sure: bool = False
    """A number of JSON counts only then: nothing but its form speaks for a text, and numbers count many things."""


class Detector(Protocol):
    """Finds one family of values. A module `detectors/<name>.py` offers `find` and `hints`."""

    def find(self, text: bytes) -> Iterator[Hit]:
        """Yield the values in a plain text, in UTF-8; they may overlap."""
        ...

    def hints(self) -> list[str]:
        r"""Return patterns of which one matches wherever `find` finds, even behind an escape such as `\n`."""
        ...


WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
DIGITS = frozenset(b"0123456789")


def digits_of(value: bytes) -> bytes:
    """Return the digits of a value alone."""
    return bytes(sign for sign in value if sign in DIGITS)


def stands_alone(text: bytes, start: int, end: int) -> bool:
    """Return whether a run of digits is a word of its own, and no part of a number with a fraction."""
    if start and (text[start - 1] in WORD or _is_fraction(text[max(0, start - 2) : start])):
        return False
    behind = text[end : end + 2]
    return not behind or not (behind[0] in WORD or (behind[:1] == b"." and len(behind) > 1 and behind[1] in DIGITS))


def _is_fraction(before: bytes) -> bool:
    return len(before) == 2 and before[1:] == b"." and before[0] in DIGITS

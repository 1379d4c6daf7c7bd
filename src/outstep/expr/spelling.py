"""Spellings that read alike: normal form, the texts inside a value, numbers as decimals."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any

DIGITS = 6144
"""No number of ours has more (SEMANTICS section 4, *exact-decimal*)."""

_MARKS = 30
"""Combining marks in a row: Unicode's stream-safe format (UAX #15) stops there too."""


def nfkc(text: str) -> str:
    """Return the text in normal form NFKC, in linear time."""
    if text.isascii():
        return text
    if len(text) > 1000:
        text = _without_long_runs_of_marks(text)
    return unicodedata.normalize("NFKC", text)


def normalise(text: str) -> str:
    """Return the text in NFKC, case-folded: equal for two spellings that read alike."""
    if text.isascii():
        return text.lower()
    folded = nfkc(text).casefold()
    return folded if unicodedata.is_normalized("NFKC", folded) else unicodedata.normalize("NFKC", folded)


def texts_in(x: Any) -> Iterator[str]:
    """Yield every text in a JSON value, member names too, numbers as decimals; in document order."""
    todo = [x]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for name in reversed(value):
                todo.append(value[name])
                todo.append(name)
        elif isinstance(value, list | tuple):
            todo.extend(reversed(value))
        elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            with suppress(ValueError):  # a number beyond what we read stands for nothing
                yield plain_number(value)


def plain_number(value: int | float | Decimal) -> str:
    """Return a number as decimal digits, without exponent and without zeros at the end of its fraction."""
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite() or number.adjusted() > DIGITS or _exponent(number) < -2 * DIGITS:
        raise ValueError("the number is out of range")
    text = cut_zeros(format(number, "f"))
    return "0" if text == "-0" else text


def shorten(text: str) -> str:
    """Return a text on one line, cut where it is too long to quote."""
    line = " ".join(text[:200].split())
    return line if len(line) <= 40 and len(text) <= 200 else line[:39] + "…"


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def cut_zeros(text: str) -> str:
    """Return a decimal without zeros at the end of its fraction."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _without_long_runs_of_marks(text: str) -> str:
    """Break runs of combining marks, whose ordering takes quadratic time, by the joiner U+034F."""
    from outstep.expr.patterns import compile_pattern

    if not _marks:
        _marks.append(compile_pattern(rf"\pM{{{_MARKS + 1}}}"))
    if not _marks[0].search(text):
        return text
    broken: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
        if marks > _MARKS:
            broken.append("\u034f")
            marks = 1
        broken.append(char)
    return "".join(broken)


_marks: list[Any] = []

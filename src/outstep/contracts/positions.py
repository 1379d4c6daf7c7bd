"""From a character of a YAML scalar's value back to where it was written."""

from __future__ import annotations

from functools import lru_cache

from outstep.contracts.located import Scalar
from outstep.contracts.report import Span

_ESCAPED = {"x": 3, "u": 5, "U": 9}
"""Characters behind the backslash that one escape takes."""


def part(scalar: Scalar, at: int, end: int) -> Span:
    """Return where the characters `at` to `end` of the value stand in the file."""
    places = _places(scalar)
    if places is None:
        return scalar.span
    start = places[min(at, len(places) - 1)]
    stop = places[min(max(at, end - 1), len(places) - 1)] + 1 if end > at else start + 1
    if at >= len(places):
        start = stop = places[-1]
        stop += 1
    return Span(scalar.file, start, max(stop, start + 1))


@lru_cache(maxsize=8)
def _places(scalar: Scalar) -> list[int] | range | None:
    """Return the offset in the file of each character of the value, or none where that cannot be told."""
    text, start, end = scalar.file.text, scalar.start, scalar.end
    if not scalar.text:
        return None
    if text.startswith(scalar.text, start):
        return range(start, start + len(scalar.text))
    if scalar.style:
        start += 1
    if scalar.style in ("|", ">"):
        start = _after_line(text, start, end)
    elif scalar.style and text.startswith(scalar.text, start) and len(scalar.text) == end - start - 1:
        return range(start, end - 1)
    return _aligned(scalar, start, end)


def _after_line(text: str, at: int, end: int) -> int:
    while at < end and text[at] not in "\r\n":
        at += 1
    return at


def _aligned(scalar: Scalar, at: int, end: int) -> list[int] | None:
    """Walk value and source side by side, undoing escapes, doubled quotes, folding and indentation."""
    text, value, style = scalar.file.text, scalar.text, scalar.style
    places: list[int] = []
    block = style in ("|", ">")
    if block:
        start, at = at, _blanks_end(text, at, end)
        places.extend([start] * _folded(text, start, at, value, 0, block=block))
    while len(places) < len(value) and at < end:
        sign = value[len(places)]
        blanks = _blanks_end(text, at, end)
        if blanks > at and _holds_line_end(text, at, blanks):
            count = _folded(text, at, blanks, value, len(places), block=block)
            places.extend([at] * count)
            at = blanks
        elif style == '"' and text[at] == "\\":
            code = text[at + 1 : at + 2]
            if code in "\r\n":
                at = _blanks_end(text, at + 1, end)
            else:
                places.append(at)
                at += 1 + _ESCAPED.get(code, 1)
        elif text[at] == sign:
            places.append(at)
            at += 2 if style == "'" and sign == "'" else 1
        else:
            return None
    while block and len(places) < len(value) and value[len(places)] == "\n":
        places.append(max(scalar.start, end - 1))
    return places if len(places) == len(value) else None


def _blanks_end(text: str, at: int, end: int) -> int:
    while at < end and text[at] in " \t\r\n":
        at += 1
    return at


def _holds_line_end(text: str, start: int, end: int) -> bool:
    return any(text[at] in "\r\n" for at in range(start, end))


def _folded(text: str, start: int, end: int, value: str, reached: int, *, block: bool) -> int:
    """Return how many characters of the value stand for the blanks and line ends between `start` and `end`."""
    if block:
        count = 0
        while reached + count < len(value) and value[reached + count] in " \t\n":
            count += 1
        return count
    gap = text[start:end].replace("\r\n", "\n").replace("\r", "\n")
    return max(1, gap.count("\n") - 1)

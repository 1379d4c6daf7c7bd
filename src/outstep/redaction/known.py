"""Values that were found in a document once are sought in all of it: as they are, in pieces, and cut off.

A piece has six characters or more. Of a secret that is any part that looks drawn; of a number the digits that stand
alone; of an address what reaches up to its `@`; of anything else its beginning where a text was cut. Common words are
never taken for a piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from outstep.expr.patterns import Pattern, compile_pattern, quote
from outstep.redaction.detectors.base import Hit, digits_of

PIECE = 6
MOST = 4_000
"""Alternatives in one pattern."""
_NUMBERS = frozenset(("phone", "card"))
_SPELLED = b'"\\/<>&\n\t\r'
_WORDS = frozenset(("email",))
_DIGIT_RUN = re.compile(rb"(?<![0-9])[0-9](?:[ -]?[0-9]){5,18}(?![0-9])")
_CUT = re.compile(rb"""\Z|["'\\]|\xe2\x80\xa6|\.\.\.|\s?[\[<(](?:truncated|cut|omitted)""")


class Known:
    """Values, each with its kind."""

    def __init__(self, values: Mapping[bytes, str]) -> None:
        self._kinds = dict(values)
        self.is_escaped = any(not value.isascii() or any(sign in value for sign in _SPELLED) for value in values)
        """JSON may spell some of the values in another way."""
        self._whole = _alternatives(sorted(values, key=lambda value: (-len(value), value)))
        self._digits = tuple(sorted({digits_of(value) for value, kind in values.items() if kind in _NUMBERS}))
        pieces: dict[bytes, list[bytes]] = {}
        for value, kind in sorted(values.items()):
            for piece in _drawn_pieces(value, kind):
                pieces.setdefault(piece, []).append(value)
        self._pieces = pieces
        self._drawn = _alternatives(sorted(pieces))
        self._beginnings: dict[bytes, list[bytes]] = {}
        for value, kind in sorted(values.items()):
            if kind not in _NUMBERS and len(value) > PIECE:
                self._beginnings.setdefault(value[:PIECE], []).append(value)
        self._begun = _alternatives(sorted(self._beginnings))

    def find(self, text: bytes) -> Iterator[Hit]:
        """Yield values and pieces of them."""
        for pattern in self._whole:
            for start, end in pattern.places(text):
                yield Hit(start, end, self._kinds[text[start:end]], sure=True)
        for pattern in self._drawn:
            for start, end in pattern.places(text):
                values = self._pieces[text[start:end]]
                first, last = _grown(text, start, end, values)
                # The beginning of an address may be a common word with a number: inside another word it means nothing.
                if any(self._kinds[value] not in _WORDS for value in values) or _is_word(text, first, last):
                    yield Hit(first, last, "piece", sure=True)
        yield from self._numbers(text)
        for pattern in self._begun:
            for start, end in pattern.places(text):
                yield from self._cut_off(text, start, end)

    def may_hold(self, text: bytes) -> bool:
        """Return whether something may be found."""
        if any(next(pattern.places(text), None) for pattern in (*self._whole, *self._drawn, *self._begun)):
            return True
        return next(self._numbers(text), None) is not None

    def _numbers(self, text: bytes) -> Iterator[Hit]:
        if not self._digits:
            return
        for match in _DIGIT_RUN.finditer(text):
            digits = digits_of(match[0])
            if any(digits in known for known in self._digits):
                yield Hit(match.start(), match.end(), "piece", sure=True)

    def _cut_off(self, text: bytes, start: int, end: int) -> Iterator[Hit]:
        for value in self._beginnings[text[start:end]]:
            last = end
            while last < len(text) and last - start < len(value) and text[last] == value[last - start]:
                last += 1
            is_address = self._kinds[value] in _WORDS
            if last - start == len(value) or not _CUT.match(text, last):
                continue
            if not is_address or b"@" in text[start:last]:
                yield Hit(start, last, "piece", sure=True)


def _alternatives(texts: Iterable[bytes]) -> list[Pattern]:
    """Return patterns that match these texts, the first of them where several do."""
    found, some = [], list(texts)
    for start in range(0, len(some), 500):
        part = [quote(text.decode("utf-8", "replace")) for text in some[start : start + 500]]
        while part:
            size = 0
            count = 0
            while (count < len(part) and (size := size + len(part[count]) + 1) < MOST * 4) or not count:
                count += 1
            found.append(compile_pattern("|".join(part[:count])))
            part = part[count:]
    return found


def _drawn_pieces(value: bytes, kind: str) -> Iterator[bytes]:
    """Yield the pieces of six characters that no text holds by chance."""
    if kind in _NUMBERS or kind.startswith("rule:"):
        return
    body = value.partition(b"@")[0] if kind in _WORDS else value
    for start in range(len(body) - PIECE + 1):
        piece = body[start : start + PIECE]
        classes = (
            any(97 <= sign < 123 for sign in piece)
            + any(65 <= sign < 91 for sign in piece)
            + any(48 <= sign < 58 for sign in piece)
        )
        if classes >= 2 and len(set(piece)) >= 4 and piece.isascii():
            yield piece


def _is_word(text: bytes, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and start) and not text[end : end + 1].isalnum()


def _grown(text: bytes, start: int, end: int, values: list[bytes]) -> tuple[int, int]:
    """Return how far a piece reaches in a text, in whichever value it reaches farthest."""
    best = (start, end)
    for value in values:
        at = value.find(text[start:end])
        first, last = start, end
        while first > 0 and at - (start - first) > 0 and text[first - 1] == value[at - (start - first) - 1]:
            first -= 1
        reach = at + end - start
        while last < len(text) and reach < len(value) and text[last] == value[reach]:
            last, reach = last + 1, reach + 1
        if last - first > best[1] - best[0]:
            best = (first, last)
    return best

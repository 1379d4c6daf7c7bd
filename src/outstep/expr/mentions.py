"""`mentions(x, v)`: a value occurs in a text as a whole token, and an index of many values sought in one text.

The meaning is SEMANTICS section 5.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Any, Generic, TypeVar

from msgspec import Struct

from outstep.expr.spelling import cut_zeros, normalise, plain_number, texts_in

_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_RUN = re.compile(r"[a-z0-9_]+")
_CHAIN = re.compile(r"[a-z0-9_]*(?:[-.][a-z0-9_]+)*")
_PLAIN_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def mentions(x: Any, v: Any) -> bool:
    """Return whether `v` occurs as a whole token in `x`, or in any text inside it.

    `v` is a text or a number; null and empty text occur nowhere. Raises `ValueError` for other values.
    """
    needles = _needles(v)
    if not needles:
        return False
    if isinstance(x, str):
        return _any_occurs(normalise(x), needles)
    return any(_any_occurs(normalise(text), needles) for text in texts_in(x))


def words_of(v: Any) -> tuple[tuple[str, ...], ...]:
    """Return for each spelling of `v` words that a text in normal form must hold if it mentions `v` in that spelling.

    A word is a whole run of ASCII letters, digits and `_`; a spelling without any gives its characters beyond ASCII.
    Of a number only the first run counts: a text may write more zeros behind its point. Raises `ValueError` as
    `mentions` does.
    """
    return tuple(_words(needle) for needle in _needles(v))


def _words(needle: _Needle) -> tuple[str, ...]:
    runs = _RUN.findall(needle.text)
    if not runs:
        return tuple(dict.fromkeys(char for char in needle.text if not char.isascii()))
    return tuple(runs[:1]) if needle.numeric else tuple(dict.fromkeys(runs))


class _Needle(Struct, frozen=True):
    """One spelling of a value, as it is sought in normalised text."""

    text: str
    numeric: bool = False
    """A plain decimal: zeros at the end of a fraction do not matter."""
    grouped: bool = False
    """Digits in groups of three: no further group may touch."""


def _needles(v: Any) -> tuple[_Needle, ...]:
    """Return the spellings of a value; none when it occurs nowhere. Raises `ValueError`."""
    if isinstance(v, str):
        text = _bare(normalise(v))
        if not text:
            return ()
        numeric = text.isascii() and _PLAIN_NUMBER.fullmatch(text) is not None
        if not numeric:
            return (_Needle(text),)
        text = cut_zeros(text)
    elif v is None:
        return ()
    elif isinstance(v, int | float | Decimal) and not isinstance(v, bool):
        text = plain_number(v)
    else:
        raise ValueError("only a text or a number can be mentioned")
    whole = text.lstrip("-").partition(".")[0]
    if len(whole) < 4:
        return (_Needle(text, numeric=True),)
    return _Needle(text, numeric=True), _Needle(_in_groups(text, whole), numeric=True, grouped=True)


def _sought(v: Any) -> tuple[_Needle, ...]:
    try:
        return _needles(v)
    except ValueError:
        return ()


def _in_groups(text: str, whole: str) -> str:
    first = len(whole) % 3
    groups = ([whole[:first]] if first else []) + [whole[at : at + 3] for at in range(first, len(whole), 3)]
    return text.replace(whole, ",".join(groups), 1)


def _bare(text: str) -> str:
    """Return the text without outer punctuation and blanks."""
    start, end = 0, len(text)
    while start < end and not _counts(text[start]):
        start += 1
    while end > start and not _counts(text[end - 1]):
        end -= 1
    return text[start:end]


def _counts(char: str) -> bool:
    return char in _WORD or unicodedata.category(char)[0] in "LNM"


def _any_occurs(text: str, needles: tuple[_Needle, ...]) -> bool:
    return any(_occurs(text, needle) for needle in needles)


def _occurs(text: str, needle: _Needle) -> bool:
    """Return whether a needle stands untouched somewhere in normalised text."""
    sought = needle.text
    within_word = sought[0] in _WORD
    place = text.find(sought)
    while place >= 0:
        if not _touched_before(text, place):
            if _stands(text, place, needle):
                return True
            place += 1
        else:
            # A needle that begins inside a chain such as `a-b-c` is touched at each of its places.
            place = max(place + 1, _CHAIN.match(text, place).end() if within_word else 0)  # type: ignore[union-attr]
        place = text.find(sought, place)
    return False


def stands_in(text: str, word: str) -> bool:
    """Return whether a word (ASCII letters, digits, `-`, `_`; some letter) is mentioned; both in normal form."""
    place = text.find(word)
    while place >= 0:
        if not _touched_before(text, place) and not _touched_behind(text, place + len(word)):
            return True
        place = text.find(word, place + 1)
    return False


def _stands(text: str, start: int, needle: _Needle) -> bool:
    """Return whether a needle found at `start`, untouched before, is untouched behind."""
    end = start + len(needle.text)
    if needle.grouped and (_is_digit(text, end + 1, ",") or _is_digit(text, start - 2, ",", 1)):
        return False
    if not _touched_behind(text, end):
        return True
    if not needle.numeric:
        return False
    zeros = end if "." in needle.text else end + 1
    if zeros > end and not text.startswith(".0", end):
        return False
    while text.startswith("0", zeros):
        zeros += 1
    return zeros > end and not _touched_behind(text, zeros)


def _is_digit(text: str, place: int, separator: str, step: int = -1) -> bool:
    return 0 <= place < len(text) and text[place] in "0123456789" and text[place + step] == separator


def _touched_before(text: str, start: int) -> bool:
    if start == 0:
        return False
    char = text[start - 1]
    return char in _WORD or (char in "-." and start > 1 and text[start - 2] in _WORD)


def _touched_behind(text: str, end: int) -> bool:
    if end >= len(text):
        return False
    char = text[end]
    return char in _WORD or (char in "-." and end + 1 < len(text) and text[end + 1] in _WORD)


Payload = TypeVar("Payload")

_FEW = 4
_LONG = 64


class MentionIndex(Generic[Payload]):
    """Many values, each with a hashable payload, and which of them a text mentions.

    Equal to `mentions` for each value; the time depends on the text, not on the number of values. Values are filed
    under the first run of ASCII letters and digits in their spelling, or under their first character.
    """

    def __init__(self) -> None:
        self._spellings: dict[_Needle, dict[Payload, int]] = {}
        self._shelves: dict[str, dict[tuple[int, int], dict[str, list[_Needle]]]] = {}
        self._wordless = 0
        self._added = 0

    def __bool__(self) -> bool:
        return bool(self._spellings)

    def add(self, v: Any, payload: Payload) -> None:
        """Hold a value; null, empty text and what is neither text nor number are never found."""
        self._added += 1
        for needle in _sought(v):
            payloads = self._spellings.get(needle)
            if payloads is None:
                payloads = self._spellings[needle] = {}
                self._shelve(needle)
            payloads.setdefault(payload, self._added)

    def discard(self, v: Any, payload: Payload) -> None:
        """Forget a value with this payload, if it is held."""
        for needle in _sought(v):
            payloads = self._spellings.get(needle)
            if payloads is None:
                continue
            payloads.pop(payload, None)
            if not payloads:
                del self._spellings[needle]
                self._unshelve(needle)

    def found(self, x: Any) -> list[Payload]:
        """Return the payloads of the values that `x`, or any text inside it, mentions, in the order of `add`."""
        if not self._spellings:
            return []
        found: dict[Payload, int] = {}
        for text in (x,) if isinstance(x, str) else texts_in(x):
            self._collect(normalise(text), found)
        return sorted(found, key=found.__getitem__)

    def _collect(self, text: str, found: dict[Payload, int]) -> None:
        if len(self._spellings) <= _FEW:
            for needle in self._spellings:
                if _occurs(text, needle):
                    self._take(needle, found)
            return
        shelves = self._shelves
        if self._may_hold(text):
            for run in _RUN.finditer(text):
                shelf = shelves.get(run[0])
                if shelf is not None:
                    self._look(text, run.start(), shelf, found)
        if self._wordless:
            for place, char in enumerate(text):
                if char not in _WORD and (shelf := shelves.get(char)) is not None:
                    self._look(text, place, shelf, found)

    def _may_hold(self, text: str) -> bool:
        """Return false if the text holds no word that any value begins with: so it is for most."""
        if len(self._shelves) > _FEW:
            return not self._shelves.keys().isdisjoint(_RUN.findall(text))
        for name in self._shelves:  # noqa: SIM110 (`any` costs more than all the looks)
            if name in text:
                return True
        return False

    def _look(
        self,
        text: str,
        place: int,
        shelf: dict[tuple[int, int], dict[str, list[_Needle]]],
        found: dict[Payload, int],
    ) -> None:
        """Take the needles of one shelf that stand around `place`."""
        for (offset, length), drawer in shelf.items():
            start = place - offset
            if start < 0 or _touched_before(text, start):
                continue
            for needle in drawer.get(text[start : start + length], ()):
                if (len(needle.text) == length or text.startswith(needle.text, start)) and _stands(text, start, needle):
                    self._take(needle, found)

    def _take(self, needle: _Needle, found: dict[Payload, int]) -> None:
        for payload, order in self._spellings[needle].items():
            if found.get(payload, order) >= order:
                found[payload] = order

    def _shelve(self, needle: _Needle) -> None:
        name, offset = _label(needle.text)
        self._wordless += name[0] not in _WORD
        size = min(len(needle.text), _LONG)
        shelf = self._shelves.setdefault(name, {})
        shelf.setdefault((offset, size), {}).setdefault(needle.text[:size], []).append(needle)

    def _unshelve(self, needle: _Needle) -> None:
        name, offset = _label(needle.text)
        self._wordless -= name[0] not in _WORD
        size = min(len(needle.text), _LONG)
        shelf = self._shelves[name]
        drawer = shelf[offset, size]
        drawer[needle.text[:size]].remove(needle)
        if not drawer[needle.text[:size]]:
            del drawer[needle.text[:size]]
        if not drawer:
            del shelf[offset, size]
        if not shelf:
            del self._shelves[name]


def _label(text: str) -> tuple[str, int]:
    """Return the shelf of a spelling, and how far behind its start the shelf's name stands."""
    run = _RUN.search(text)
    return (text[0], 0) if run is None else (run[0], run.start())

"""The texts that a lane knows, so that `known(v)` can say whether a value has a source."""

from __future__ import annotations

from typing import Any

from outstep.expr.text import mentions, normalise
from outstep.expr.values import CutText

_WORD_BREAKS = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


class KnownText:
    """Texts by the words in them, each with the place from which it is known."""

    def __init__(self) -> None:
        self._by_word: dict[str, list[tuple[int, str]]] = {}
        self._others: list[tuple[int, str]] = []
        """Texts that hold other characters than ASCII, searched as a whole."""
        self._parent: tuple[KnownText, int] | None = None
        self._returned: list[tuple[int, KnownText]] = []

    def child(self, position: int) -> KnownText:
        """Return what a spawned lane knows: this up to `position`, and what it learns itself."""
        born = KnownText()
        born._parent = (self, position)
        return born

    def returned(self, place: int, child: KnownText) -> None:
        """Note that a child came home at `place`."""
        self._returned.append((place, child))

    def add(self, seq: int, value: Any) -> None:
        """Note every text inside a value, delivered at `seq`."""
        for text in _texts(value):
            entry = (seq, text)
            for word in dict.fromkeys(normalise(text).translate(_WORD_BREAKS).split()):
                self._by_word.setdefault(word, []).append(entry)
            if not text.isascii():
                self._others.append(entry)

    def mentions(self, value: Any, before: int) -> bool:
        """Return whether a text known before a place mentions a value."""
        if any(place < before and mentions(text, value) for place, text in self._candidates(value)):
            return True
        if self._parent is not None and self._parent[0].mentions(value, min(before, self._parent[1])):
            return True
        return any(place < before and child.mentions(value, place) for place, child in self._returned)

    def _candidates(self, value: Any) -> list[tuple[int, str]]:
        words = normalise(str(value)).translate(_WORD_BREAKS).split()
        if not words or not words[0].isascii():
            return self._others
        return self._by_word.get(words[0], []) + self._others


def _texts(value: Any) -> list[str]:
    if isinstance(value, CutText):
        return [value.visible]
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [str(value)]

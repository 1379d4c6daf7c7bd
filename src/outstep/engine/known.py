"""The texts that a lane knows, so that `known(v)` can say whether a value has a source."""

from __future__ import annotations

import re
from typing import Any

from outstep.expr.mentions import mentions, words_of
from outstep.expr.spelling import normalise
from outstep.expr.values import CutText, Hidden, Missing

_RUN = re.compile(r"[a-z0-9_]+")
_BEYOND = re.compile(r"[^\x00-\x7f]")


class KnownText:
    """Texts of one source by the words in them, each with the first place from which it is known."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        """By text: where it was first told."""
        self._by_word: dict[str, list[str]] = {}
        """Each text once, under every word of it, and under every character beyond ASCII."""
        self._unsure: list[tuple[int, Any]] = []
        """Places of texts that may not count, with the text; without it, of texts that cannot be seen whole."""
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

    def add(self, seq: int, value: Any, *, is_sure: bool = True) -> None:
        """Note every text inside a value, known from `seq` on; `is_sure` is false when the event may not count."""
        texts, is_whole = _texts(value)
        if not is_whole:
            self._unsure.append((seq, None))
        for text in texts:
            if not is_sure:
                self._unsure.append((seq, text))
                continue
            if text in self._places:
                continue
            self._places[text] = seq
            spelled = normalise(text)
            for word in dict.fromkeys(_RUN.findall(spelled)):
                self._by_word.setdefault(word, []).append(text)
            if not spelled.isascii():
                for char in dict.fromkeys(_BEYOND.findall(spelled)):
                    self._by_word.setdefault(char, []).append(text)

    def mentions(self, value: Any, before: int) -> bool | Hidden:
        """Return whether a text known before a place mentions a value; raises `ValueError` as `mentions` does."""
        found: bool | Hidden = False
        places = self._places
        for words in words_of(value):
            # A text that mentions the value holds all of these words: the rarest one leaves the fewest to look at.
            shelf = min((self._by_word.get(word, ()) for word in words), key=len, default=())
            if any(places[text] < before and mentions(text, value) for text in shelf):
                return True
        for place, text in self._unsure:
            if place < before and (text is None or mentions(text, value)):
                found = Hidden("a part of what is known is hidden")
        sources = [(child, place) for place, child in self._returned if place < before]
        if self._parent is not None:
            sources.append((self._parent[0], min(before, self._parent[1])))
        for source, limit in sources:
            inherited = source.mentions(value, limit)
            if inherited is True:
                return True
            found = found if inherited is False else inherited
        return found


def _texts(value: Any) -> tuple[list[str], bool]:
    """Return the texts inside a value, and whether all of it can be seen."""
    if isinstance(value, CutText):
        return [value.visible], False
    if isinstance(value, Hidden | Missing):
        return [], isinstance(value, Missing)
    if isinstance(value, str):
        return [value], True
    if isinstance(value, list | dict):
        items = list(value.values()) if isinstance(value, dict) else value
        if isinstance(value, dict):
            items += [name for name in value if isinstance(name, str)]
        parts = [_texts(item) for item in items]
        return [text for texts, _ in parts for text in texts], all(is_whole for _, is_whole in parts)
    return ([] if isinstance(value, bool) or value is None else [str(value)]), True

"""Clauses of a sentence, and where in it something may be asserted.

SEMANTICS section 5, *Claims*: clauses split at `, ，、 :` and before *but*; a conditional silences the clause that it
starts and the next; a negation or a promise silences the rest of its clause, and whatever reaches into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

from msgspec import Struct

from outstep.expr.patterns import Pattern, compile_pattern, encode, quote
from outstep.expr.words import Words, words

_LETTERS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalpha() else 32 for code in range(256))
"""Lower case; a blank for whatever is no ASCII letter."""

_COMMON = frozenset(b"a an and are as be been for had has have in is it of that the this to was were you your".split())
"""Words that say little about a sentence. Only speed depends on this list."""

_EDGES = " \"'“”‘’«»「」『』（()[]*-–—…。"


class Marker(Struct, frozen=True):
    """A word that denies or promises, at byte offsets of its sentence."""

    start: int
    end: int
    word: str
    """In lower case."""


class Clause(Struct, frozen=True):
    """A part of a sentence, at byte offsets."""

    start: int
    end: int
    conditional: bool
    markers: tuple[Marker, ...]


class Sentence(Struct, frozen=True):
    """A sentence with its clauses."""

    data: bytes
    clauses: tuple[Clause, ...]

    def words(self) -> set[str]:
        """Return the words that deny or promise."""
        return {marker.word for clause in self.clauses for marker in clause.markers}

    def windows(self, spelled: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        """Yield the disjoint byte spans in which a match asserts: exactly the matches inside one of them do.

        `spelled` tells which markers the pattern itself spells; those do not count.
        """
        start: int | None = None
        end = 0
        silent = False
        for clause in self.clauses:
            if clause.conditional or silent:
                if start is not None:
                    yield start, end
                    start = None
                silent = clause.conditional
                continue
            if start is None:
                start = clause.start
            end = clause.end
            for marker in clause.markers:
                if not spelled(marker.word):
                    yield start, marker.start
                    start = None
                    break
        if start is not None:
            yield start, end


def read(sentence: str) -> Sentence:
    """Return a sentence with its clauses, their conditionals and markers."""
    grammar = _grammar()
    data = encode(sentence)
    bounds: list[tuple[int, int]] = [(0, 0)]
    markers: list[Marker] = []
    for start, end in _matches(grammar.parts, data):
        word = data[start:end].decode("utf-8", "replace").lower()
        if word in grammar.openers:
            bounds.append((start, end))
        elif word[0] in ",，、:":
            if not _inside_number(data, start, end):
                bounds.append((end, end))
        elif word not in grammar.exceptions and not _is_exception(word):
            markers.append(Marker(start, end, word))
    bounds.append((len(data), len(data)))
    clauses: list[Clause] = []
    place = 0
    for (start, body), (stop, _) in pairwise(bounds):
        first = place
        while place < len(markers) and markers[place].start < stop:
            place += 1
        if stop > start:
            clauses.append(Clause(start, stop, _is_conditional(data, body, stop), tuple(markers[first:place])))
    return Sentence(data, tuple(clauses))


def asserts_until(sentence: bytes) -> int:
    """Return an offset up to which the sentence is sure to assert what it says, whatever `read` would say of the rest.

    A match that ends there or before is inside the first of `Sentence.windows`, for every pattern.
    """
    telling = _telling_words()
    if telling is not None and sentence.isascii() and telling.isdisjoint(sentence.translate(_LETTERS).split()):
        return len(sentence)
    grammar = _grammar()
    if grammar.conditional.spans(sentence, anchored=True) is not None:
        return 0
    spans = grammar.parts.spans(sentence)
    return len(sentence) if spans is None else spans[0][0]


@cache
def _telling_words() -> frozenset[bytes] | None:
    """Return words of which every ASCII marker and conditional holds one, or none if there is one without a word."""
    phrases: list[list[bytes]] = []
    for language in words():
        for phrase in language.negations + language.futures + language.conditionals:
            if phrase.isascii():
                if not language.spaced:
                    return None
                # Behind `*` stands the end of a word, which is no word.
                body = phrase[1:].lstrip("abcdefghijklmnopqrstuvwxyz") if phrase.startswith("*") else phrase
                phrases.append(body.encode().translate(_LETTERS).split())
    chosen: set[bytes] = set()
    for parts in sorted(phrases, key=len):
        if not parts:
            return None
        if chosen.isdisjoint(parts):
            chosen.add(max(parts, key=lambda word: (word not in _COMMON, len(word))))
    return frozenset(chosen)


def _matches(pattern: Pattern, data: bytes) -> Iterator[tuple[int, int]]:
    place = 0
    while (spans := pattern.spans(data, place)) is not None:
        yield spans[0]
        place = max(spans[0][1], place + 1)


def _is_conditional(data: bytes, start: int, stop: int) -> bool:
    spans = _grammar().conditional.spans(data, start, stop, anchored=True)
    return spans is not None and spans[1][0] >= 0


def _inside_number(data: bytes, start: int, end: int) -> bool:
    """Return whether a comma or colon stands inside a number, id or URL."""
    before, behind = data[start - 1 : start], data[end : end + 1]
    if data[start:end] == b",":
        return before.isdigit() and behind.isdigit()
    return data[start:end] == b":" and before.isalnum() and (behind.isalnum() or behind == b"/")


def _is_exception(word: str) -> bool:
    """Return whether a word with a number in it is one of the exceptions: *no. 5*."""
    return word[-1].isdigit() and word.rstrip("0123456789") + "0" in _grammar().exceptions


class _Grammar(Struct, frozen=True):
    parts: Pattern
    """Separators, openers, markers and exceptions, longest first."""
    conditional: Pattern
    """At the start of a clause: leaders, then an exception or (group 1) a conditional."""
    openers: frozenset[str]
    exceptions: frozenset[str]


@cache
def _grammar() -> _Grammar:
    languages = words()
    parts = alternatives(languages, lambda each: each.openers + each.negations + each.futures + each.exceptions)
    exceptions = alternatives(languages, lambda each: each.exceptions)
    leaders = alternatives(languages, lambda each: each.leaders)
    conditionals = alternatives(languages, lambda each: each.conditionals)
    edges = f"[{''.join(map(quote, _EDGES))}]*"
    return _Grammar(
        compile_pattern(f"[,，、:]|{parts}", ignore_case=True),
        compile_pattern(f"{edges}(?:(?:{leaders}){edges})*(?:{exceptions}|({conditionals}))", ignore_case=True),
        frozenset(word for each in languages for word in each.openers),
        frozenset(word for each in languages for word in each.exceptions),
    )


def alternatives(languages: tuple[Words, ...], pick: Callable[[Words], tuple[str, ...]]) -> str:
    """Return a pattern of the picked words of all languages, longer ones first."""
    found: dict[str, bool] = {}
    for language in languages:
        for word in pick(language):
            found.setdefault(word, language.spaced)
    ordered = sorted(found, key=lambda word: (-len(word), word))
    return "|".join(_spelled(word, found[word]) for word in ordered)


def _spelled(word: str, whole: bool) -> str:
    """Return the pattern of one entry: `*` at its start stands for letters, `0` at its end for a number."""
    if word.startswith("*"):
        return rf"\b[a-z]+{quote(word[1:])}\b"
    text = quote(word[:-1]) + "[0-9]+" if word.endswith("0") else quote(word)
    return rf"\b{text}\b" if whole and word[-1].isalnum() else rf"\b{text}" if whole else text

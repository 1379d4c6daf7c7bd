r"""Regular expressions: RE2, so that every search is linear in the text.

The only module that knows the library. Facts about google-re2 1.1: its Python wrapper costs 2 µs a search, the
compiled object beneath it 0.4; it writes to stderr unless told not to; a `Set` whose `Compile` failed crashes the
process when asked; `\B` may match inside the bytes of a character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from msgspec import Struct

from outstep.expr.literals import Needles, required

_MEMORY = 8 << 20
_SET_MEMORY = 64 << 20
_LONGEST = 20_000
"""Characters of a pattern; more is a mistake, and RE2 would refuse what it compiles to."""

_FEW_NEEDLES = 24

Spans = Sequence[tuple[int, int]]
"""Byte offsets of a match and its groups; -1 for a group that took no part."""


class PatternError(ValueError):
    """A regular expression that cannot be used."""

    def __init__(self, sentence: str, position: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """What is wrong, in lower case and without full stop."""
        self.position = position
        """0-based character of the pattern, where it can be told."""


class Found(Struct, frozen=True):
    """Where a pattern matched."""

    span: tuple[int, int]
    """In characters."""
    groups: dict[str, str | None]
    """Named groups; none where the group took no part."""


class Pattern:
    """A compiled regular expression."""

    __slots__ = (
        *("_capture", "_folded", "_library", "_needles", "_numbers", "_search"),
        *("ignore_case", "match_in", "names", "text"),
    )

    def __init__(self, text: str, ignore_case: bool) -> None:
        """Use `compile_pattern`."""
        self.text = text
        self.ignore_case = ignore_case
        self._library = _library()
        self._capture = _compiled(text, ignore_case, capture=True)
        self.match_in: Callable[[bytes, int, int], Spans] = partial(self._capture.Match, self._library.unanchored)
        """`spans` for those who ask often: of bytes, start and end; offsets are negative when nothing matches."""
        self._search: Any = None
        self._needles: tuple[str, ...] = ()
        self._folded = False
        numbers = {name.decode(): number for name, number in self._capture.NamedCapturingGroups()}
        self.names = tuple(name for name in _group_names(text) if name in numbers)
        """Named groups, in the order of the pattern."""
        self._numbers = tuple((name, numbers[name]) for name in self.names)

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def search(self, text: str) -> bool:
        """Return whether the pattern matches somewhere in the text."""
        if self._search is None:
            self._prepare_search()
        if self._needles:
            probe = _fold(text) if self._folded else text
            for needle in self._needles:
                if needle in probe:
                    break
            else:
                return False
        data = encode(text)
        return bool(self._search.Match(self._library.unanchored, data, 0, len(data))[0][0] >= 0)

    def _prepare_search(self) -> None:
        """Compile what only `search` needs: it is much used, and never asks for groups."""
        needles = self.needles()
        self._needles, self._folded = needles.texts, needles.folded
        plain = self._capture.NumberOfCapturingGroups() == 0
        self._search = self._capture if plain else _compiled(self.text, self.ignore_case, capture=False)

    def find(self, text: str) -> Found | None:
        """Return the leftmost match, or none."""
        data = encode(text)
        spans = self.spans(data)
        if spans is None:
            return None
        start, end = spans[0]
        if len(data) != len(text):
            start, end = _characters(data, start), _characters(data, end)
        return Found((start, end), self.named(data, spans))

    def groups(self, text: str) -> dict[str, str | None] | None:
        """Return the named groups of the leftmost match, or none when nothing matches."""
        found = self.find(text)
        return None if found is None else found.groups

    def span(self, text: str) -> tuple[int, int] | None:
        """Return the characters of the leftmost match, or none when nothing matches."""
        found = self.find(text)
        return None if found is None else found.span

    def spans(self, data: bytes, start: int = 0, end: int | None = None, *, anchored: bool = False) -> Spans | None:
        r"""Return the byte spans of the leftmost match and its groups in `data[start:end]`.

        What lies around that window counts for `^`, `$` and `\b`. With `anchored` the match begins at `start`.
        """
        anchor = self._library.anchored if anchored else self._library.unanchored
        spans: Spans = self._capture.Match(anchor, data, start, len(data) if end is None else end)
        return None if spans[0][0] < 0 else spans

    def places(self, data: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the byte spans of all matches, from left to right, without their groups."""
        if self._search is None:
            self._prepare_search()
        match, anchor, end = self._search.Match, self._library.unanchored, len(data)
        while start <= end:
            span: tuple[int, int] = match(anchor, data, start, end)[0]
            if span[0] < 0:
                return
            yield span
            start = max(span[1], start + 1)

    def named(self, data: bytes, spans: Spans) -> dict[str, str | None]:
        """Return the named groups for spans that `spans` gave."""
        groups: dict[str, str | None] = {}
        for name, number in self._numbers:
            start, end = spans[number]
            groups[name] = None if start < 0 else data[start:end].decode("utf-8", "replace")
        return groups

    def taken(self, data: bytes, spans: Spans) -> dict[str, str]:
        """Return the named groups that took part."""
        groups: dict[str, str] = {}
        for name, number in self._numbers:
            start, end = spans[number]
            if start >= 0:
                groups[name] = data[start:end].decode("utf-8", "replace")
        return groups

    def needles(self) -> Needles:
        """Return texts of which one occurs in everything that the pattern matches."""
        return required(self.text, ignore_case=self.ignore_case)


class PatternSet:
    """Many patterns, and which of them occur in a text, in one pass over it."""

    __slots__ = ("_folded", "_needles", "_set", "patterns")

    def __init__(self, patterns: Iterable[Pattern | str], *, ignore_case: bool = False) -> None:
        """Compile what is given as text; raises `PatternError`."""
        self.patterns = tuple(
            pattern if isinstance(pattern, Pattern) else compile_pattern(pattern, ignore_case=ignore_case)
            for pattern in patterns
        )
        self._set = _compiled_set(self.patterns)
        needles = [pattern.needles() for pattern in self.patterns]
        texts = {text: needle.folded for needle in needles for text in needle.texts}
        self._folded = any(needle.folded for needle in needles)
        self._needles: tuple[str, ...] | None = None
        if all(needle.texts for needle in needles) and len(texts) <= _FEW_NEEDLES:
            self._needles = tuple(dict.fromkeys(_fold(text) if self._folded else text for text in texts))

    def matches(self, text: str) -> list[int]:
        """Return the indices of the patterns that occur in the text, in order."""
        if self._needles is not None:
            probe = _fold(text) if self._folded else text
            for needle in self._needles:
                if needle in probe:
                    break
            else:
                return []
        return self.occurring(encode(text))

    def occurring(self, data: bytes) -> list[int]:
        """Return the indices of the patterns that occur in UTF-8 bytes, in order."""
        last = len(self.patterns)
        if self._set is not None:
            found: list[int] = self._set.Match(data)
            # The last member matches always; without it RE2 ran out of memory and knows nothing.
            if last in found:
                found.remove(last)
                return sorted(found)
        return [index for index, pattern in enumerate(self.patterns) if pattern.spans(data) is not None]


def compile_pattern(text: str, *, ignore_case: bool = False) -> Pattern:
    """Compile a regular expression in RE2's syntax; raises `PatternError`."""
    return Pattern(text, ignore_case)


def quote(text: str) -> str:
    """Return a pattern that matches exactly this text."""
    if text.isalnum():
        return text
    return "".join(
        char if char == "_" or char.isalnum() or not char.isascii() else f"\\x{{{ord(char):x}}}" for char in text
    )


def encode(text: str) -> bytes:
    """Return the text as RE2 reads it; a lone surrogate counts as one U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if _is_surrogate(char) else char for char in text).encode()


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else text.casefold()


def _characters(data: bytes, offset: int) -> int:
    return len(data[:offset].decode("utf-8", "ignore"))


class _Library:
    """What is used of google-re2, loaded on first use."""

    def __init__(self) -> None:
        import re2  # 2 ms

        self.re2: Any = re2._re2
        self.unanchored = self.re2.RE2.Anchor.UNANCHORED
        self.anchored = self.re2.RE2.Anchor.ANCHOR_START

    def options(self, memory: int) -> Any:
        options = self.re2.RE2.Options()
        options.log_errors = False
        options.max_mem = memory
        return options


_loaded: list[_Library] = []


def _library() -> _Library:
    if not _loaded:
        _loaded.append(_Library())
    return _loaded[0]


def _compiled(text: str, ignore_case: bool, *, capture: bool) -> Any:
    if len(text) > _LONGEST:
        raise PatternError(f"the pattern has {len(text)} characters, more than {_LONGEST}")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise PatternError("half a character (a lone surrogate) can never match", error.start) from None
    library = _library()
    options = library.options(_MEMORY)
    options.case_sensitive = not ignore_case
    options.never_capture = not capture
    compiled = library.re2.RE2(data, options)
    if not compiled.ok():
        raise _explained(text, compiled.error())
    return compiled


def _compiled_set(patterns: Sequence[Pattern]) -> Any:
    """Return an RE2 set of the patterns and one that always matches; none when RE2 can't hold them together."""
    library = _library()
    together = library.re2.Set(library.unanchored, library.options(_SET_MEMORY))
    for pattern in patterns:
        flag = "(?i:" if pattern.ignore_case else "(?:"
        if together.Add(f"{flag}{pattern.text})".encode()) < 0:
            return None
    together.Add(b"")
    return together if together.Compile() else None


_HELP: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("missing )", lambda _: "a bracket `(` is never closed"),
    ("unexpected )", lambda _: "a bracket `)` was never opened"),
    ("missing ]", lambda part: f"the character class `{part}` is never closed"),
    ("trailing \\", lambda _: "a backslash at the end quotes nothing"),
    ("no argument for repetition operator", lambda part: f"`{part}` repeats nothing"),
    ("bad repetition operator", lambda part: f"`{part}` repeats a repeat: use brackets, or one of the two"),
    ("invalid repetition size", lambda part: f"`{part}` repeats too often, or from more to less: at most 1000 in all"),
    ("invalid character class range", lambda part: f"`{part}` is no range or class of characters"),
    ("invalid character class", lambda part: f"`{part}` is no class of characters"),
    ("invalid named capture group", lambda part: f"`{part}` is no group name: letters, digits and `_`"),
    ("pattern too large", lambda _: "the pattern grows too large when repeats are written out"),
)


def _explained(text: str, error: bytes) -> PatternError:
    """Return RE2's complaint in words for the person who wrote the pattern, with its place."""
    kind, _, part = error.decode("utf-8", "replace").partition(": ")
    position = _place(text, kind, part)
    if kind == "invalid perl operator":
        operator = text[position : position + 4] if position is not None else part
        if operator.startswith(("(?=", "(?!", "(?<=", "(?<!")):
            return PatternError(
                f"`{part}` is look-around, which RE2 does not have (it searches in linear time)", position
            )
        return PatternError(f"`{part}` is no group that RE2 knows", position)
    if kind == "invalid escape sequence":
        if part[1:2].isdigit() and part != "\\0":
            return PatternError(f"`{part}` is a back-reference, which RE2 does not have", position)
        return PatternError(f"`{part}` is no escape that RE2 knows", position)
    for start, sentence in _HELP:
        if kind.startswith(start):
            return PatternError(sentence(part), position)
    return PatternError(f"{kind}: `{part}`" if part else kind, position)


def _place(text: str, kind: str, part: str) -> int | None:
    """Return where the part that RE2 quotes stands; for brackets, which one it is."""
    if kind in ("missing )", "unexpected )"):
        return _odd_bracket(text)
    if kind.startswith("trailing"):
        return len(text) - 1
    place = text.find(part) if part else -1
    return place if place >= 0 else None


@cache
def _token() -> re.Pattern[str]:
    """Return escapes, classes, openings of named groups, brackets: enough to tell which bracket is which."""
    return re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?P?<([^>=!]*)>|[()]", re.DOTALL)


def _odd_bracket(text: str) -> int | None:
    opened: list[int] = []
    for token in _token().finditer(text):
        if token[0].startswith("("):
            opened.append(token.start())
        elif token[0] == ")":
            if not opened:
                return token.start()
            opened.pop()
    return opened[0] if opened else None


def _group_names(text: str) -> tuple[str, ...]:
    """Return the named groups; RE2 lets a name stand twice, and then knows only one of them."""
    names: list[str] = []
    if "(?P<" not in text and "(?<" not in text:
        return ()
    for token in _token().finditer(text):
        if token[1] is not None:
            if token[1] in names:
                raise PatternError(f"the group name `{token[1]}` is used twice", token.start())
            names.append(token[1])
    return tuple(names)

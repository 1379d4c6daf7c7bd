"""Where things stand in files that people write (contracts, batteries), and the mistakes found there."""

from __future__ import annotations

from bisect import bisect_right
from re import compile as linear_pattern

from msgspec import Struct

from outstep.contracts.selectors import Spot
from outstep.errors import Place, Problem, suggestion

LONGEST_EXCERPT = 240
"""A longer line is shown in part."""

MOST_SUGGESTIONS = 100
"""Looking for a similar word costs time; after so many mistakes nobody reads the suggestions."""

MOST_MISTAKES = 300
"""After so many nobody reads on, and expressions are not looked at any more."""

_LINE_END = linear_pattern(r"\r\n|\r|\n")


class File:
    """One file: its text, and lines and columns for offsets in it."""

    def __init__(self, index: int, name: str, text: str) -> None:
        self.index = index
        self.name = name
        self.text = text
        self.apart: list[tuple[int, int]] = []
        """Ranges of expressions that YAML took apart; what else is said about their parts is an echo."""
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]

    def line_column(self, at: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column."""
        return self._starts[line - 1] + column - 1

    def line_range(self, at: int) -> tuple[int, int]:
        """Return where the line of an offset starts and stops, its line end not included."""
        line = bisect_right(self._starts, at) - 1
        return self._starts[line], max(self._stops[line], self._starts[line])

    def spot(self, at: int) -> Spot:
        """Return the place of an offset, as the checked contract keeps it."""
        line, column = self.line_column(at)
        return Spot(self.index, line, column)


class Span(Struct, frozen=True):
    """A part of a file, by offsets of characters."""

    file: File
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.file.text[self.start : self.end]

    @property
    def spot(self) -> Spot:
        """The place of its first character."""
        return self.file.spot(self.start)


class Report:
    """Collects every mistake and warning, to be given in the order of the files."""

    def __init__(self, family: str = "contract") -> None:
        """`family` is what the files are, and the first part of every code."""
        self.family = family
        self._entries: list[tuple[Span | None, Problem]] = []
        self._suggested = 0

    def error(self, code: str, sentence: str, span: Span | None, help: str = "") -> None:
        """Note a mistake; `code` without its family."""
        self._entries.append((span, _problem(f"{self.family}/{code}", sentence, span, help, "error")))

    def warning(self, code: str, sentence: str, span: Span | None, help: str = "") -> None:
        """Note something that is allowed and probably not meant."""
        self._entries.append((span, _problem(f"{self.family}/{code}", sentence, span, help, "warning")))

    def similar(self, word: str, known: list[str] | tuple[str, ...]) -> str:
        """Return ``did you mean `x`?`` for a word that is none of the known ones, or an empty text."""
        self._suggested += 1
        if self._suggested > MOST_SUGGESTIONS or len(word) > 80:
            return ""
        return suggestion(word, known[:2000])

    def unknown(self, code: str, sentence: str, span: Span, word: str, known: list[str], *, help: str = "") -> None:
        """Note an unknown word, with the nearest known one as help, else with `help`, else with all known ones."""
        near = self.similar(word, known)
        listed = f"known here: {', '.join(f'`{name}`' for name in known)}" if 0 < len(known) <= 24 else ""
        self.error(code, sentence, span, near or help or listed)

    @property
    def is_full(self) -> bool:
        """Whether more mistakes were found than anyone reads."""
        return len(self._entries) > MOST_MISTAKES

    @property
    def mistakes(self) -> int:
        """How many mistakes were noted so far."""
        return sum(1 for _, problem in self._entries if problem.level == "error")

    @property
    def failed(self) -> bool:
        """Whether any mistake was noted."""
        return any(problem.level == "error" for _, problem in self._entries)

    def problems(self, level: str) -> tuple[Problem, ...]:
        """Return the mistakes (`error`) or the warnings in the order of the files, each once."""
        kept = [entry for entry in self._entries if entry[1].level == level and not _is_echo(entry[0])]
        kept.sort(key=lambda entry: _order(entry[0]))
        found = tuple(dict.fromkeys(problem for _, problem in kept))
        if len(found) <= MOST_MISTAKES:
            return found
        rest = Problem(
            code=f"{self.family}/more",
            sentence=f"at least {len(found) - MOST_MISTAKES} more are not shown",
            level=level,
        )
        return (*found[:MOST_MISTAKES], rest)


def _order(span: Span | None) -> tuple[int, int]:
    return (-1, 0) if span is None else (span.file.index, span.start)


def _is_echo(span: Span | None) -> bool:
    return span is not None and any(start < span.start < end for start, end in span.file.apart)


def _problem(code: str, sentence: str, span: Span | None, help: str, level: str) -> Problem:
    if span is None:
        return Problem(code=code, sentence=sentence, help=help, level=level)
    file = span.file
    line, column = file.line_column(span.start)
    start, stop = file.line_range(span.start)
    first = min(span.start, stop) - start
    last = max(first + 1, min(span.end, stop) - start)
    excerpt = file.text[start:stop]
    if len(excerpt) > LONGEST_EXCERPT:
        cut = max(0, first - 80)
        excerpt = excerpt[cut : cut + LONGEST_EXCERPT]
        first, last = first - cut, min(last - cut, LONGEST_EXCERPT)
    place = Place(source=file.name, line=line, column=column)
    return Problem(
        code=code, sentence=sentence, place=place, excerpt=excerpt, underline=(first, last), help=help, level=level
    )

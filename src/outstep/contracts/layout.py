"""How the lines of a YAML file hang together: which collection each line begins in, and how deep that one stands."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from msgspec import Struct


class Place(Struct, kw_only=True):
    """One line."""

    column: int = 0
    """Where its content begins in the new layout."""
    starts: int = 0
    """Where it begins in the old one, dashes of lists left out."""
    dashes: str = ""
    """The dashes in front of it, each with one blank."""
    shift: int = 0
    """By how much a line inside a longer text moves."""
    is_inside: bool = False
    """Whether it goes on with a value that began in an earlier line."""
    is_literal: bool = False
    """Whether it is a line of a block text, or of a quoted one."""
    section: int = -1


class Layout(Struct, kw_only=True):
    """A file, line by line."""

    text: str
    lines: list[str]
    places: list[Place]
    sections: list[str]
    comments: list[str]
    has_anchors: bool


def laid_out(text: str) -> Layout:
    """Return the layout of a file that can be read."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lines = text.split("\n")
    walker = _Walker(lines)
    for event in yaml.parse(text, Loader=loader):
        walker.take(event)
    walker.settle_rest()
    return Layout(
        text=text,
        lines=lines,
        places=walker.places,
        sections=walker.sections,
        comments=walker.comments,
        has_anchors=walker.has_anchors,
    )


class _Open(Struct):
    """A collection that has not ended."""

    is_mapping: bool
    is_flow: bool
    old: int
    new: int
    parts: int = 0


class _Walker:
    """Follows the parser through the file."""

    def __init__(self, lines: list[str]) -> None:
        self.places = [Place() for _ in lines]
        self.sections: list[str] = []
        self.comments: list[str] = []
        self.has_anchors = False
        self._lines = lines
        self._offsets = [0]
        for line in lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._open: list[_Open] = []
        self._known: set[int] = set()
        """Lines whose place is settled."""
        self._strings: list[tuple[int, int]] = []
        """Where values stand that may hold `#`."""
        self._flow_start = 0

    def take(self, event: Any) -> None:
        """Look at one event of the parser."""
        name = type(event).__name__
        if getattr(event, "anchor", None) is not None:
            self.has_anchors = True
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin(event, is_mapping=name == "MappingStartEvent")
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            ended = self._open.pop()
            if ended.is_flow and not self._in_flow():
                self._inside(self._flow_start, event.end_mark.index, is_literal=False)
        elif name in ("ScalarEvent", "AliasEvent"):
            self._value(event)

    def _line_of(self, index: int) -> int:
        return bisect_right(self._offsets, index) - 1

    def _column_of(self, index: int) -> int:
        return index - self._offsets[self._line_of(index)]

    def _in_flow(self) -> bool:
        return any(part.is_flow for part in self._open)

    def _part(self, index: int) -> None:
        """Settle the line in which a part of a block collection begins."""
        if not self._open or self._in_flow():
            return
        parent = self._open[-1]
        parent.parts += 1
        if parent.is_mapping and parent.parts % 2 == 0:
            return  # a value stands in the line of its key, or is a collection of its own
        if parent.is_mapping:
            self._settle(index, parent.new)
            if len(self._open) == 1:
                self.sections.append("")

    def _settle(self, index: int, column: int) -> None:
        number = self._line_of(index)
        if number in self._known:
            return
        self._known.add(number)
        place = self.places[number]
        before = self._lines[number][: self._column_of(index)]
        dashes = before.count("-")
        place.column = column - 2 * dashes
        place.starts = self._column_of(index)
        place.dashes = "- " * dashes

    def _begin(self, event: Any, *, is_mapping: bool) -> None:
        start, is_flow = event.start_mark.index, bool(event.flow_style)
        parent = self._open[-1] if self._open else None
        if is_flow:
            if not self._in_flow():
                self._flow_start = start
                if parent is not None and not parent.is_mapping:
                    self._settle(start, parent.new + 2)
            self._part(start)
            self._open.append(_Open(is_mapping, True, 0, 0))
            return
        self._part(start)
        old = self._column_of(start)
        new = 0
        if parent is not None:
            new = parent.new + 2
        self._open.append(_Open(is_mapping, False, old, new))

    def _value(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        parent = self._open[-1] if self._open else None
        if parent is not None and not self._in_flow() and not parent.is_mapping and end > start:
            self._settle(start, parent.new + 2)
        is_key = parent is not None and parent.is_mapping and parent.parts % 2 == 0
        self._part(start)
        if len(self._open) == 1 and is_key and parent is not None and not parent.is_flow:
            self.sections[-1] = str(getattr(event, "value", ""))
            self.places[self._line_of(start)].section = len(self.sections) - 1
        style = getattr(event, "style", None)
        self._strings.append((start, end))
        if not self._in_flow() and end > start:
            if style in ("|", ">"):
                self._block_text(start, end)
            else:
                self._inside(start, end, is_literal=style in ("'", '"'))

    def _inside(self, start: int, end: int, *, is_literal: bool) -> None:
        """Settle the lines behind the first one of a value: they move with it."""
        first, last = self._line_of(start), self._line_of(max(start, end - 1))
        for number in range(first + 1, last + 1):
            self._known.add(number)
            self.places[number].is_inside = True
            self.places[number].is_literal = is_literal
            self.places[number].shift = self._shift_of(first)

    def _block_text(self, start: int, end: int) -> None:
        first, last = self._line_of(start), self._line_of(max(start, end - 1))
        header = self._lines[first][self._column_of(start) :].split("#")[0]
        body = range(first + 1, last + 1)
        filled = [number for number in body if self._lines[number].strip()]
        if any(sign.isdigit() for sign in header) or not filled:
            shift = self._shift_of(first)
        else:
            depth = min(len(self._lines[number]) - len(self._lines[number].lstrip(" ")) for number in filled)
            shift = (self._open[-1].new if self._open else 0) + 2 - depth
        for number in body:
            self._known.add(number)
            self.places[number].is_inside = self.places[number].is_literal = True
            self.places[number].shift = shift

    def _shift_of(self, number: int) -> int:
        place = self.places[number]
        if place.is_inside:
            return place.shift
        return place.column + len(place.dashes) - place.starts if number in self._known else 0

    def settle_rest(self) -> None:
        """Settle comments and empty lines: they stand as what follows them."""
        column = old = 0
        for number in reversed(range(len(self._lines))):
            place, line = self.places[number], self._lines[number]
            here = len(line) - len(line.lstrip(" "))
            if number not in self._known:
                place.column = column if here == old else max(0, column + here - old)
            elif not place.is_inside:
                column, old = place.column, here
        section = -1
        for place in self.places:
            section = place.section = place.section if place.section >= 0 else section
        self._give_comments_to_what_follows()
        self._find_comments()

    def _give_comments_to_what_follows(self) -> None:
        """Comments in front of a section move with it; those at the top and at the end of the file stay there."""
        for number in reversed(range(len(self._lines) - 1)):
            if number in self._known:
                continue
            below = self.places[number + 1].section
            is_of_next = below != self.places[number].section
            if is_of_next and (not self._lines[number].strip() or not self._lines[number].startswith(" ")):
                self.places[number].section = below
        for number in reversed(range(len(self._lines))):
            if number in self._known or self._lines[number].startswith(" "):
                break
            self.places[number].section = len(self.sections)
        first = next((number for number in range(len(self._lines)) if number in self._known), 0)
        for number in range(first):
            self.places[number].section = -1

    def _find_comments(self) -> None:
        for number, line in enumerate(self._lines):
            place = self.places[number]
            if place.is_literal:
                continue
            at = self._offsets[number]
            for column, sign in enumerate(line):
                if sign == "#" and (column == 0 or line[column - 1] in " \t") and not self._is_value(at + column):
                    self.comments.append(line[column:].rstrip())
                    break

    def _is_value(self, index: int) -> bool:
        place = bisect_right(self._strings, (index, 1 << 60)) - 1
        return place >= 0 and self._strings[place][0] <= index < self._strings[place][1]

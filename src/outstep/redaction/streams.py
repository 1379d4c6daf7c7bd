"""Text that a log holds in pieces, as a model streamed it: a value may begin in one piece and end in another.

Read are the packed chunk rows of DeepSeek Harness (`texts`, `args`), its single deltas, and the deltas of the chat and
messages interfaces. Each piece keeps its place; the first one that a value touches gets what replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from outstep.redaction.views import Edit, View, string_view
from outstep.redaction.walking import STRING, Walker

_MARKS = (b'-chunks"', b'-delta"', b'_delta"', b'"delta"')
_PIECES = re.compile(
    rb'"(texts|args)"\s{0,4}:\s{0,4}\[|"(text|argumentsDelta|partial_json|thinking|content|arguments)"\s{0,4}:\s{0,4}(?=")'
)
_INDEX = re.compile(rb'"index"\s{0,4}:\s{0,4}([0-9]{1,6})')
_STEP = re.compile(rb'"turn"\s{0,4}:\s{0,4}([0-9]{1,9})\s{0,4},\s{0,4}"step"\s{0,4}:\s{0,4}([0-9]{1,9})')
_NEAR = 240
"""Bytes around a piece in which its index stands."""
_BETWEEN = re.compile(rb"[\s,]{0,64}")


class _Piece(Struct, frozen=True):
    start: int
    """In the joined text."""
    view: View


def stream_edits(data: bytes, walker: Walker) -> list[Edit]:
    """Return what is to be changed in streamed text."""
    if not any(mark in data for mark in _MARKS):
        return []
    found: list[Edit] = []
    for pieces in _streams(data):
        if len(pieces) < 2:
            continue
        joined = b"".join(piece.view.text for piece in pieces)
        if walker.may_hold(joined):
            for edit in walker.edits(joined):
                found += _shared_out(edit, pieces)
    return found


def _shared_out(edit: Edit, pieces: list[_Piece]) -> Iterator[Edit]:
    """Yield an edit of the joined text as edits of the pieces that it touches."""
    new, kinds = edit.new, edit.kinds
    for piece in pieces:
        first, last = max(edit.start - piece.start, 0), min(edit.end - piece.start, len(piece.view.text))
        if first < last:
            yield piece.view.outer(Edit(first, last, new, kinds))
            new, kinds = b"", ()


def _streams(data: bytes) -> Iterator[list[_Piece]]:
    """Yield the pieces of each streamed text."""
    open_: dict[tuple[bytes, bytes], list[_Piece]] = {}
    step: tuple[bytes, ...] = ()
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if any(data.find(mark, start, end) >= 0 for mark in _MARKS):
            named = _STEP.search(data, start, min(end, start + _NEAR))
            if named and named.groups() != step:
                step = named.groups()
                yield from open_.values()
                open_ = {}
            for key, first, last in _pieces(data, start, end):
                pieces = open_.setdefault(key, [])
                before = pieces[-1].start + len(pieces[-1].view.text) if pieces else 0
                pieces.append(_Piece(before, string_view(data, first, last)))
        start = end + 1
    yield from open_.values()


def _pieces(data: bytes, start: int, end: int) -> Iterator[tuple[tuple[bytes, bytes], int, int]]:
    for match in _PIECES.finditer(data, start, end):
        near = data[max(start, match.start() - _NEAR) : match.start()]
        if match[2] and not any(mark in near for mark in _MARKS[1:]):
            continue
        numbers = _INDEX.findall(near)
        key = (match[1] or match[2], numbers[-1] if numbers else b"")
        place = match.end()
        while (string := STRING.match(data, place, end)) and string[2]:
            yield key, string.start(1), string.end(1)
            if match[2]:
                break
            place = _BETWEEN.match(data, string.end()).end()  # type: ignore[union-attr]

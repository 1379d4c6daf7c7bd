"""Finds values in a text and in every text inside it, and says what is to stand in their place.

Texts stand in texts: strings of JSON, JSON in such strings, addresses in URLs, whole documents in base64. A replacement
is spelled as the text around it needs it, so what could be read before can be read afterwards.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable

from outstep.redaction.detectors.base import DIGITS, Hit
from outstep.redaction.views import Edit, apply, packed_runs, spelled_views, string_view

DEEPEST = 6
STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)("?)', re.DOTALL)
"""A string of JSON; without its closing mark where it is cut off."""

_BLANK = b" \t\r\n"


class Walker:
    """Walks through a text with one way to find values and one way to replace them."""

    def __init__(
        self,
        find: Callable[[bytes], Iterable[Hit]],
        replace: Callable[[str, bytes], bytes],
        may_hold: Callable[[bytes], bool],
    ) -> None:
        """`may_hold` is quick, and true for every text in which `find` finds, be it in another spelling."""
        self._find = find
        self._replace = replace
        self._may_hold = may_hold

    def may_hold(self, text: bytes) -> bool:
        """Return whether it is worth while to look closer."""
        return holds(text, self._may_hold)

    def edits(self, text: bytes, *, is_json: bool | None = None, depth: int = 0) -> list[Edit]:
        """Return what is to be changed; edits do not overlap."""
        is_json = text.lstrip(_BLANK)[:1] in (b"{", b"[") if is_json is None else is_json
        found: list[Edit] = []
        inner = self._strings(text, depth, found) if b"\\" in text and b'"' in text else []
        closed = _Spans(inner)
        strings: _Spans | None = None
        for hit in self._find(text):
            if closed.meet(hit.start, hit.end):
                continue
            is_bare = is_json and is_number(text, hit.start, hit.end)
            if is_bare:
                strings = strings or _Spans([match.span() for match in STRING.finditer(text)])
                is_bare = not strings.meet(hit.start, hit.end)
            found += self._edit(text, hit, is_bare)
        if depth < DEEPEST:
            for view in spelled_views(text):
                more = self.edits(view.text, is_json=is_json, depth=depth + 1)
                outer = (view.outer(edit) for edit in more if view.is_spelled(edit.start, edit.end))
                found += (edit for edit in outer if not closed.meet(edit.start, edit.end))
            for packed in packed_runs(text):
                if not closed.meet(packed.start, packed.end) and holds(packed.text, self._may_hold):
                    within = self.edits(packed.text, depth=depth + 1)
                    if within:
                        kinds = tuple(kind for edit in within for kind in edit.kinds)
                        found.append(Edit(packed.start, packed.end, packed.pack(apply(packed.text, within)), kinds))
        return _disjoint(found)

    def _strings(self, text: bytes, depth: int, found: list[Edit]) -> list[tuple[int, int]]:
        """Look into strings with escapes; return where they stand, for read as plain text they say something else."""
        spans = []
        for match in STRING.finditer(text):
            start, end = match.span(1)
            if b"\\" not in match[1] or depth >= DEEPEST:
                continue
            if match[2]:
                spans.append((start, end))
            if self.may_hold(match[1]):
                view = string_view(text, start, end)
                found += (view.outer(edit) for edit in self.edits(view.text, depth=depth + 1))
        return spans

    def _edit(self, text: bytes, hit: Hit, is_bare: bool) -> list[Edit]:
        if is_bare and not hit.sure:
            return []
        new = self._replace(hit.kind, text[hit.start : hit.end])
        new = b'"' + new + b'"' if is_bare else new
        return [Edit(hit.start, hit.end, new, (hit.kind,))]


def holds(text: bytes, may_hold: Callable[[bytes], bool], depth: int = 2) -> bool:
    """Return whether a text, or what is packed in it, may hold something."""
    return may_hold(text) or (
        depth > 0 and any(holds(packed.text, may_hold, depth - 1) for packed in packed_runs(text))
    )


def is_number(text: bytes, start: int, end: int) -> bool:
    """Return whether a value looks like a number of JSON text."""
    if not all(sign in DIGITS for sign in text[start:end]):
        return False
    before, behind = text[max(0, start - 8) : start].rstrip(_BLANK), text[end : end + 8].lstrip(_BLANK)
    return before[-1:] in (b":", b"[", b",", b"") and behind[:1] in (b",", b"]", b"}", b"")


class _Spans:
    """Spans in order, that do not overlap."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans
        self._ends = [end for _, end in spans]

    def meet(self, start: int, end: int) -> bool:
        """Return whether one of them overlaps."""
        place = bisect_left(self._ends, start + 1)
        return place < len(self._spans) and self._spans[place][0] < end


def _disjoint(edits: list[Edit]) -> list[Edit]:
    """Return edits in order; where some overlap, the longest replaces all that they cover."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
            continue
        last = kept[-1]
        longer = edit if edit.end - edit.start > last.end - last.start else last
        kept[-1] = Edit(last.start, max(last.end, edit.end), longer.new, longer.kinds)
    return kept

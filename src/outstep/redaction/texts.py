"""Redacts one document of text: JSON, JSON Lines, or whatever else people write. Damaged or not, it keeps its form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern, quote
from outstep.redaction.detectors import detectors
from outstep.redaction.detectors.base import Hit
from outstep.redaction.known import Known
from outstep.redaction.placeholders import Key, is_placeholder
from outstep.redaction.rules import SHORT, STANDARD, Rules, named_values
from outstep.redaction.streams import stream_edits
from outstep.redaction.views import Edit, apply, packed_runs
from outstep.redaction.walking import Walker, holds

# Where one of these stands, a text may say something else than its bytes.
_ESCAPED = (
    r"\\u00[2-7][0-9a-fA-F]",
    r"\\x[2-7][0-9a-fA-F]",
    r"%(?:25)?[2-7][0-9A-Fa-f]",
    r"&(?:#|commat;)",
    r"=40",
    r"[\x{ff01}-\x{ff5e}]|\\u[fF]{2}[0-5]",
)


def redact_text(document: bytes, rules: Rules, key: Key) -> tuple[bytes, list[tuple[int, str]]]:
    """Return the document without what is to be hidden, and the line and kind of each value that was replaced."""
    text = _Text(rules, key)
    found = text.look(document)
    if not found:
        return document, []
    return text.replace(document, found)


class _Text:
    def __init__(self, rules: Rules, key: Key) -> None:
        self._rules = rules
        self._key = key
        self._finds = [detector.find for detector in detectors()] if rules.profile == STANDARD else []
        self._hint = _hint(rules)

    def look(self, document: bytes) -> _Found:
        """Return every value that is to be hidden."""
        found = _Found()
        for kind, name, value in named_values(self._rules, document):
            if not self._is_kept(value):
                found.add(kind, value, name)

        def note(kind: str, value: bytes) -> bytes:
            found.add(kind, value)
            return b"-"

        walker = Walker(self._find, note, self._may_hold)
        stream_edits(document, walker)
        for start, end in self._hinted(document):
            walker.edits(document[start:end], is_json=_is_json(document))
        return found

    def replace(self, document: bytes, found: _Found) -> tuple[bytes, list[tuple[int, str]]]:
        """Return the document with what was found replaced, wherever it stands."""
        known = Known(found.values)
        short = found.short_pattern()

        def find(text: bytes) -> Iterator[Hit]:
            yield from self._find(text)
            yield from found.find_short(text, short)
            yield from (hit for hit in known.find(text) if not self._is_kept(text[hit.start : hit.end]))

        def may_hold(text: bytes) -> bool:
            is_short = short is not None and next(short.places(text), None) is not None
            return is_short or (known.is_escaped and b"\\" in text) or self._may_hold(text) or known.may_hold(text)

        walker = Walker(find, self._placeholder, may_hold)
        streamed = stream_edits(document, walker)
        replaced = _told(document, streamed)
        document = apply(document, streamed)
        changed: list[Edit] = []
        for start, end in _units(document):
            if walker.may_hold(document[start:end]):
                for edit in walker.edits(document[start:end], is_json=_is_json(document)):
                    changed.append(Edit(start + edit.start, start + edit.end, edit.new, edit.kinds))
        replaced += _told(document, changed)
        return apply(document, changed), sorted(replaced)

    def _find(self, text: bytes) -> Iterator[Hit]:
        for find in (self._rules.find, *self._finds):
            for hit in find(text):
                if not self._is_kept(text[hit.start : hit.end]):
                    yield hit

    def _is_kept(self, value: bytes) -> bool:
        return is_placeholder(value) or self._rules.keeps(value)

    def _may_hold(self, text: bytes) -> bool:
        return self._hint is not None and next(self._hint.places(text), None) is not None

    def _placeholder(self, kind: str, value: bytes) -> bytes:
        return self._key.placeholder(kind.removeprefix("rule:"), value)

    def _hinted(self, document: bytes) -> Iterator[tuple[int, int]]:
        """Yield the units in which something may be found; most have nothing, and are looked at once, all together."""
        if self._hint is None:
            return
        if not _is_json(document):
            yield 0, len(document)
            return
        hot: set[int] = set()
        place = 0
        while (span := next(self._hint.places(document, place), None)) is not None:
            hot.add(document.rfind(b"\n", 0, span[0] + 1 if document[span[0] : span[0] + 1] == b"\n" else span[0]) + 1)
            # A match may begin with the line end before it.
            place = document.find(b"\n", max(span[1] - 1, span[0] + 1))
            if place < 0:
                break
        for packed in packed_runs(document):
            start = document.rfind(b"\n", 0, packed.start) + 1
            if start not in hot and holds(packed.text, self._may_hold):
                hot.add(start)
        for start in sorted(hot):
            end = document.find(b"\n", start)
            yield start, len(document) if end < 0 else end


class _Found:
    """Values that are to be hidden, with their kinds."""

    def __init__(self) -> None:
        self.values: dict[bytes, str] = {}
        self._short: dict[tuple[str, bytes], str] = {}

    def __bool__(self) -> bool:
        return bool(self.values or self._short)

    def add(self, kind: str, value: bytes, name: str = "") -> None:
        """Take a value; the first kind counts."""
        if len(value) < SHORT and kind.startswith("rule:") and name:
            self._short.setdefault((name, value), kind)
        else:
            self.values.setdefault(value, kind)

    def short_pattern(self) -> Pattern | None:
        """Return what finds short values as members of that name."""
        if not self._short:
            return None
        pairs = [
            rf"\"{quote(name)}\\*\"\s*:\s*\\*\"?{quote(value.decode('utf-8', 'replace'))}(?:\\*\"|\s*[,}}\]]|$)"
            for name, value in sorted(self._short)
        ]
        return compile_pattern("|".join(pairs))

    def find_short(self, text: bytes, pattern: Pattern | None) -> Iterator[Hit]:
        """Yield short values that stand as members of that name."""
        for start, end in pattern.places(text) if pattern is not None else ():
            for (name, value), kind in self._short.items():
                at = text.find(value, start + len(name.encode()) + 2, end)
                if at >= 0 and text.startswith(b'"' + name.encode() + b'"', start):
                    yield Hit(at, at + len(value), kind, sure=True)


def _hint(rules: Rules) -> Pattern | None:
    """Return what occurs in every text in which the profile or a pattern finds something, in whatever spelling."""
    own = tuple(rule.pattern.text for rule in rules.rules if rule.pattern is not None)
    if rules.profile != STANDARD and not rules.rules:
        return None
    return _joined(own, rules.profile)


@cache
def _joined(own: tuple[str, ...], profile: str) -> Pattern:
    hints = [hint for detector in detectors() for hint in detector.hints()] if profile == STANDARD else []
    return compile_pattern("|".join(f"(?:{hint})" for hint in (*hints, *_ESCAPED, *own)))


def _is_json(document: bytes) -> bool:
    return document[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[", b'"')


def _units(document: bytes) -> Iterator[tuple[int, int]]:
    """Yield what is read at once: lines of JSON, for no string of it goes on in the next one; else all of it."""
    if not _is_json(document):
        yield 0, len(document)
        return
    start = 0
    while start < len(document):
        end = document.find(b"\n", start)
        end = len(document) if end < 0 else end
        yield start, end
        start = end + 1


def _told(document: bytes, edits: Iterable[Edit]) -> list[tuple[int, str]]:
    """Return the line and kind of each value that is replaced."""
    told, line, place = [], 1, 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        line += document.count(b"\n", place, edit.start)
        place = edit.start
        told += [(line, kind) for kind in edit.kinds]
    return told

"""Redacts raw documents in whatever they are stored: text, frames of zstd, gzip, ZIP archives, SQLite databases.

What comes out is stored in the same way, so that the same adapter reads it. A document that cannot be looked into
cannot be redacted either, and is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from outstep.errors import Place, problem
from outstep.redaction.placeholders import Key, commitment
from outstep.redaction.rules import NONE, Rules
from outstep.redaction.texts import redact_text

LARGEST = 1 << 31
"""Bytes that a document may unpack to."""

TextRedactor = Callable[[bytes], bytes]


class Replaced(Struct, frozen=True):
    """Where values of one kind were replaced."""

    member: str
    """Of an archive; else empty."""
    line: int
    """Of the text; in a database, the number of the cell in its column."""
    kind: str
    count: int


class Redacted(Struct, frozen=True, kw_only=True):
    """A document without what is to be hidden."""

    data: bytes
    replaced: dict[str, int] = {}
    """How many values of each kind, by name."""
    places: tuple[Replaced, ...] = ()
    commitment: str = ""
    """Binds to the original; empty where nothing was replaced, for then this is the original."""


def redact(data: bytes, rules: Rules, key: Key, *, uri: str = "") -> Redacted:
    """Return a document without what the rules hide; raises `OutstepError` for one that cannot be looked into."""
    if rules.profile == NONE and not rules.rules:
        return Redacted(data=data)
    work = _Work(rules, key, uri)
    new = work.document(data)
    if not work.places:
        return Redacted(data=data)
    kinds: Counter[str] = Counter()
    for (_, _, kind), count in work.places.items():
        kinds[kind] += count
    return Redacted(
        data=new,
        replaced=dict(sorted(kinds.items())),
        places=tuple(
            Replaced(member, line, kind, count) for (member, line, kind), count in sorted(work.places.items())
        ),
        commitment=commitment(key.salt(data), data),
    )


def redact_name(name: str, rules: Rules, key: Key) -> str:
    """Return the name of a document without what the rules hide."""
    new, _ = redact_text(name.encode("utf-8", "surrogateescape"), rules, key)
    return new.decode("utf-8", "surrogateescape")


class _Work:
    """One document that is being redacted."""

    def __init__(self, rules: Rules, key: Key, uri: str) -> None:
        self.places: Counter[tuple[str, int, str]] = Counter()
        self._rules = rules
        self._key = key
        self._uri = uri

    def document(self, data: bytes, member: str = "") -> bytes:
        """Return a document, or a member of one, redacted; the same bytes where nothing was to be hidden."""
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            from outstep.redaction.stored.zstd import redact_frames

            return self._stored(redact_frames, data, member)
        if data.startswith(b"\x1f\x8b"):
            from outstep.redaction.stored.gzip import redact_gzip

            return self._stored(redact_gzip, data, member)
        if data.startswith(b"PK\x03\x04"):
            from outstep.redaction.stored.zip import redact_archive

            try:
                return redact_archive(data, self.document, self._name)
            except ValueError as error:
                raise self._refused(str(error)) from None
        if data.startswith(b"SQLite format 3\0"):
            from outstep.redaction.stored.sqlite import redact_database

            return self._stored(redact_database, data, member)
        return self._text(data, member)

    def _stored(self, redacted: Callable[[bytes, TextRedactor], bytes], data: bytes, member: str) -> bytes:
        try:
            return redacted(data, lambda text: self._text(text, member))
        except ValueError as error:
            raise self._refused(str(error)) from None

    def _text(self, text: bytes, member: str) -> bytes:
        new, told = redact_text(text, self._rules, self._key)
        for line, kind in told:
            self.places[member, line, kind.removeprefix("rule:")] += 1
        return new

    def _name(self, name: str) -> str:
        return redact_name(name, self._rules, self._key)

    def _refused(self, reason: str) -> Exception:
        return problem(
            "redact/unreadable",
            f"`{self._uri}` cannot be redacted: {reason}",
            place=Place(source=self._uri),
            help="restore it from its source; what cannot be looked into is kept only with --no-redact",
        )

"""From the bytes of a document to its JSON values, each with its place.

A document is one JSON value, or JSON Lines: one value a line. Nothing is lost in between: a complete line that is no
JSON comes back as `Damage`, and so does a last line that was cut off while it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from outstep.adapters.base import Document, ReadLog
from outstep.codec import Json, Unreadable, loads
from outstep.digest import sha256
from outstep.errors import Place

CHUNK = 1 << 16
_SAMPLE = 1 << 12
LONGEST_LINE = 1 << 28
"""Bytes; a longer line is refused instead of filling the memory."""
LARGEST_VALUE = 1 << 30
"""Bytes; a larger document is refused where the whole of it must be held."""
SHOWN_DAMAGES = 20
"""Damaged lines of one document that are named one by one."""
BOM = b"\xef\xbb\xbf"
RECORD_SHOWN = 1 << 16


class TooLarge(OSError):
    """The bytes are more than any trace would need."""


class Value(Struct, frozen=True, kw_only=True):
    """One JSON value; `line` and `offset` are set in JSON Lines."""

    value: Json
    line: int | None = None
    offset: int | None = None
    text: bytes = b""


class Damage(Struct, frozen=True, kw_only=True):
    """A line that holds no value."""

    line: int
    offset: int
    reason: str
    torn: bool
    """The last line, without line end: most likely cut off while it was written."""


class Lines(Struct, frozen=True, kw_only=True):
    """Some whole lines of a document."""

    body: bytes
    offset: int
    line: int
    """1-based number of the first one."""
    count: int
    """How many there are."""
    last: bool
    """The document ends here, and its last line has no line end."""


def whole_lines(file: BinaryIO) -> Iterator[Lines]:
    """Cut a file into pieces of whole lines, without its byte order mark; raises `OSError`."""
    offset = 0
    line = 1
    first = file.read(CHUNK)
    if first.startswith(BOM):
        offset = len(BOM)
        first = first[offset:]
    parts: list[bytes] = []
    held = 0
    chunk = first
    while chunk:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            body = b"".join((*parts, memoryview(chunk)[:cut])) if parts else chunk[:cut]
            count = _count_lines(body)
            yield Lines(body=body, offset=offset, line=line, count=count, last=False)
            offset += len(body)
            line += count
            parts = [chunk[cut:]] if cut < len(chunk) else []
            held = len(chunk) - cut
        else:
            parts.append(chunk)
            held += len(chunk)
        if held > LONGEST_LINE:
            raise TooLarge(f"line {line} is longer than {LONGEST_LINE >> 20} MiB")
        chunk = file.read(CHUNK)
    if held:
        yield Lines(body=b"".join(parts), offset=offset, line=line, count=1, last=True)


def _count_lines(body: bytes) -> int:
    """Return the number of line ends; looking for each is much faster than `count` where lines are long."""
    if body.count(b"\n", 0, _SAMPLE) > _SAMPLE >> 9:
        return body.count(b"\n")
    count = 0
    place = body.find(b"\n")
    while place >= 0:
        count += 1
        place = body.find(b"\n", place + 1)
    return count


def split(lines: Lines) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, byte offset and text of every line that is not blank."""
    offset = lines.offset
    for number, text in enumerate(lines.body.split(b"\n"), lines.line):
        if text.strip():
            yield number, offset, text
        offset += len(text) + 1


def read_bytes(document: Document, log: ReadLog) -> bytes | None:
    """Return all bytes of a document; what hinders that goes to `log`."""
    try:
        with document.open() as file:
            data = file.read(LARGEST_VALUE + 1)
    except OSError as error:
        unreadable(document, error, log)
        return None
    if len(data) > LARGEST_VALUE:
        unreadable(document, TooLarge(f"it is larger than {LARGEST_VALUE >> 30} GiB"), log)
        return None
    return data


def unreadable(document: Document, error: OSError, log: ReadLog) -> None:
    """Report that the bytes of a document cannot be had."""
    place = Place(source=document.uri)
    if isinstance(error, TooLarge):
        log.fault(
            "adapter/too-large",
            f"`{document.uri}` is not read to its end: {error}",
            place=place,
            help="split the file, or unpack it and look at what it holds",
        )
        return
    log.fault(
        "input/unreadable",
        f"`{document.uri}` cannot be read: {error.strerror or error}",
        place=place,
        help="check that the file is there, whole, and may be read",
    )


def read_values(document: Document, log: ReadLog) -> Iterator[Value | Damage]:
    """Yield the values of a document: one, or one a line. What cannot be read at all goes to `log`."""
    data = read_bytes(document, log)
    if data is None:
        return
    start = len(BOM) if data.startswith(BOM) else 0
    data = data[start:]
    if not data.strip():
        empty(document, log)
        return
    try:
        yield Value(value=loads(data))
        return
    except Unreadable as error:
        reason = str(error)
    if not _has_lines(data):
        cut = "truncated" in reason
        log.fault(
            "adapter/damaged-document",
            f"`{document.uri}` is {'cut off' if cut else 'no JSON'}: {reason}",
            place=Place(source=document.uri, offset=len(data) if cut else None),
            help="record it anew; a JSON document that is not whole cannot be read in part",
        )
        return
    torn = not data.endswith(b"\n")
    lines = Lines(body=data, offset=start, line=1, count=0, last=torn)
    end = data.rfind(b"\n") + 1 + start
    for number, offset, text in split(lines):
        try:
            yield Value(value=loads(text), line=number, offset=offset, text=text)
        except Unreadable as error:
            yield Damage(line=number, offset=offset, reason=str(error), torn=torn and offset >= end)


def empty(document: Document, log: ReadLog) -> None:
    """Report that a document holds nothing."""
    log.fault(
        "input/empty-file",
        f"`{document.uri}` is empty",
        place=Place(source=document.uri),
        help="an empty file is no trace: check that the run was recorded",
    )


class Damages:
    """Reports damaged lines, the first of them one by one and the rest as a number."""

    def __init__(self, document: Document, log: ReadLog) -> None:
        self._document = document
        self._log = log
        self._count = 0

    def add(self, line: int, offset: int, reason: str) -> None:
        """Report one complete line that is no record."""
        self._count += 1
        if self._count <= SHOWN_DAMAGES:
            self._log.fault(
                "adapter/damaged-record",
                f"line {line} of `{self._document.uri}` is no readable record: {reason}",
                place=Place(source=self._document.uri, line=line, offset=offset),
                help="what this line held is unknown; record the run anew or restore the line",
            )

    def close(self) -> None:
        """Report how many more there were."""
        more = self._count - SHOWN_DAMAGES
        if more > 0:
            self._log.fault(
                "adapter/damaged-record",
                f"{more} more damaged lines in `{self._document.uri}`",
                place=Place(source=self._document.uri),
                help="the file as a whole is damaged: restore it from its source",
            )


def digest(document: Document) -> str:
    """Return the sha256 of the bytes as they lie on the disk; empty when they cannot be read."""
    try:
        stored: Document = getattr(document, "stored", document)
        with stored.open() as file:
            data = file.read(CHUNK)
            whole = sha256(more=len(data) == CHUNK)
            while data:
                whole.update(data)
                data = file.read(CHUNK)
    except OSError:
        return ""
    return whole.hexdigest()


def _has_lines(data: bytes) -> bool:
    """Return whether one of the first lines is a value of its own, as in JSON Lines."""
    start = 0
    for _ in range(3):
        end = data.find(b"\n", start)
        if end < 0:
            return False
        text = data[start:end].strip()
        start = end + 1
        if text in (b"[", b"{"):
            return False
        if text[:1] in (b"[", b"{"):
            try:
                loads(text)
            except Unreadable:
                continue
            return True
    return False

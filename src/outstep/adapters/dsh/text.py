"""Session logs as text: plain or zstd frames, damage and torn ends told apart.

A log is written in batches, each an independent zstd frame. So a torn last frame is a crash tail, and a damaged one
takes only its own records with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from outstep.adapters.base import Document
from outstep.adapters.dsh import records
from outstep.adapters.dsh.records import UNREADABLE, Head, Row
from outstep.digest import sha256
from outstep.errors import Place, Problem

MAGIC = b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 18
FEED = 1 << 12
"""Compressed bytes handed over at a time: one byte of a bomb becomes 32,000."""
HELD = 1 << 23
"""Text of a frame that is held back until its checksum is known to be right."""
FREE = 1 << 26
"""Bytes that any document may unpack to."""
RATIO = 500
"""Beyond `FREE`: bytes of text for one byte of the document. Recorded logs stay below 40."""
LARGEST_TEXT = 1 << 33
LARGEST_LINE = 1 << 28
LARGEST_MENDED = 1 << 22
LARGEST_HEAD = 1 << 20
RESYNCS = 64
"""Damaged frames after which a document is given up."""
MOST_DAMAGED = 10_000
"""Damaged lines after which a log is given up: a packed one can hold millions in a few bytes."""
WINDOW = 1 << 27

_TORN_LINE = "the log stops in the middle of a line"
_TORN_FRAME = "the log stops in the middle of a zstd frame"
_BOM = b"\xef\xbb\xbf"


class Loss(Struct, frozen=True, kw_only=True):
    """A place where records are lost."""

    reason: str
    torn: bool = False
    """The tail that a crash leaves; no damage."""
    problem: Problem | None = None
    line: int | None = None
    offset: int | None = None


class Log:
    """One session log, whatever it is stored in."""

    uri: str
    folder: str
    sha256 = ""
    """Of the raw bytes; known once the log has been read."""
    keeps_records = False
    """Rows carry their text."""

    def head(self) -> Head | Problem:
        """Return the header line, or why there is none."""
        raise NotImplementedError

    def rows(self) -> Iterator[Row | Loss]:
        """Yield the rows after the header as they stand in the log, and losses where they happened."""
        raise NotImplementedError


class TextLog(Log):
    """A log of lines."""

    def __init__(self, document: Document) -> None:
        self.uri = document.uri
        self.folder = folder(document.uri)
        self._document = document

    def pieces(self) -> Iterator[bytes | Loss]:
        """Yield the text in pieces of any size, and losses; digests the raw bytes on the way."""
        digest = sha256()
        try:
            with self._document.open() as file:
                if file.read(4) == MAGIC:
                    file.seek(0)
                    data = file.read()
                    for text in _frames(data, self.uri):
                        yield from _in_chunks(text)
                    digest = sha256(data)
                else:
                    file.seek(0)
                    piece = file.read(CHUNK)
                    digest = sha256(more=len(piece) == CHUNK)
                    while piece:
                        digest.update(piece)
                        yield piece
                        piece = file.read(CHUNK)
        except OSError as error:
            yield _loss("adapter/unreadable", f"`{self.uri}` cannot be read: {error}", self.uri)
        self.sha256 = digest.hexdigest()

    def head(self) -> Head | Problem:
        """Return the header line, or why there is none."""
        place = Place(source=self.uri, line=1)
        text = b""
        for piece in self.pieces():
            if isinstance(piece, Loss):
                if piece.problem is not None and not text:
                    return piece.problem
                break
            text = (text + piece).removeprefix(_BOM).lstrip(b"\r\n \t")
            if b"\n" in text or len(text) > LARGEST_HEAD:
                break
        line = text.partition(b"\n")[0]
        try:
            head = records.head(line)
        except UNREADABLE as error:
            return _no_header(self.uri, place, str(error))
        if head.type != "session":
            return _no_header(self.uri, place, f"it is a `{head.type[:80]}` record")
        return head

    def rows(self) -> Iterator[Row | Loss]:
        """Yield the rows after the header; blank lines are passed over."""
        lines = _Lines(self.uri, self.keeps_records)
        for piece in self.pieces():
            if isinstance(piece, Loss):
                yield from lines.lose(piece)
            else:
                yield from lines.feed(piece)
            if lines.damaged > MOST_DAMAGED:
                yield _loss(
                    "adapter/too-large",
                    f"more than {MOST_DAMAGED} lines of `{self.uri}` are damaged: the rest is not read",
                    self.uri,
                )
                return
        yield from lines.close()


def folder(uri: str) -> str:
    """Return the folder of a document; an archive counts as one."""
    return uri.replace("\\", "/").replace("!", "/").rpartition("/")[0]


def damaged(uri: str, what: str, line: int | None, offset: int | None) -> Loss:
    """Return the loss of one complete line that is no record."""
    where = f"line {line}" if line is not None else "a row"
    return Loss(
        reason=f"{where} of `{uri}` is damaged",
        problem=Problem(
            code="adapter/damaged-record",
            sentence=f"{where} of `{uri}` is no session record: {what}",
            place=Place(source=uri, line=line, offset=offset),
            help="the records before and after it are read, and a gap stands in its place",
        ),
        line=line,
        offset=offset,
    )


class _Lines:
    """Cuts pieces of text into rows."""

    def __init__(self, uri: str, keeps_records: bool) -> None:
        self.damaged = 0
        """Complete lines so far that are no record."""
        self._uri = uri
        self._keeps_records = keeps_records
        self._line = 0
        self._offset = 0
        self._parts: list[bytes] = []
        self._size = 0
        self._is_head_read = False
        self._is_too_long = False

    def feed(self, piece: bytes) -> list[Row | Loss]:
        lines = piece.split(b"\n")
        if len(lines) == 1:
            self._hold(piece)
            return []
        found: list[Row | Loss] = []
        if self._is_too_long:
            self._size += len(lines.pop(0)) + 1
            found.append(self._too_long())
        elif self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        rest = lines.pop()
        if rest:
            self._hold(rest)
        decode = records.row
        number, offset = self._line, self._offset
        for line in lines:
            number += 1
            if not line:
                offset += 1
                continue
            try:
                row = decode(line)
            except UNREADABLE as error:
                if line.removeprefix(_BOM).strip():
                    found.append(self._mended(line, number, offset, error))
            else:
                row.line = number
                row.offset = offset
                if self._keeps_records:
                    row.record = line
                found.append(row)
            offset += len(line) + 1
        self._line, self._offset = number, offset
        if found and not self._is_head_read:
            self._is_head_read = True
            del found[0]
        return found

    def _mended(self, line: bytes, number: int, offset: int, error: Exception) -> Row | Loss:
        try:
            if b"\\u" not in line or len(line) > LARGEST_MENDED:
                raise error
            row = records.mended_row(line)
        except UNREADABLE:
            self.damaged += 1
            return damaged(self._uri, str(error), number, offset)
        row.line, row.offset = number, offset
        if self._keeps_records:
            row.record = line
        return row

    def lose(self, loss: Loss) -> Iterator[Row | Loss]:
        """A loss ends the line in progress; one that is whole all the same is read."""
        yield from self._last()
        yield Loss(reason=loss.reason, torn=loss.torn, problem=loss.problem, line=self._line + 1, offset=self._offset)

    def close(self) -> Iterator[Row | Loss]:
        if self._is_too_long:
            yield self._too_long()
        yield from self._last(is_end=True)

    def _last(self, *, is_end: bool = False) -> Iterator[Row | Loss]:
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        if not line.strip() or not self._is_head_read:
            return
        try:
            row = records.row(line)
        except UNREADABLE:
            if is_end:
                yield Loss(reason=_TORN_LINE, torn=True, line=self._line + 1, offset=self._offset)
            return
        self._line += 1
        row.line, row.offset = self._line, self._offset
        self._offset += len(line)
        if self._keeps_records:
            row.record = line
        yield row

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > LARGEST_LINE:
            self._is_too_long = True
            self._parts.clear()
        if not self._is_too_long:
            self._parts.append(piece)

    def _too_long(self) -> Loss:
        self._is_too_long = False
        self._line += 1
        loss = _loss(
            "adapter/too-large", f"line {self._line} of `{self._uri}` is longer than {LARGEST_LINE} bytes", self._uri
        )
        offset = self._offset
        self._offset += self._size
        self._size = 0
        return Loss(reason=loss.reason, problem=loss.problem, line=self._line, offset=offset)


def _in_chunks(piece: bytes | Loss) -> Iterator[bytes | Loss]:
    """Cut unpacked text, of which a few bytes can give a hundred million, into pieces as small as those of a file."""
    if isinstance(piece, Loss) or len(piece) <= CHUNK:
        yield piece
        return
    for start in range(0, len(piece), CHUNK):
        yield piece[start : start + CHUNK]


def _frames(data: bytes, uri: str) -> Iterator[bytes | Loss]:
    from zstandard import ZstdDecompressor, ZstdError

    decompressor = ZstdDecompressor(max_window_size=WINDOW)
    view = memoryview(data)
    size = len(data)
    limit = min(LARGEST_TEXT, max(FREE, RATIO * size))
    position = total = resyncs = 0
    while position < size:
        start = position
        frame = decompressor.decompressobj()
        held: list[bytes] = []
        waiting = 0
        try:
            while not frame.eof and position < size:
                piece = view[position : position + FEED]
                text = frame.decompress(piece)
                position += len(piece) - len(frame.unused_data)
                total += len(text)
                if total > limit:
                    yield _loss("adapter/too-large", f"`{uri}` unpacks to more than {limit} bytes", uri)
                    return
                held.append(text)
                waiting += len(text)
                if waiting > HELD:
                    yield from held
                    held.clear()
                    waiting = 0
        except ZstdError as error:
            resyncs += 1
            yield _loss("adapter/damaged-frame", f"the zstd frame at byte {start} of `{uri}` is damaged: {error}", uri)
            position = data.find(MAGIC, start + 1) if resyncs < RESYNCS else -1
            if position < 0:
                return
            continue
        yield from held
        if not frame.eof:
            yield Loss(reason=_TORN_FRAME, torn=True)
            return


def _loss(code: str, sentence: str, uri: str) -> Loss:
    help = "restore the file from its source; what this part held is unknown"
    return Loss(reason=sentence, problem=Problem(code=code, sentence=sentence, place=Place(source=uri), help=help))


def _no_header(uri: str, place: Place, what: str) -> Problem:
    return Problem(
        code="adapter/unreadable",
        sentence=f"`{uri}` does not begin with the header of a session: {what}",
        place=place,
        help="a session log begins with a line of type `session`; give the log as dsh wrote it",
    )

"""What session logs are stored in: files of lines, export archives, databases."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from io import BufferedReader, BytesIO, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import msgspec
from msgspec import Raw

from outstep.adapters.base import Document
from outstep.adapters.dsh import records
from outstep.adapters.dsh.records import NOTHING, UNREADABLE, Head, Row
from outstep.adapters.dsh.text import CHUNK, FEED, FREE, LARGEST_LINE, RATIO, Log, Loss, TextLog, damaged, folder
from outstep.digest import sha256
from outstep.errors import Place, Problem

if TYPE_CHECKING:
    import sqlite3
    from zipfile import ZipFile

ARCHIVE = b"PK\x03\x04"
DATABASE = b"SQLite format 3\0"
APPLICATION = b"DSHP"
"""`application_id` of a session database."""
SCHEMA = 15
"""`user_version` of the databases that recordings vouch for; 17 packs its rows in another way."""
STEPS = 500
"""Times a million steps that the database may take: a hostile one can compute without end."""

LOG_NAME = re.compile(r"session(\.v[0-9]{1,9})?\.jsonl(\.zstd)?")

T = TypeVar("T")

_TABLES = ("sessions", "events")


def logs(documents: list[Document]) -> Iterator[Log | Problem]:
    """Yield every session log in the documents, in the order of their names, and what could not be opened."""
    for document in sorted(documents, key=lambda document: document.uri):
        try:
            head = document.head(100)
            if head.startswith(ARCHIVE):
                yield from _of_archive(document)
            elif head.startswith(DATABASE):
                yield from _of_database(document, document.read())
            else:
                yield TextLog(document)
        except OSError as error:
            yield _problem("adapter/unreadable", f"`{document.uri}` cannot be read: {error}", document)


def _of_archive(document: Document) -> Iterator[Log | Problem]:
    from zipfile import BadZipFile, ZipFile

    data = document.read()
    try:
        archive = ZipFile(BytesIO(data))
        names = _log_names(archive)
        size = sum(archive.getinfo(name).file_size for name in names)
    except (BadZipFile, NotImplementedError, ValueError) as error:
        yield _problem("adapter/unreadable", f"`{document.uri}` is a damaged archive: {error}", document)
        return
    limit = max(FREE, RATIO * len(data))
    if size > limit:
        yield _problem("adapter/too-large", f"`{document.uri}` unpacks to more than {limit} bytes", document)
    elif not names:
        yield _problem("adapter/unreadable", f"`{document.uri}` holds no session log", document)
    else:
        counts = Counter(archive.namelist())
        for name in names:
            if counts[name] > 1:
                yield _problem(
                    "adapter/unreadable",
                    f"`{document.uri}` holds `{name}` twice; only the last one is read",
                    document,
                    help="export the session anew; an archive holds each log once",
                )
            yield TextLog(_Member(document.uri, archive, name))


class _Member(Document):
    """A log in an archive; no more is read of it than the archive says that it holds."""

    def __init__(self, uri: str, archive: ZipFile, name: str) -> None:
        super().__init__(f"{uri}!{name}")
        self._archive = archive
        self._name = name

    def open(self) -> BinaryIO:
        """Open the unpacked bytes for reading from the start; raises `OSError`, now or when they are read."""
        return cast(BinaryIO, BufferedReader(_Unpacking(self._archive, self._name), CHUNK))


class _Unpacking(RawIOBase):
    """A member as a file whose every damage is an `OSError`."""

    def __init__(self, archive: ZipFile, name: str) -> None:
        self._member = self._safely(lambda: archive.open(name))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._safely(lambda: self._member.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._safely(lambda: self._member.seek(offset, whence))

    @staticmethod
    def _safely(act: Callable[[], T]) -> T:
        from zipfile import BadZipFile
        from zlib import error as zlib_error

        try:
            return act()
        except (BadZipFile, zlib_error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise OSError(f"the archive is damaged: {error}") from None


def _of_database(document: Document, data: bytes) -> Iterator[Log | Problem]:
    import sqlite3

    schema = int.from_bytes(data[60:64], "big")
    if data[68:72] != APPLICATION:
        yield _problem("adapter/unreadable", f"`{document.uri}` is a database of something else", document)
        return
    if schema != SCHEMA:
        yield Problem(
            code="adapter/unpinned-version",
            sentence=f"`{document.uri}` is a session database of schema {schema}; "
            f"the dsh adapter is pinned to schema {SCHEMA}",
            place=Place(source=document.uri),
            help="export the session (`dsh web`, /export) or record with the default storage, one log a session",
        )
        return
    if document.path is not None and _size(f"{document.path}-wal"):
        yield _problem(
            "adapter/unreadable",
            f"`{document.uri}` is not whole: the newest rows stand in `{document.uri}-wal`",
            document,
            help="close the session, or merge them: PRAGMA wal_checkpoint(TRUNCATE)",
        )
        return
    try:
        database = _open(data)
        digest = sha256(data).hexdigest()
        heads = database.execute(
            "SELECT id, version, created_at, cwd, parent_session, seed_length, origin FROM sessions ORDER BY id"
        ).fetchall()
    except (sqlite3.Error, MemoryError, *UNREADABLE) as error:
        yield _problem("adapter/unreadable", f"`{document.uri}` is a damaged database: {error}", document)
        return
    for values in heads:
        yield _DatabaseLog(document.uri, database, values, digest)


def _open(data: bytes) -> sqlite3.Connection:
    import sqlite3

    database = sqlite3.connect(":memory:", check_same_thread=False)
    # A copy in memory: nothing is locked, nothing written. Bytes 18 and 19: read it without its write-ahead log.
    database.deserialize(data[:18] + b"\x01\x01" + data[20:])
    database.text_factory = bytes
    database.execute("PRAGMA trusted_schema = OFF")
    left = iter(range(STEPS))
    database.set_progress_handler(lambda: 0 if next(left, None) is not None else 1, 1_000_000)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_LINE)
    # Tables that lie in the file, no virtual ones: what is computed could be larger than any file.
    found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0").fetchall()
    for table in _TABLES:
        if (table.encode(),) not in found:
            raise sqlite3.DatabaseError(f"it has no table `{table}`")
        if database.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden != 0", (table,)).fetchone():
            raise sqlite3.DatabaseError(f"a column of `{table}` is computed")
    return database


class _DatabaseLog(Log):
    """The rows of one session in a database of schema 15."""

    def __init__(self, uri: str, database: sqlite3.Connection, values: tuple[object, ...], digest: str) -> None:
        self.uri = uri
        self.folder = folder(uri)
        self.sha256 = digest
        self._database = database
        self._values = values

    def head(self) -> Head | Problem:
        """Return the header as the database holds it."""
        identity, version, created_at, _, parent, seed_length, origin = map(_text, self._values)
        try:
            return msgspec.convert(
                {
                    "type": "session",
                    "id": identity,
                    "version": version,
                    "createdAt": created_at,
                    "parentSession": parent,
                    "seedLength": seed_length,
                    "origin": origin,
                },
                Head,
            )
        except UNREADABLE as error:
            return Problem(
                code="adapter/unreadable",
                sentence=f"`{self.uri}` holds a session without a readable header: {error}",
                place=Place(source=self.uri),
                help="the other sessions of the database are read; restore this one from its source",
            )

    def rows(self) -> Iterator[Row | Loss]:
        """Yield the rows in the order of their sequence numbers."""
        import sqlite3

        try:
            for values in self._database.execute(
                "SELECT seq, type, time, data, source_event_seqs, surface_op, ignorable FROM events"
                " WHERE session_id = ? ORDER BY seq",
                (_text(self._values[0]),),
            ):
                yield self._row(values)
        except (sqlite3.Error, MemoryError, *UNREADABLE) as error:
            sentence = f"`{self.uri}` is a damaged database: {error}"
            problem = Problem(
                code="adapter/unreadable",
                sentence=sentence,
                place=Place(source=self.uri),
                help="restore the database from its source; what it held of this session is unknown",
            )
            yield Loss(reason=sentence, problem=problem)

    def _row(self, values: tuple[object, ...]) -> Row | Loss:
        seq, kind, time, data, sources, surface, ignorable = values
        try:
            if not isinstance(seq, int) or not isinstance(kind, bytes) or not isinstance(data, bytes):
                raise ValueError("a column is of the wrong type")
            row = Row(
                type=kind.decode(),
                seq=seq,
                time=float(time) if isinstance(time, int) else None,
                data=_json(data),
                source_event_seqs=_json(sources) if isinstance(sources, bytes) else NOTHING,
                surface_op=msgspec.json.decode(surface) if isinstance(surface, bytes) else None,
                ignorable=bool(ignorable),
            )
        except UNREADABLE as error:
            return damaged(self.uri, str(error), None, None)
        if self.keeps_records:
            row.record = data
        return row


def _json(text: bytes) -> Raw:
    return msgspec.json.decode(text, type=Raw)


def _text(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _size(path: str) -> int:
    return os.stat(path).st_size if os.path.isfile(path) else 0


def _problem(code: str, sentence: str, document: Document, help: str = "") -> Problem:
    return Problem(code=code, sentence=sentence, place=Place(source=document.uri), help=help)


def looks_like_log(document: Document, head: bytes) -> bool:
    """Return whether the first bytes of a document are those of a session log, of whatever version."""
    if head.startswith(DATABASE):
        return head[68:72] == APPLICATION
    if head.startswith(ARCHIVE):
        return bool(_names(document))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        text = _first_text(head)
        if not text:
            return LOG_NAME.fullmatch(document.uri.replace("\\", "/").rpartition("/")[2]) is not None
        head = text
    return any(_is_record(line) for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 8)[:8])


def _names(document: Document) -> list[str]:
    from zipfile import BadZipFile, ZipFile

    try:
        with document.open() as file, ZipFile(file) as archive:
            return _log_names(archive)
    except (BadZipFile, NotImplementedError, ValueError, OSError):
        return []


def _log_names(archive: ZipFile) -> list[str]:
    return sorted(name for name in set(archive.namelist()) if LOG_NAME.fullmatch(name.rpartition("/")[2]))


def _is_record(line: bytes) -> bool:
    try:
        found = records.head(line)
        # Other harnesses begin their logs with `session`, too: only dsh writes `createdAt` (0.1.0-0.2.1).
        return found.type == "session" and found.created_at is not None
    except UNREADABLE:
        pass
    try:
        row = records.row(line)
    except UNREADABLE:
        return False
    return "/" in row.type and row.seq is not None and row.time is not None and row.data != NOTHING


def _first_text(head: bytes) -> bytes:
    """Return the beginning of compressed text, or nothing if it cannot be unpacked."""
    from zstandard import ZstdDecompressor, ZstdError

    frame = ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    text = b""
    # A log that was packed in one go has its first block behind many kilobytes; one of a bomb unpacks to megabytes.
    for start in range(0, len(head), FEED):
        try:
            text += frame.decompress(head[start : start + FEED])
        except ZstdError:
            break
        if b"\n" in text or frame.eof or len(text) > 1 << 20:
            break
    return text[: 1 << 20]

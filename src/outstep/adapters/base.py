"""What every adapter offers, and what it is handed.

An adapter reads one raw format and is pinned to the versions for which a recorded fixture exists. It never guesses:
what it cannot read becomes a fault by name, a gap (only where calls, results or messages may hide), or a counted
skipped kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from os import PathLike
from typing import BinaryIO, Protocol

from msgspec import Struct

from outstep.errors import Place, Problem
from outstep.events import Event, Header


class Document:
    """Bytes of one raw document: a file, a member of an archive, or standard input."""

    def __init__(self, uri: str, path: str | PathLike[str] | None = None, data: bytes | None = None) -> None:
        """`uri` is shown to people: the path as given, or `archive!member`. `data` wins over `path`."""
        self.uri = uri
        self.path = path
        self._data = data

    def open(self) -> BinaryIO:
        """Open the bytes for reading from the start; raises `OSError`."""
        if self._data is not None:
            return BytesIO(self._data)
        if self.path is None:
            raise FileNotFoundError(self.uri)
        return open(self.path, "rb", buffering=1 << 16)

    def read(self) -> bytes:
        """Return all bytes; raises `OSError`."""
        if self._data is not None:
            return self._data
        with self.open() as file:
            return file.read()

    def head(self, size: int = 65536) -> bytes:
        """Return the first `size` bytes, for telling formats apart; raises `OSError`."""
        with self.open() as file:
            return file.read(size)


class Options(Struct, frozen=True, kw_only=True):
    """Choices of the caller that change how a document is read."""

    unpinned: bool = False
    """Read versions without a recorded fixture all the same, and mark the trace."""
    complete: bool = False
    """Take every trace without an end mark as complete."""


class Tally(Struct, kw_only=True):
    """What was read for one trace, for the line that people see after an import."""

    trace: str
    records: int = 0
    """Raw rows after the header, blank lines not counted."""
    skipped: dict[str, int] = {}
    """Raw records that carry no event of ours, by kind."""
    end: str = ""
    """`inferred` when `complete` was concluded from the last event, `taken` with `--complete`; else empty."""
    notes: list[str] = []
    """Sentences on what was met and could not be carried over."""


class Origin(Struct, frozen=True, kw_only=True):
    """Where one event stands in the raw document."""

    place: Place
    raw_seq: int | None = None
    """The raw format's own sequence number."""
    record: str = ""
    """The raw record's text, cut at 64 KiB."""


class ReadLog:
    """Collects what an adapter has to say besides events."""

    def __init__(self) -> None:
        self.faults: list[Problem] = []
        self.tallies: list[Tally] = []

    def fault(self, code: str, sentence: str, *, place: Place | None = None, help: str = "") -> None:
        """Report a check that cannot be made; exit code 2 follows, and reading goes on where it can."""
        self.faults.append(Problem(code=code, sentence=sentence, place=place, help=help))

    def tally(self, tally: Tally) -> Tally:
        """Keep the tally of a trace, one for each header yielded, in the same order."""
        self.tallies.append(tally)
        return tally


Batch = list[Event | Header]


class Adapter(Protocol):
    """One format. A module `adapters/<name>.py` offers one as `ADAPTER`."""

    name: str
    version: str
    """Of the adapter itself."""
    pinned: tuple[str, ...]
    """Format versions with a recorded fixture."""
    title: str
    cannot_carry: tuple[str, ...]
    """What the format does not hold, one sentence each. An adapter whose sessions may lie in several documents has a
    member `joins` beside these that is true: it is given all of its documents at once."""

    def sniff(self, document: Document, head: bytes) -> bool:
        """Return whether the first bytes look like this format, whatever its version."""
        ...

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield batches in which each `Header` opens a trace and its events follow, `seq` strictly increasing.

        Never raises for bad input: faults go to `log`. Documents of one session family form one trace.
        """
        ...

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Find where events stand, by a second look: trace id and `seq` to `Origin`."""
        ...

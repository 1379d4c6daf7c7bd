"""The append-only log: entries, the hashes of them, and signed heads, wherever they are kept.

A log is read in three ways: as the lines of its entries, as the hash that was written for each, and as the signed
heads. What no head covers was never acknowledged. `folder_log` keeps them in three files that grow, `bucket_log` in
one object a commit.
docs: docs/evidence.md#the-log
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Sequence

from msgspec import Struct

from outstep.errors import OutstepError, Place, problem
from outstep.evidence.entries import HEAD, Digest, Entry, Head, Irregular, SignedHead, canonical, read_entry, read_head
from outstep.evidence.merkle import EMPTY, Hash, Peaks, leaf_hash
from outstep.evidence.signing import SigningKey

ENTRIES, LEAVES, HEADS = FILES = ("entries.jsonl", "leaves", "heads.jsonl")


class Tail(Struct, frozen=True):
    """Bytes behind the last head, which a writer left that did not finish."""

    file: str
    size: int
    kept_as: str


class Commit(Struct, frozen=True):
    """What is written at once: lines without their ends, their hashes, and the head that covers them."""

    lines: tuple[bytes, ...]
    leaves: tuple[Hash, ...]
    signed: SignedHead


class Log(ABC):
    """A log that exists."""

    def __init__(self, store: str, about: Digest) -> None:
        """`store` is the id of the store, `about` the digest of what it says of itself."""
        self._store = store
        self._about = about

    @abstractmethod
    def lines(self) -> Iterator[bytes]:
        """Yield the bytes of every line of the entries; the last one may be cut off."""

    @abstractmethod
    def leaves(self) -> list[Hash]:
        """Return the hashes of the entries, as they were written beside them."""

    def leaves_length(self) -> int:
        """Return how many bytes the hashes of the entries take."""
        return len(EMPTY) * len(self.leaves())

    def flaws(self) -> Iterator[tuple[str, str, str]]:
        """Yield what is wrong with the way in which it is kept: code, sentence, name of the file in the store."""
        yield from ()

    @abstractmethod
    def head_lines(self) -> tuple[list[bytes], bytes]:
        """Return the lines of signed heads that are whole, and what stands behind them."""

    @abstractmethod
    def line(self, number: int) -> bytes | None:
        """Return one line of the entries, or none where there are fewer."""

    @abstractmethod
    def place(self, file: str, index: int | None = None) -> Place:
        """Return where a file is, or a line of it, counted from 0."""

    @abstractmethod
    def state(self, number: int) -> str:
        """Return a word that changes where anything changes that the first heads cover, up to head `number`."""

    @abstractmethod
    def repair(self) -> list[Tail]:
        """Set aside what a killed writer left behind the newest head; to be called by the one writer.

        Raises `OutstepError` where a file is shorter than the head says: that no killed writer does.
        """

    @abstractmethod
    def append(self, entries: Sequence[Entry], key: SigningKey, clock: Callable[[], str]) -> SignedHead:
        """Write entries and the head that covers them; what this returns is safe."""

    @abstractmethod
    def last_head_line(self) -> bytes:
        """Return the line of the newest head without its end; empty where there is none."""

    def newest(self) -> SignedHead | None:
        """Return the newest head, or none of an empty log; raises `OutstepError` for one that cannot be read."""
        line = self.last_head_line()
        if not line:
            return None
        try:
            return read_head(line)
        except Irregular as error:
            raise self.damaged(f"the newest head: {error}", self.place(HEADS)) from None

    @property
    def size(self) -> int:
        """How many entries the newest head covers."""
        newest = self.newest()
        return newest.head.size if newest is not None else 0

    def entry(self, number: int) -> Entry:
        """Return one entry that a head covers; raises `OutstepError` where there is none that can be read."""
        line = self.line(number) if 0 <= number < self.size else None
        if line is None:
            raise problem(
                "evidence/unknown-entry",
                f"the log has no entry {number}",
                place=self.place(ENTRIES),
                help="outstep evidence list shows what there is",
            )
        return self._entry(line, number)

    def entries(self) -> Iterator[Entry]:
        """Yield every entry that a head covers; raises `OutstepError` at the first that cannot be read."""
        return (entry for _, entry in self.numbered())

    def numbered(self, wanted: Container[int] | None = None) -> Iterator[tuple[int, Entry]]:
        """Yield entries that a head covers with their numbers: those wanted, else all; raises `OutstepError`."""
        size = self.size
        number = -1
        for number, line in enumerate(self.lines()):
            if number >= size:
                return
            if wanted is None or number in wanted:
                yield number, self._entry(line, number)
        if number + 1 < size:
            # Who counts what is there must not take fewer for all.
            raise self.damaged(f"the newest head covers {size} entries, and {number + 1} are left", self.place(ENTRIES))

    def next_commit(self, entries: Sequence[Entry], key: SigningKey, clock: Callable[[], str]) -> Commit:
        """Return what would be written behind the newest head."""
        newest = self.newest()
        peaks, length, number = Peaks(), 0, 0
        if newest is not None:
            peaks = Peaks(newest.head.size, tuple(bytes.fromhex(peak) for peak in newest.head.peaks))
            length, number = newest.head.length, newest.head.number + 1
        lines = tuple(canonical(entry) for entry in entries)
        leaves = tuple(map(leaf_hash, lines))
        peaks = peaks.add(leaves)
        head = Head(
            schema=HEAD,
            store=self._store,
            about=self._about,
            number=number,
            size=peaks.size,
            length=length + sum(len(line) + 1 for line in lines),
            root=peaks.root.hex(),
            peaks=tuple(peak.hex() for peak in peaks.hashes),
            time=clock(),
            key=key.public.id,
        )
        return Commit(lines, leaves, key.sign_head(head))

    def damaged(self, fact: str, place: Place) -> OutstepError:
        """Return the error for a log to which nothing is written."""
        return problem(
            "evidence/damaged-log",
            f"the log is damaged: {fact}",
            place=place,
            help="outstep evidence verify says what was changed; nothing is written to a damaged log",
        )

    def _entry(self, line: bytes, number: int) -> Entry:
        try:
            return read_entry(line.removesuffix(b"\n"))
        except Irregular as error:
            raise self.damaged(f"entry {number}: {error}", self.place(ENTRIES, number)) from None

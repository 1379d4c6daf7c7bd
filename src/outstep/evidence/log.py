"""The append-only log: entries, the hashes of them, and signed heads, in three files that only grow.

`entries.jsonl` has one canonical entry a line, `leaves` the 32 bytes of each leaf hash, `heads.jsonl` one signed head a
line. Entries and leaves are on the disk before the head that covers them is written, and what no head covers was never
acknowledged. A writer that was killed leaves such a tail: it is set aside, under a name of its own, and never deleted.
docs: docs/evidence.md#the-log
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from outstep.errors import Place, problem
from outstep.evidence.entries import HEAD, Digest, Entry, Head, Irregular, SignedHead, canonical, read_entry, read_head
from outstep.evidence.merkle import Hash, Peaks, leaf_hash
from outstep.evidence.objects import sync_file, sync_folder
from outstep.evidence.signing import SigningKey

ENTRIES, LEAVES, HEADS = FILES = ("entries.jsonl", "leaves", "heads.jsonl")
_LEAF = 32
_NEAR_END = 1 << 14
"""Bytes in which the last head is sought first."""


class Tail(Struct, frozen=True):
    """Bytes behind the last head, which a writer left that did not finish."""

    file: str
    size: int
    kept_as: str


class Log:
    """The log in a folder."""

    def __init__(self, folder: Path, store: str, about: Digest) -> None:
        """`store` is the id of the store, `about` the digest of what it says of itself."""
        self.folder = folder
        self._store = store
        self._about = about

    def begin(self) -> None:
        """Make the empty files."""
        self.folder.mkdir(parents=True)
        for name in FILES:
            (self.folder / name).touch(exist_ok=False)
            sync_file(self.folder / name)
        sync_folder(self.folder)

    def lines(self) -> Iterator[bytes]:
        """Yield the bytes of every line of the entries; the last one may be cut off."""
        with (self.folder / ENTRIES).open("rb") as file:
            yield from file

    def entry(self, number: int) -> Entry:
        """Return one entry; raises `OutstepError` where there is none that can be read."""
        for index, line in enumerate(self.lines()):
            if index == number:
                return self._entry(line, number)
        raise problem(
            "evidence/unknown-entry",
            f"the log has no entry {number}",
            place=Place(source=str(self.folder / ENTRIES)),
            help="outstep evidence list shows what there is",
        )

    def entries(self) -> Iterator[Entry]:
        """Yield every entry that a head covers; raises `OutstepError` at the first that cannot be read."""
        size = self.size
        for number, line in enumerate(self.lines()):
            if number >= size:
                return
            yield self._entry(line, number)

    def leaves(self) -> list[Hash]:
        """Return the hashes of the entries, as they were written beside them."""
        data = (self.folder / LEAVES).read_bytes()
        return [data[at : at + _LEAF] for at in range(0, len(data) - len(data) % _LEAF, _LEAF)]

    def head_lines(self) -> tuple[list[bytes], bytes]:
        """Return the lines of signed heads that are whole, and what stands behind them."""
        *lines, rest = (self.folder / HEADS).read_bytes().split(b"\n")
        return lines, rest

    def newest(self) -> SignedHead | None:
        """Return the newest head, or none of an empty log; raises `OutstepError` for one that cannot be read."""
        line, _ = self._last_head()
        if not line:
            return None
        try:
            return read_head(line)
        except Irregular as error:
            raise self._damaged(HEADS, f"the newest head: {error}", None) from None

    @property
    def size(self) -> int:
        """How many entries the newest head covers."""
        newest = self.newest()
        return newest.head.size if newest is not None else 0

    def repair(self) -> list[Tail]:
        """Set aside what a killed writer left behind the newest head; to be called by the one writer.

        Raises `OutstepError` where a file is shorter than the head says: that no killed writer does.
        """
        newest = self.newest()
        size, length = (newest.head.size, newest.head.length) if newest is not None else (0, 0)
        for name, least in ((ENTRIES, length), (LEAVES, size * _LEAF)):
            if (self.folder / name).stat().st_size < least:
                raise self._damaged(name, f"it is shorter than the newest head says ({least} bytes)", None)
        ends = {HEADS: self._last_head()[1], ENTRIES: length, LEAVES: size * _LEAF}
        return [tail for name, end in ends.items() for tail in self._cut(name, end)]

    def _last_head(self) -> tuple[bytes, int]:
        """Return the last whole line of the heads without its line end, and the offset behind it."""
        with (self.folder / HEADS).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            reach = _NEAR_END
            while True:
                start = max(0, size - reach)
                file.seek(start)
                whole, _, _ = file.read(size - start).rpartition(b"\n")
                _, end, line = whole.rpartition(b"\n")
                if end or start == 0:
                    return line, start + len(whole) + 1 if whole else 0
                reach *= 8

    def append(self, entries: Sequence[Entry], key: SigningKey, clock: Callable[[], str]) -> SignedHead:
        """Write entries and the head that covers them; what this returns is safe on the disk."""
        newest = self.newest()
        peaks, length, number = Peaks(), 0, 0
        if newest is not None:
            peaks = Peaks(newest.head.size, tuple(bytes.fromhex(peak) for peak in newest.head.peaks))
            length, number = newest.head.length, newest.head.number + 1
        lines = [canonical(entry) for entry in entries]
        leaves = [leaf_hash(line) for line in lines]
        peaks = peaks.add(leaves)
        text = b"".join(line + b"\n" for line in lines)
        self._write(ENTRIES, text)
        self._write(LEAVES, b"".join(leaves))
        head = Head(
            schema=HEAD,
            store=self._store,
            about=self._about,
            number=number,
            size=peaks.size,
            length=length + len(text),
            root=peaks.root.hex(),
            peaks=tuple(peak.hex() for peak in peaks.hashes),
            time=clock(),
            key=key.public.id,
        )
        signed = key.sign_head(head)
        self._write(HEADS, canonical(signed) + b"\n")
        return signed

    def _write(self, name: str, data: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _cut(self, name: str, end: int) -> Iterator[Tail]:
        """Move what stands behind `end` into a file of its own."""
        path = self.folder / name
        with path.open("rb") as file:
            file.seek(end)
            tail = file.read()
        if not tail:
            return
        number = 1
        while (kept := self.folder / f"{name}.unfinished-{number}").exists():
            number += 1
        kept.write_bytes(tail)
        sync_file(kept)
        sync_folder(self.folder)
        os.truncate(path, end)
        sync_file(path)
        yield Tail(name, len(tail), kept.name)

    def _entry(self, line: bytes, number: int) -> Entry:
        try:
            return read_entry(line.removesuffix(b"\n"))
        except Irregular as error:
            raise self._damaged(ENTRIES, f"entry {number}: {error}", number + 1) from None

    def _damaged(self, name: str, fact: str, line: int | None) -> Exception:
        return problem(
            "evidence/damaged-log",
            f"the log is damaged: {fact}",
            place=Place(source=str(self.folder / name), line=line),
            help="outstep evidence verify says what was changed; nothing is written to a damaged log",
        )

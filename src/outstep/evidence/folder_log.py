"""A log in three files that only grow.

`entries.jsonl` has one canonical entry a line, `leaves` the 32 bytes of each leaf hash, `heads.jsonl` one signed head a
line. Entries and leaves are on the disk before the head that covers them is written. A writer that was killed leaves
a tail that no head covers: it is set aside, under a name of its own, and never deleted.
docs: docs/evidence.md#the-log
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from outstep.errors import Place
from outstep.evidence.entries import Digest, Entry, Irregular, SignedHead, canonical, read_head
from outstep.evidence.log import ENTRIES, FILES, HEADS, LEAVES, Log, Tail
from outstep.evidence.merkle import Hash
from outstep.evidence.objects import open_plain, read_plain, sync_file, sync_folder
from outstep.evidence.signing import SigningKey

_LEAF = 32
_NEAR_END = 1 << 14
"""Bytes in which the last head is sought first."""


class FolderLog(Log):
    """The log in a folder."""

    def __init__(self, folder: Path, store: str, about: Digest) -> None:
        """`store` is the id of the store, `about` the digest of what it says of itself."""
        super().__init__(store, about)
        self.folder = folder
        self._starts: list[int] = []
        """Where the lines of the entries begin, as far as they were sought."""

    def begin(self) -> None:
        """Make the empty files."""
        self.folder.mkdir(parents=True)
        for name in FILES:
            (self.folder / name).touch(exist_ok=False)
            sync_file(self.folder / name)
        sync_folder(self.folder)

    def lines(self) -> Iterator[bytes]:
        """Yield the bytes of every line of the entries; the last one may be cut off."""
        with open_plain(self.folder / ENTRIES) as file:
            yield from file

    def line(self, number: int) -> bytes | None:
        """Return one line of the entries, or none where there are fewer."""
        if number >= len(self._starts):
            at, self._starts = 0, []
            for line in self.lines():
                self._starts.append(at)
                at += len(line)
        if number >= len(self._starts):
            return None
        with open_plain(self.folder / ENTRIES) as file:
            file.seek(self._starts[number])
            return file.readline()

    def leaves(self) -> list[Hash]:
        """Return the hashes of the entries, as they were written beside them."""
        data = read_plain(self.folder / LEAVES)
        return [data[at : at + _LEAF] for at in range(0, len(data) - len(data) % _LEAF, _LEAF)]

    def leaves_length(self) -> int:
        """Return how many bytes the hashes of the entries take."""
        return (self.folder / LEAVES).stat().st_size

    def head_lines(self) -> tuple[list[bytes], bytes]:
        """Return the lines of signed heads that are whole, and what stands behind them."""
        *lines, rest = read_plain(self.folder / HEADS).split(b"\n")
        return lines, rest

    def place(self, file: str, index: int | None = None) -> Place:
        """Return where a file is, or a line of it, counted from 0."""
        return Place(source=str(self.folder / file), line=None if index is None else index + 1)

    def state(self, number: int) -> str:
        """Return a word that changes where anything changes that the first heads cover, up to head `number`."""
        heads, _ = self.head_lines()
        found = sha256(b"\n".join(heads[: number + 1]))
        try:
            left = read_head(heads[number]).head.length if number < len(heads) else 0
        except Irregular:
            left = 0
        with open_plain(self.folder / ENTRIES) as file:
            while left > 0 and (piece := file.read(min(left, 1 << 20))):
                found.update(piece)
                left -= len(piece)
        return found.hexdigest()

    def last_head_line(self) -> bytes:
        """Return the line of the newest head without its end; empty where there is none."""
        return self._last_head()[0]

    def repair(self) -> list[Tail]:
        """Set aside what a killed writer left behind the newest head; to be called by the one writer.

        Raises `OutstepError` where a file is shorter than the head says: that no killed writer does.
        """
        newest = self.newest()
        size, length = (newest.head.size, newest.head.length) if newest is not None else (0, 0)
        for name, least in ((ENTRIES, length), (LEAVES, size * _LEAF)):
            if (self.folder / name).stat().st_size < least:
                raise self.damaged(f"it is shorter than the newest head says ({least} bytes)", self.place(name))
        ends = {HEADS: self._last_head()[1], ENTRIES: length, LEAVES: size * _LEAF}
        return [tail for name, end in ends.items() for tail in self._cut(name, end)]

    def append(self, entries: Sequence[Entry], key: SigningKey, clock: Callable[[], str]) -> SignedHead:
        """Write entries and the head that covers them; what this returns is safe on the disk."""
        made = self.next_commit(entries, key, clock)
        texts = {
            ENTRIES: b"".join(line + b"\n" for line in made.lines),
            LEAVES: b"".join(made.leaves),
            HEADS: canonical(made.signed) + b"\n",
        }
        ends = {name: (self.folder / name).stat().st_size for name in texts}
        head = made.signed.head
        if (ends[ENTRIES], ends[LEAVES]) != (head.length - len(texts[ENTRIES]), head.size * _LEAF - len(texts[LEAVES])):
            raise self.damaged("something stands behind the newest head", self.place(ENTRIES))
        try:
            for name, text in texts.items():
                self._write(name, text)
        except OSError:
            # A full disk took a part of it: back to where it was, so that a next try finds no tail in its way.
            with suppress(OSError):
                for name in (HEADS, LEAVES, ENTRIES):
                    os.truncate(self.folder / name, ends[name])
            raise
        return made.signed

    def _last_head(self) -> tuple[bytes, int]:
        """Return the last whole line of the heads without its line end, and the offset behind it."""
        with open_plain(self.folder / HEADS) as file:
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

    def _write(self, name: str, data: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _cut(self, name: str, end: int) -> Iterator[Tail]:
        """Move what stands behind `end` into a file of its own."""
        path = self.folder / name
        with open_plain(path) as file:
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

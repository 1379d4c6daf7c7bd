"""A log in a bucket: one object a commit, `log/000000000000.jsonl`, numbered like its head.

Its first line is the signed head, the second the hashes of its entries, then come the entries, a line each. An object
is written whole or not at all, so there is no tail; of two writers of one number the second comes behind the first.
docs: docs/evidence.md#a-store-in-a-bucket
"""

from __future__ import annotations

import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

from msgspec import Struct

from outstep.errors import Place, problem
from outstep.evidence.entries import Digest, Entry, Irregular, SignedHead, canonical, named, read_entry
from outstep.evidence.home import LOG
from outstep.evidence.log import ENTRIES, HEADS, Commit, Log, Tail
from outstep.evidence.merkle import Hash
from outstep.evidence.s3 import Bucket
from outstep.evidence.signing import SigningKey

_NAME = re.compile(rf"{LOG}/[0-9]{{12}}\.jsonl\Z")
_TRIES = 200
_LANES = 16


class _Stored(Struct, frozen=True):
    """One commit as it was read."""

    name: str
    data: bytes

    @property
    def head_line(self) -> bytes:
        return self.data.split(b"\n", 1)[0]

    @property
    def leaves(self) -> list[Hash]:
        """The hashes, or none where the line holds something else."""
        text = (*self.data.split(b"\n", 2), b"")[1]
        try:
            data = bytes.fromhex(text.decode("ascii"))
        except ValueError:
            return []
        return [data[at : at + 32] for at in range(0, len(data), 32)] if data.hex().encode() == text else []

    @property
    def lines(self) -> list[bytes]:
        """The entries, with their line ends."""
        return (*self.data.split(b"\n", 2), b"", b"")[2].splitlines(keepends=True)

    @property
    def is_regular(self) -> bool:
        """Whether it has the form in which commits are written."""
        return bool(self.leaves) and len(self.leaves) == len(self.lines) and self.data.endswith(b"\n")


class BucketLog(Log):
    """The log below a prefix of a bucket."""

    def __init__(self, bucket: Bucket, store: str, about: Digest) -> None:
        """`store` is the id of the store, `about` the digest of what it says of itself."""
        super().__init__(store, about)
        self._bucket = bucket
        self._read: dict[tuple[str, str], _Stored] = {}
        """By name and tag: an object that someone has overwritten is read anew."""
        self._seen = 0
        """Commits that were there when this writer began."""

    @staticmethod
    def is_commit(name: str) -> bool:
        """Return whether a commit can have this name."""
        return _NAME.match(name) is not None

    def lines(self) -> Iterator[bytes]:
        """Yield the bytes of every line of the entries; the last one may be cut off."""
        for commit in self._commits():
            yield from commit.lines

    def line(self, number: int) -> bytes | None:
        """Return one line of the entries, or none where there are fewer."""
        for commit in self._commits():
            lines = commit.lines
            if number < len(lines):
                return lines[number]
            number -= len(lines)
        return None

    def leaves(self) -> list[Hash]:
        """Return the hashes of the entries, as they were written beside them."""
        return [leaf for commit in self._commits() for leaf in commit.leaves]

    def head_lines(self) -> tuple[list[bytes], bytes]:
        """Return the lines of signed heads that are whole, and what stands behind them: nothing."""
        return [commit.head_line for commit in self._commits()], b""

    def last_head_line(self) -> bytes:
        """Return the line of the newest head without its end; empty where there is none."""
        listed = self._listed()
        return self._commit(listed[-1]).head_line if listed else b""

    def place(self, file: str, index: int | None = None) -> Place:
        """Return where a file is, or a line of it, counted from 0."""
        name, line = f"{LOG}/", None
        if index is not None:
            for number, commit in enumerate(self._commits()):
                length = len(commit.lines)
                name = commit.name
                if file == HEADS and number == index:
                    line = 1
                    break
                if file == ENTRIES and index < length:
                    line = index + 3
                    break
                index -= length if file == ENTRIES else 0
        return Place(source=f"{self._bucket.location}/{name}", line=line)

    def state(self, number: int) -> str:
        """Return a word that changes where anything changes that the first heads cover, up to head `number`."""
        told = "\n".join(f"{name} {tag}" for name, tag in self._listed()[: number + 1])
        return sha256(told.encode()).hexdigest()

    def flaws(self) -> Iterator[tuple[str, str, str]]:
        """Yield what is wrong with the way in which it is kept: code, sentence, name of the file in the store."""
        for number, commit in enumerate(self._commits()):
            if commit.name != _name(number):
                told = f"`{commit.name}` stands where `{_name(number)}` was written"
                yield "evidence/changed-heads", told, commit.name
            if not commit.is_regular:
                yield "evidence/bad-commit", f"`{commit.name}` has not the form of a commit", commit.name

    def times_gone(self) -> dict[Digest, int]:
        """Return how often the log says of each object that it was let go."""
        pruned = (line for line in self.lines() if b'"pruned":[' in line)
        return dict(Counter(digest for line in pruned for digest in _pruned(line)))

    def repair(self) -> list[Tail]:
        """Remember what is there: nobody leaves a tail."""
        self._seen = len(self._listed())
        return []

    def append(self, entries: Sequence[Entry], key: SigningKey, clock: Callable[[], str]) -> SignedHead:
        """Write entries and the head that covers them, behind whatever others wrote; what this returns is safe."""
        mine = secrets.token_hex(16)
        for trial in range(_TRIES):
            self._check_meanwhile(entries)
            made = self.next_commit(entries, key, clock)
            name = _name(made.signed.head.number)
            # The answer to a write that succeeded may have been lost, and the write been tried again.
            if self._bucket.put_new(name, _text(made), mine) or self._bucket.writer(name) == mine:
                self._seen = made.signed.head.number + 1
                return made.signed
            time.sleep(min(1.0, 0.01 * (trial + 1)) * (1 + secrets.randbelow(100) / 100))
        raise problem(
            "evidence/locked",
            f"other processes write to `{self._bucket.location}` all the time",
            place=self.place(HEADS),
            help="wait for them, and add more runs at once",
        )

    def _check_meanwhile(self, entries: Sequence[Entry]) -> None:
        """Refuse what does not go together with what others wrote since: a document cannot come and go at once."""
        listed = self._listed()
        for one in listed[self._seen :]:
            for line in self._commit(one).lines:
                other = _entry(line)
                if other is not None and any(_collide(other, entry) or _collide(entry, other) for entry in entries):
                    raise problem(
                        "evidence/meanwhile",
                        "while this was added, another process let a document of it go, or added one that this lets go",
                        place=Place(source=f"{self._bucket.location}/{one[0]}"),
                        help="nothing of this group was sealed; try again",
                    )
        self._seen = len(listed)

    def _commits(self) -> list[_Stored]:
        listed = self._listed()
        lacking = [one for one in listed if one not in self._read]
        if len(lacking) > 1:
            with ThreadPoolExecutor(_LANES) as pool:
                list(pool.map(self._commit, lacking))
        return [self._commit(one) for one in listed]

    def _commit(self, listed: tuple[str, str]) -> _Stored:
        if listed not in self._read:
            self._read[listed] = _Stored(listed[0], self._bucket.get(listed[0]))
        return self._read[listed]

    def _listed(self) -> list[tuple[str, str]]:
        return [(name, tag) for name, _, tag in self._bucket.listed(f"{LOG}/") if self.is_commit(name)]


def _name(number: int) -> str:
    return f"{LOG}/{number:012}.jsonl"


def _text(made: Commit) -> bytes:
    leaves = b"".join(made.leaves).hex().encode()
    return b"\n".join((canonical(made.signed), leaves, *made.lines, b""))


def _entry(line: bytes) -> Entry | None:
    try:
        return read_entry(line.removesuffix(b"\n"))
    except Irregular:
        return None


def _pruned(line: bytes) -> Sequence[Digest]:
    entry = _entry(line)
    return entry.pruned if entry is not None else ()


def _collide(prune: Entry, other: Entry) -> bool:
    return bool(prune.pruned) and not {digest for digest, _ in named(other)}.isdisjoint(prune.pruned)

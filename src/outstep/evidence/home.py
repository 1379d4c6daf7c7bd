"""Where a store lives: what every place for one offers; `folder.py` and `bucket.py` are such places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from outstep.errors import Place
from outstep.evidence.entries import Digest
from outstep.evidence.log import Log
from outstep.evidence.objects import Objects

STORE = "store/v1"
ABOUT, LOCK, KEYS, OBJECTS, LOG = "store.json", "lock", "keys", "objects", "log"
DOCUMENTS = "documents"
"""In an export the objects lie here, plain."""
COMPLETENESS = "completeness.txt"
"""In an export: what the evidence does not hold."""


class Seen(Struct, frozen=True):
    """A file of a store."""

    name: str
    """From the store's own folder on, with slashes."""
    size: int
    is_link: bool = False


class Home(Protocol):
    """A place in which a store lies."""

    location: str
    """As it is named: a folder, or `s3://bucket/prefix`."""
    objects: Objects
    is_read_only: bool
    """Whether it is an export, to which nothing is written."""

    def begin(self, store: str, about: Digest) -> None:
        """Make what an empty store has, all but `store.json`; raises `OutstepError` where something is already."""
        ...

    def log(self, store: str, about: Digest) -> Log:
        """Return the log of the store of this id, and with this digest of what it says of itself."""
        ...

    def lacking(self) -> Sequence[str]:
        """Return the files that every store has and this one lacks."""
        ...

    def read(self, name: str) -> bytes:
        """Return the bytes of a small file; raises `OSError`."""
        ...

    def write_new(self, name: str, data: bytes) -> None:
        """Write a small file, whole or not at all."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of the files right in a folder, sorted."""
        ...

    def files(self) -> Iterator[Seen]:
        """Yield every file there is, sorted by name."""
        ...

    def belongs(self, parts: tuple[str, ...]) -> bool:
        """Return whether a file has its place in a store."""
        ...

    def place(self, name: str) -> Place:
        """Return where a file is, to be shown."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Hold others back from writing, where that is needed; raises `OutstepError` when they do not finish."""
        ...

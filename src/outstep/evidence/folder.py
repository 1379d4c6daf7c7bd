"""A store in a folder: one process writes at a time, the others wait."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from outstep.errors import Place, problem
from outstep.evidence.entries import Digest
from outstep.evidence.folder_log import FolderLog
from outstep.evidence.home import ABOUT, COMPLETENESS, DOCUMENTS, KEYS, LOCK, LOG, OBJECTS, Seen
from outstep.evidence.log import FILES
from outstep.evidence.objects import FolderObjects, Objects, PlainObjects, read_plain, sync_file, sync_folder

_PATIENCE = 600
"""Seconds that a writer waits for another one."""


class FolderHome:
    """A folder with a store, or an export of one."""

    def __init__(self, folder: Path) -> None:
        self.location = str(folder)
        self.folder = folder
        plain = folder / DOCUMENTS
        self.is_read_only = plain.is_dir()
        self.objects: Objects = PlainObjects(plain) if self.is_read_only else FolderObjects(folder / OBJECTS)

    def begin(self, store: str, about: Digest) -> None:
        """Make what an empty store has, all but `store.json`; raises `OutstepError` where something is already."""
        check_empty(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in (KEYS, OBJECTS):
            (self.folder / name).mkdir()
        FolderLog(self.folder / LOG, store, about).begin()
        (self.folder / LOCK).touch()

    def log(self, store: str, about: Digest) -> FolderLog:
        """Return the log of the store of this id, and with this digest of what it says of itself."""
        return FolderLog(self.folder / LOG, store, about)

    def lacking(self) -> Sequence[str]:
        """Return the files that every store has and this one lacks."""
        return [f"{LOG}/{name}" for name in FILES if not (self.folder / LOG / name).is_file()]

    def read(self, name: str) -> bytes:
        """Return the bytes of a small file; raises `OSError`."""
        return read_plain(self.folder / name, _SMALL)

    def write_new(self, name: str, data: bytes) -> None:
        """Write a small file, whole or not at all."""
        path = self.folder / name
        beside = path.parent / f".{path.name}.{os.getpid()}.part"
        beside.write_bytes(data)
        sync_file(beside)
        os.replace(beside, path)
        sync_folder(path.parent)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files right in a folder, sorted."""
        path = self.folder / folder
        return sorted(one.name for one in path.iterdir()) if path.is_dir() else []

    def files(self) -> Iterator[Seen]:
        """Yield every file there is, sorted by name."""
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_symlink():
                yield Seen(name, 0, is_link=True)
            elif not path.is_dir():
                yield Seen(name, path.stat().st_size)

    def belongs(self, parts: tuple[str, ...]) -> bool:
        """Return whether a file has its place in a store."""
        if len(parts) == 1:
            return parts[0] in (ABOUT, *((COMPLETENESS, "head.json", "head.sig") if self.is_read_only else (LOCK,)))
        if parts[0] == LOG:
            return len(parts) == 2 and parts[1] in FILES
        if parts[0] == KEYS:
            return len(parts) == 2 and parts[1].endswith(".pem")
        if parts[0] == DOCUMENTS:
            return len(parts) == 2 and len(parts[1]) == 64
        return parts[0] == OBJECTS and len(parts) == 3 and not parts[2].startswith(".") and parts[2].endswith(".zst")

    def place(self, name: str) -> Place:
        """Return where a file is, to be shown."""
        return Place(source=str(self.folder / name))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold others back from writing; raises `OutstepError` when they do not finish."""
        try:
            from filelock import FileLock, Timeout
        except ImportError:
            raise problem(
                "evidence/extra-missing",
                "writing to a store needs the library filelock, which is not installed",
                help="pip install 'outstep[evidence]'",
            ) from None
        path = self.folder / LOCK
        if path.is_symlink():
            raise problem(
                "evidence/foreign-file",
                f"`{LOCK}` is a link, and a store has none",
                place=Place(source=str(path)),
                help="take it out: locking it would write where it leads",
            )
        lock = FileLock(str(path), timeout=_PATIENCE)
        try:
            lock.acquire()
        except Timeout:
            raise problem(
                "evidence/locked",
                f"another process has written to `{self.folder}` for more than {_PATIENCE} seconds",
                place=Place(source=str(path)),
                help="wait for it, or end it; no file needs to be deleted",
            ) from None
        try:
            yield
        finally:
            lock.release()


_SMALL = 1 << 20
"""Bytes; keys and what a store says of itself are smaller."""


def check_empty(folder: Path) -> None:
    """Raise `OutstepError` unless a folder is empty, or not there yet."""
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise problem(
            "evidence/not-empty",
            f"`{folder}` is not empty",
            place=Place(source=str(folder)),
            help="name a folder that is empty or not there yet",
        )

"""Where bytes are kept by their digest: an interface, and a folder that keeps it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from outstep.evidence.entries import Digest

if TYPE_CHECKING:
    import zstandard

LARGEST = 1 << 32
"""Bytes; an object that says that it is larger when unpacked is taken for damage."""
_LEVEL = 3
_MANY = 16
"""Files that are not worth a call of their own."""
_PIECE = 1 << 20
_SEAL = b"\x50\x2a\x4d\x18" + (32).to_bytes(4, "little")
"""Opens a skippable frame of 32 bytes (RFC 8878, 3.1.2), which `zstd -d` passes over: the sha256 of the frame before.

Some bits of a frame mean nothing, and a change of them would go unseen.
"""


class Damaged(Exception):
    """An object is not there, or its bytes are others than its name says; the message says which."""


class Objects(Protocol):
    """Bytes by the sha256 of what they are when unpacked."""

    readers: int
    """How many may be read side by side to good use."""

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        ...

    def flush(self) -> None:
        """Return when all that was put is safe."""
        ...

    def get(self, digest: Digest, most: int = LARGEST) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`, also for more than `most` bytes."""
        ...

    def check(self, digest: Digest) -> None:
        """Hold some bytes against their digest, with no more than a piece of them in memory; raises `Damaged`."""
        ...

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        ...

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        ...

    def removal(self, digests: Sequence[Digest]) -> Callable[[], None]:
        """Return what lets objects go as they are there now; what is added again before it is called stays."""
        ...

    def file(self, digest: Digest) -> str:
        """Return the name of the file that holds an object, from the store's own folder on."""
        ...


class FolderObjects:
    """Objects as files `ab/cdef….zst`, each written whole or not at all."""

    readers = 1

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: list[tuple[str, str]] = []
        """Files that wait for `flush`, each with its last name."""
        self._pending: dict[Digest, str] = {}
        self._made: set[str] = set()
        """Folders that are there."""

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        digest = sha256(data).hexdigest()
        # Names are put together here and not by pathlib, which costs more than to write the file.
        folder, name = f"{self._folder}/{digest[:2]}", f"{digest[2:]}.zst"
        path = f"{folder}/{name}"
        if digest in self._pending or os.path.exists(path):
            return digest
        if folder not in self._made:
            os.makedirs(folder, exist_ok=True)
            self._made.add(folder)
        # Unfinished files of a writer that was killed stay behind; nothing ever reads them.
        beside = f"{folder}/.{name}.{os.getpid()}.part"
        with open(beside, "wb", buffering=0) as file:
            _write_all(file, packed(data))
        self._written.append((beside, path))
        self._pending[digest] = beside
        return digest

    def flush(self) -> None:
        """Return when all that was put is on the disk, under its name."""
        sync_files([beside for beside, _ in self._written])
        folders = {}
        for beside, path in self._written:
            os.replace(beside, path)
            folders[os.path.dirname(path)] = True
        self._written = []
        self._pending = {}
        if folders:
            sync_files([*folders, str(self._folder)], are_folders=True)

    def get(self, digest: Digest, most: int = LARGEST) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`, also for more than `most` bytes."""
        return b"".join(unpacked(self._packed(digest), digest, most))

    def check(self, digest: Digest) -> None:
        """Hold some bytes against their digest, with no more than a piece of them in memory; raises `Damaged`."""
        for _ in unpacked(self._packed(digest), digest, LARGEST):
            pass

    def _packed(self, digest: Digest) -> bytes:
        try:
            return read_plain(Path(self._pending.get(digest) or self._path(digest)))
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        return digest in self._pending or self._path(digest).exists()

    def file(self, digest: Digest) -> str:
        """Return the name of the file that holds an object, from the store's own folder on."""
        return f"{self._folder.name}/{digest[:2]}/{digest[2:]}.zst"

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        for folder in sorted(self._folder.glob("??")):
            for path in sorted(folder.glob("*.zst")):
                if not path.name.startswith("."):
                    yield folder.name + path.name.removesuffix(".zst")

    def removal(self, digests: Sequence[Digest]) -> Callable[[], None]:
        """Return what lets objects go."""
        return partial(_remove, [self._path(digest) for digest in digests])

    def _path(self, digest: Digest) -> Path:
        return self._folder / digest[:2] / f"{digest[2:]}.zst"


class PlainObjects:
    """Objects as plain files `documents/<sha256>`: an export, which anyone can read with common tools."""

    readers = 1

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        digest = sha256(data).hexdigest()
        self._folder.mkdir(exist_ok=True)
        (self._folder / digest).write_bytes(data)
        return digest

    def flush(self) -> None:
        """Return when the names of what was put are on the disk."""
        for path in self._folder.iterdir():
            sync_file(path)
        sync_folder(self._folder)

    def get(self, digest: Digest, most: int = LARGEST) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`, also for more than `most` bytes."""
        try:
            data = read_plain(self._folder / digest, most)
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None
        if sha256(data).hexdigest() != digest:
            raise Damaged("its bytes have another sha256")
        return data

    def check(self, digest: Digest) -> None:
        """Hold some bytes against their digest, with no more than a piece of them in memory; raises `Damaged`."""
        found = sha256()
        try:
            with open_plain(self._folder / digest) as file:
                while piece := file.read(_PIECE):
                    found.update(piece)
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None
        if found.hexdigest() != digest:
            raise Damaged("its bytes have another sha256")

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        return (self._folder / digest).exists()

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        return iter(sorted(path.name for path in self._folder.iterdir()) if self._folder.exists() else ())

    def removal(self, digests: Sequence[Digest]) -> Callable[[], None]:
        """Return what lets objects go."""
        return partial(_remove, [self._folder / digest for digest in digests])

    def file(self, digest: Digest) -> str:
        """Return the name of the file that holds an object, from the store's own folder on."""
        return f"{self._folder.name}/{digest}"


def _remove(paths: Sequence[Path]) -> None:
    for path in paths:
        with suppress(FileNotFoundError):
            path.unlink()
            sync_folder(path.parent)


_compressors: list[zstandard.ZstdCompressor] = []
"""One is enough, and to make one costs more than to pack a session."""


def _write_all(file: FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def packed(data: bytes) -> bytes:
    """Return bytes as they lie in a store: a zstd frame, then its own sha256 in a skippable one."""
    import zstandard

    if not _compressors:
        _compressors.append(zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True))
    frame = _compressors[0].compress(data)
    return frame + _SEAL + sha256(frame).digest()


def unpacked(packed: bytes, digest: Digest, most: int) -> Iterator[bytes]:
    """Yield the pieces of an object, the last of them once the digest was found right; raises `Damaged`."""
    import zstandard

    frame, seal = packed[:-40], packed[-40:]
    if seal != _SEAL + sha256(frame).digest():
        raise Damaged("its bytes were changed or cut off")
    found, size = sha256(), 0
    try:
        told = zstandard.frame_content_size(frame)
        if told < 0:
            raise Damaged("it does not say how large it is")
        if told > min(most, LARGEST):
            raise Damaged(f"it says that it has {told} bytes, and may have {min(most, LARGEST)}")
        if _frame_end(frame) != len(frame):
            raise Damaged("there are bytes behind it, or it is cut off")
        # A few bytes of a frame can stand for gigabytes: what comes out is asked for piece by piece.
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(frame) as reader:
            while piece := reader.read(_PIECE):
                found.update(piece)
                size += len(piece)
                yield piece
    except zstandard.ZstdError as error:
        raise Damaged(f"it cannot be unpacked: {error}") from None
    if size != told or found.hexdigest() != digest:
        raise Damaged("its bytes have another sha256")


def _frame_end(frame: bytes) -> int:
    """Return where a zstd frame ends, by the heads of its blocks (RFC 8878, 3.1.1)."""
    import zstandard

    at = zstandard.frame_header_size(frame)
    is_last = False
    while not is_last and at < len(frame):
        head = int.from_bytes(frame[at : at + 3], "little")
        is_last, is_repeated = bool(head & 1), head >> 1 & 3 == 1
        at += 3 + (1 if is_repeated else head >> 3)
    return at + 4 * zstandard.get_frame_parameters(frame).has_checksum


_WINDOW = 1 << 27
"""Bytes that unpacking may keep in memory; frames of ours need 4 MB at most."""


def read_plain(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a file; raises `OSError` for what is no plain file, or has more than `most` bytes."""
    with open_plain(path) as file:
        if most is None:
            return file.read()
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"It has more than {most} bytes")
    return data


def open_plain(path: Path) -> BinaryIO:
    """Open a file to read; raises `OSError` for links, pipes and devices, which a store has none of."""
    number = os.open(path, os.O_RDONLY | _CAREFULLY)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("It is no plain file")
    return os.fdopen(number, "rb")


_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A pipe would let a reader wait for ever."""


def sync_files(paths: Sequence[str], *, are_folders: bool = False) -> None:
    """Return when files, or the names in folders, are on the disk; many of them are written down together."""
    if len(paths) >= _MANY and _sync_disk_of(paths[0]):
        return
    sync = sync_folder if are_folders else sync_file
    for path in paths:
        sync(Path(path))


def _sync_disk_of(path: str) -> bool:
    """Return whether all of the file system of a file was written down, in one go; Linux can do that, and tells errors.

    Five hundred files one by one make it write its journal five hundred times.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    number = os.open(path, os.O_RDONLY)
    try:
        return bool(ctypes.CDLL(None, use_errno=True).syncfs(number) == 0)
    except AttributeError:  # a C library without it
        return False
    finally:
        os.close(number)


def sync_file(path: Path) -> None:
    """Return when the bytes of a file are on the disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(path: Path) -> None:
    """Return when the names in a folder are on the disk; Windows has no such call."""
    if os.name != "nt":
        sync_file(path)

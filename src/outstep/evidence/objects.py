"""Where bytes are kept by their digest: an interface, and a folder that keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from outstep.evidence.entries import Digest

LARGEST = 1 << 32
"""Bytes; an object that says that it is larger when unpacked is taken for damage."""
_LEVEL = 3
_SEAL = b"\x50\x2a\x4d\x18" + (32).to_bytes(4, "little")
"""Opens a skippable frame of 32 bytes (RFC 8878, 3.1.2), which `zstd -d` passes over: the sha256 of the frame before.

Some bits of a frame mean nothing, and a change of them would go unseen.
"""


class Damaged(Exception):
    """An object is not there, or its bytes are others than its name says; the message says which."""


class Objects(Protocol):
    """Bytes by the sha256 of what they are when unpacked."""

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        ...

    def flush(self) -> None:
        """Return when all that was put is safe."""
        ...

    def get(self, digest: Digest) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`."""
        ...

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        ...

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        ...

    def remove(self, digest: Digest) -> None:
        """Let an object go."""
        ...


class FolderObjects:
    """Objects as files `ab/cdef….zst`, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: list[tuple[Path, Path]] = []
        """Files that wait for `flush`, each with its last name."""
        self._pending: dict[Digest, Path] = {}

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        import zstandard

        digest = sha256(data).hexdigest()
        path = self._path(digest)
        if digest in self._pending or path.exists():
            return digest
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unfinished files of a writer that was killed stay behind; nothing ever reads them.
        beside = path.parent / f".{path.name}.{os.getpid()}.part"
        frame = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(data)
        beside.write_bytes(frame + _SEAL + sha256(frame).digest())
        self._written.append((beside, path))
        self._pending[digest] = beside
        return digest

    def flush(self) -> None:
        """Return when all that was put is on the disk, under its name."""
        for beside, _ in self._written:
            sync_file(beside)
        folders = {}
        for beside, path in self._written:
            os.replace(beside, path)
            folders[path.parent] = True
        self._written = []
        self._pending = {}
        for folder in folders:
            sync_folder(folder)
        if folders:
            sync_folder(self._folder)

    def get(self, digest: Digest) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`."""
        path = self._pending.get(digest) or self._path(digest)
        try:
            packed = path.read_bytes()
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None
        data = _unpacked(packed)
        if sha256(data).hexdigest() != digest:
            raise Damaged("its bytes have another sha256")
        return data

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        return digest in self._pending or self._path(digest).exists()

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        for folder in sorted(self._folder.glob("??")):
            for path in sorted(folder.glob("*.zst")):
                if not path.name.startswith("."):
                    yield folder.name + path.name.removesuffix(".zst")

    def remove(self, digest: Digest) -> None:
        """Let an object go."""
        with suppress(FileNotFoundError):
            self._path(digest).unlink()
            sync_folder(self._path(digest).parent)

    def _path(self, digest: Digest) -> Path:
        return self._folder / digest[:2] / f"{digest[2:]}.zst"


class PlainObjects:
    """Objects as plain files `documents/<sha256>`: an export, which anyone can read with common tools."""

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

    def get(self, digest: Digest) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`."""
        try:
            data = (self._folder / digest).read_bytes()
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None
        if sha256(data).hexdigest() != digest:
            raise Damaged("its bytes have another sha256")
        return data

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        return (self._folder / digest).exists()

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        return iter(sorted(path.name for path in self._folder.iterdir()) if self._folder.exists() else ())

    def remove(self, digest: Digest) -> None:
        """Let an object go."""
        with suppress(FileNotFoundError):
            (self._folder / digest).unlink()


def _unpacked(packed: bytes) -> bytes:
    import zstandard

    frame, seal = packed[:-40], packed[-40:]
    if seal != _SEAL + sha256(frame).digest():
        raise Damaged("its bytes were changed or cut off")
    try:
        if not 0 <= zstandard.frame_content_size(frame) <= LARGEST:
            raise Damaged("it does not say how large it is")
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        data = unpacker.decompress(frame)
    except zstandard.ZstdError as error:
        raise Damaged(f"it cannot be unpacked: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise Damaged("there are bytes behind it" if unpacker.eof else "it is cut off")
    return bytes(data)


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

"""Plain traces that were packed with gzip or zstd: told by content, unpacked piece by piece, never without bound."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from outstep.adapters.base import Document
from outstep.adapters.records import CHUNK, TooLarge

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
FREE = 1 << 26
"""Bytes that any file may unpack to."""
RATIO = 200
"""Beyond `FREE`, how many bytes one packed byte may become; traces stay far below."""
ZSTD_PIECE = 1 << 11
"""Packed bytes handed over at once: one block of 128 KiB may be packed in four bytes."""

_Pieces = Callable[[BinaryIO], Iterator[bytes]]


def unpacked(document: Document, head: bytes) -> Document | None:
    """Return the document as plain bytes, or none if it is not packed."""
    if head.startswith(GZIP):
        return Packed(document, _gzip)
    if head.startswith(ZSTD):
        return Packed(document, _zstd)
    return None


class Packed(Document):
    """A packed document whose bytes read as plain ones."""

    def __init__(self, document: Document, pieces: _Pieces) -> None:
        super().__init__(document.uri, document.path)
        self.stored = document
        """The document as it lies on the disk."""
        self._pieces = pieces

    def open(self) -> BinaryIO:
        """Open the plain bytes for reading from the start; raises `OSError`, `TooLarge` while reading."""
        return cast(BinaryIO, io.BufferedReader(_Plain(self.stored.open(), self._pieces), CHUNK))

    def read(self) -> bytes:
        """Return all plain bytes; raises `OSError`."""
        with self.open() as file:
            return file.read()


class _Plain(io.RawIOBase):
    """Hands out unpacked pieces as a file, and stops where they grow beyond reason."""

    def __init__(self, file: BinaryIO, pieces: _Pieces) -> None:
        self._file = file
        self._pieces = pieces(file)
        self._left = memoryview(b"")
        self._handed = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._handed += len(piece)
            packed = self._file.tell()
            if self._handed > FREE and self._handed > RATIO * packed:
                raise TooLarge(f"its first {packed} bytes unpack to more than {self._handed >> 20} MiB")
            self._left = memoryview(piece)
        with memoryview(buffer) as room:
            count = min(len(room), len(self._left))
            room[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    import gzip
    import zlib

    plain = gzip.GzipFile(fileobj=file)
    while True:
        try:
            piece = plain.read(CHUNK)
        except EOFError:
            raise OSError("its gzip data is cut off") from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise OSError(f"its gzip data is damaged ({error})") from None
        if not piece:
            return
        yield piece


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    import zstandard

    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = decompressor.decompressobj()
    begun = False
    while data := file.read(ZSTD_PIECE):
        while data:
            try:
                piece = frame.decompress(data)
            except zstandard.ZstdError as error:
                raise OSError(f"its zstd data is damaged ({error})") from None
            begun = not frame.eof
            data = frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = decompressor.decompressobj()
            if piece:
                yield piece
    if begun:
        raise OSError("its zstd data is cut off")

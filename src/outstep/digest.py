"""sha256 of bytes, without OpenSSL for small ones: importing `hashlib` takes longer than digesting a short trace."""

from __future__ import annotations

from typing import Any, Protocol

try:
    from _sha2 import sha256 as _built_in  # CPython from 3.12 on
except ImportError:
    try:
        from _sha256 import sha256 as _built_in  # CPython 3.11
    except ImportError:
        from hashlib import sha256 as _built_in

MUCH = 1 << 20
"""Bytes from which on OpenSSL, three times as fast, is worth its import."""


class Digest(Protocol):
    """A digest that grows."""

    def update(self, data: Any, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """Return the digest."""

    def hexdigest(self) -> str:
        """Return the digest in hexadecimal digits."""


def sha256(data: bytes = b"", *, more: bool = False) -> Digest:
    """Return the digest of some bytes; `more` says that many others will be added."""
    if more or len(data) >= MUCH:
        from hashlib import sha256 as fast

        return fast(data)
    digest: Digest = _built_in(data)
    return digest

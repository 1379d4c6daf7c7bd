"""gzip, packed anew without a time; what was cut off stays cut off."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

FREE = 1 << 26
RATIO = 200


def redact_gzip(data: bytes, redact: Callable[[bytes], bytes]) -> bytes:
    """Return packed text redacted; raises `ValueError`."""
    text, is_whole = _unpacked(data)
    new = redact(text)
    if new == text and is_whole:
        return data
    packed = gzip.compress(new, mtime=0)
    return packed if is_whole else packed[:-8]


def _unpacked(data: bytes) -> tuple[bytes, bool]:
    parts: list[bytes] = []
    limit = max(FREE, RATIO * len(data))
    total = 0
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, limit - total + 1)
        except zlib.error as error:
            raise ValueError(f"its gzip data is damaged ({error})") from None
        parts.append(part)
        total += len(part)
        if total > limit:
            raise ValueError(f"it unpacks to more than {limit} bytes")
        if not member.eof:
            return b"".join(parts), False
        data = member.unused_data.lstrip(b"\0")
    return b"".join(parts), True

"""Frames of zstd, as session logs are written: one frame a batch. Frames without a hidden value keep their bytes."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

MAGIC = b"\x28\xb5\x2f\xfd"
DAMAGED = MAGIC + b"\xff" * 12
"""No decompressor reads it; it stands where a damaged frame stood, whose bytes may hold plain text."""
LARGEST = 1 << 31
RATIO = 500
FREE = 1 << 26
_FEED = 1 << 14
_LEVEL = 3


class _Frame(Struct):
    data: bytes
    text: bytes
    is_whole: bool = True
    is_damaged: bool = False


def redact_frames(data: bytes, redact: Callable[[bytes], bytes]) -> bytes:
    """Return frames with redacted text; raises `ValueError`."""
    frames = _frames(data)
    parts: list[bytes] = []
    run: list[_Frame] = []
    for frame in frames:
        if frame.is_damaged:
            parts += _redacted(run, redact)
            parts.append(DAMAGED)
            run = []
        else:
            run.append(frame)
    return b"".join([*parts, *_redacted(run, redact)])


def _frames(data: bytes) -> list[_Frame]:
    from zstandard import ZstdDecompressor, ZstdError

    decompressor = ZstdDecompressor(max_window_size=1 << 27)
    found: list[_Frame] = []
    place = total = 0
    limit = min(LARGEST, max(FREE, RATIO * len(data)))
    while place < len(data):
        start = place
        frame = decompressor.decompressobj()
        text: list[bytes] = []
        try:
            while not frame.eof and place < len(data):
                piece = data[place : place + _FEED]
                text.append(frame.decompress(piece))
                place += len(piece) - len(frame.unused_data)
                total += len(text[-1])
                if total > limit:
                    raise ValueError(f"it unpacks to more than {limit} bytes")
        except ZstdError:
            found.append(_Frame(b"", b"", is_damaged=True))
            place = data.find(MAGIC, start + 1)
            if place < 0:
                break
            continue
        found.append(_Frame(data[start:place], b"".join(text), frame.eof))
    return found


def _redacted(run: list[_Frame], redact: Callable[[bytes], bytes]) -> list[bytes]:
    """Return the frames of a run without damage; a record may begin in one frame and end in the next."""
    text = b"".join(frame.text for frame in run)
    new = redact(text)
    if new == text:
        # A torn frame may hold more than can be unpacked; only what is readable stays.
        return [frame.data if frame.is_whole else _torn(frame.text) for frame in run]
    old_lines, new_lines = text.split(b"\n"), new.split(b"\n")
    if len(old_lines) != len(new_lines) or any(frame.text and not frame.text.endswith(b"\n") for frame in run[:-1]):
        return [_packed(new, is_whole=all(frame.is_whole for frame in run))]
    parts, line = [], 0
    for index, frame in enumerate(run):
        count = frame.text.count(b"\n")
        some = b"".join(one + b"\n" for one in new_lines[line : line + count])
        if index == len(run) - 1:
            some += new_lines[-1]
        line += count
        parts.append(frame.data if some == frame.text and frame.is_whole else _packed(some, is_whole=frame.is_whole))
    return parts


def _packed(text: bytes, *, is_whole: bool) -> bytes:
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=_LEVEL, write_checksum=True).compress(text) if is_whole else _torn(text)


def _torn(text: bytes) -> bytes:
    """Return a frame that gives this text and then breaks off."""
    from zstandard import COMPRESSOBJ_FLUSH_BLOCK, ZstdCompressor

    frame = ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
    return frame.compress(text) + frame.flush(COMPRESSOBJ_FLUSH_BLOCK)

"""`dsh`: reading session logs of DeepSeek Harness, in decompressed megabytes a second; torn frames are detected."""

from __future__ import annotations

import time
from statistics import median

import zstandard

from benchmarks.dsh_read import RECORDINGS, ROUNDS, SESSIONS, log_of, seconds
from benchmarks.table import Line
from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.dsh import ADAPTER
from outstep.events import RunEnd

SIZE = 40e6
MEGABYTES = 120


def lines() -> list[Line]:
    made = logs()
    spent: dict[str, list[float]] = {name: [] for name in made}
    unpacked: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(ROUNDS):
        for name, (packed, _size) in made.items():
            spent[name].append(seconds(packed))
            unpacked[name].append(_unpacking(packed))
    return [
        _line(name, packed, size, median(spent[name]), median(unpacked[name])) for name, (packed, size) in made.items()
    ]


def logs() -> dict[str, tuple[bytes, int]]:
    """Return a compressed log of each format with the size of its text."""
    return {
        name: log_of(next((RECORDINGS / folder / "sessions").rglob("session*.jsonl*")), SIZE)
        for name, folder in SESSIONS.items()
    }


def _line(name: str, packed: bytes, size: int, spent: float, unpacked: float) -> Line:
    flaw = "" if _tells_torn(packed) else "a log cut inside its last frame reads as if it were whole"
    rate = size / 1e6 / spent
    measured, baseline = f"{spent:.2f} s for {size / 1e6:.0f} MB", f"zstd alone {size / 1e6 / unpacked:.0f} MB/s"
    return Line(name, measured, baseline, rate, "MB/s", target=MEGABYTES, failure=flaw)


def _unpacking(packed: bytes) -> float:
    begun = time.process_time()
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as text:
        while text.read(1 << 18):
            pass
    return time.process_time() - begun


def _tells_torn(packed: bytes) -> bool:
    """Return whether a log without its last bytes ends as cut off."""
    document = Document("session.jsonl.zstd", data=packed[:-9])
    last = None
    for batch in ADAPTER.stream([document], Options(), ReadLog()):
        last = batch[-1]
    return isinstance(last, RunEnd) and last.end == "cut_off"

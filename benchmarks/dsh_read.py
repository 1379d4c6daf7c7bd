"""Reading session logs of DeepSeek Harness: decompressed megabytes a second of CPU, one core.

    python benchmarks/dsh_read.py [--size MB] [--floor MB/s]

A recorded session is repeated, turns and sequence numbers carried on, and written in frames of four records, as the
harness does. With `--floor`, a slower format makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.dsh import ADAPTER
from outstep.adapters.dsh.text import TextLog

RECORDINGS = Path(__file__).parents[1] / "tests" / "adapters" / "dsh" / "recordings"
SESSIONS = {
    "format 0": "npm-0.1.0-rc.6/a_refund_ok",
    "format 0, a row a chunk": "pypi-0.1.2rc1/q_plain_jsonl",
    "format 3": "pypi-0.1.5rc1/a_refund_ok",
    "format 4": "pypi-0.2.1rc2/a_refund_ok",
}
PER_FRAME = 4
ROUNDS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=float, default=40, help="megabytes of text for each format")
    parser.add_argument("--floor", type=float, default=0, help="megabytes a second that every format must reach")
    arguments = parser.parse_args()
    slow = False
    for name, folder in SESSIONS.items():
        path = next((RECORDINGS / folder / "sessions").rglob("session*.jsonl*"))
        packed, size = log_of(path, arguments.size * 1e6)
        speed = size / 1e6 / min(seconds(packed) for _ in range(ROUNDS))
        slow = slow or speed < arguments.floor
        print(f"{name:<24} {speed:6.0f} MB/s")
    return int(slow)


def seconds(packed: bytes) -> float:
    log = ReadLog()
    start = time.process_time()
    traces = list(ADAPTER.stream([Document("session.jsonl.zstd", data=packed)], Options(), log))
    spent = time.process_time() - start
    assert len(traces) == 1
    assert log.faults == []
    return spent


def log_of(path: Path, size: float) -> tuple[bytes, int]:
    """Return a compressed log of about `size` bytes of text, and its exact size."""
    text = b"".join(piece for piece in TextLog(Document(path.name, path)).pieces() if isinstance(piece, bytes))
    head, *lines = text.splitlines(keepends=True)
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    frames, written, batch = [compressor.compress(head)], len(head), b""
    for number, line in enumerate(repeated([json.loads(line) for line in lines]), 1):
        batch += line
        if number % PER_FRAME == 0:
            frames.append(compressor.compress(batch))
            written += len(batch)
            batch = b""
            if written >= size:
                break
    return b"".join(frames), written


def repeated(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    """Yield the rows again and again, as one session that goes on."""
    count = rows[-1]["seq"] + 1
    turns = max(row["data"].get("turn") or 0 for row in rows)
    first = turn = 0
    while True:
        for row in rows:
            yield json.dumps(moved(row, first, turn), separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        first += count
        turn += turns


def moved(row: dict[str, Any], first: int, turn: int) -> dict[str, Any]:
    changed = dict(row)
    for key in ("seq", "seq0"):
        if key in row:
            changed[key] = row[key] + first
    if "sourceEventSeqs" in row:
        changed["sourceEventSeqs"] = [
            seq + first if isinstance(seq, int) else [part + first for part in seq] for seq in row["sourceEventSeqs"]
        ]
    if row["data"].get("turn"):
        changed["data"] = {**row["data"], "turn": row["data"]["turn"] + turn}
    return changed


if __name__ == "__main__":
    sys.exit(main())

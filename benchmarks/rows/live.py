"""`live`: a thousand runs, 64 at a time, against a scripted server that takes its time; and their memory."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import OUTSTEP, PYTHON, ROOT, NotMeasured
from benchmarks.table import Line

AT_ONCE = 64
SECONDS = 0.4
"""What the server takes for a response."""
FEW, MANY = 14, 56
"""Epochs of the 18 scenarios of `refund_v1`: 252 and 1,008 runs of two requests each."""
SCENARIOS, REQUESTS = 18, 2


class Series(NamedTuple):
    """One series of runs."""

    runs: int
    seconds: float
    peak: int
    """Bytes of memory that were ever resident."""
    flaw: str

    @property
    def least(self) -> float:
        """Seconds that the server alone takes, all its places busy."""
        return self.runs * REQUESTS * SECONDS / AT_ONCE


def lines() -> list[Line]:
    with subprocess.Popen(
        [PYTHON, str(ROOT / "benchmarks" / "scripted_server.py"), str(SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        url = server.stdout.readline().strip() if server.stdout else ""
        if not url:
            raise NotMeasured("the scripted server did not start")
        few, many = _series(url, FEW), _series(url, MANY)
        server.communicate()
    per_second = many.runs / many.seconds
    return [
        Line(
            f"{many.runs} runs, {AT_ONCE} at a time",
            f"{many.seconds:.1f} s, {per_second:.0f} runs/s",
            f"server alone {many.least:.1f} s",
            many.seconds / many.least,
            bound="at most",
            target=1.25,
            failure=many.flaw,
        ),
        Line(
            "peak memory",
            f"{many.peak >> 20} MB",
            f"{few.runs} runs {few.peak >> 20} MB",
            many.peak / few.peak if few.peak else None,
            bound="at most",
            target=1.25,
            failure=few.flaw,
        ),
    ]


def _series(url: str, epochs: int) -> Series:
    with tempfile.TemporaryDirectory(prefix="outstep-bench-") as folder:
        words = [OUTSTEP, "run", "--battery", "refund_v1", "--model", "openai:scripted", "--base-url", url]
        words += ["--epochs", str(epochs), "--concurrency", str(AT_ONCE), "--out", f"{folder}/runs"]
        begun = time.monotonic()
        peak = 0
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                peak = max(peak, _peak(process.pid))
                time.sleep(0.1)
        seconds = time.monotonic() - begun
        made = len(list(Path(folder, "runs", "runs").glob("*/*/run.json")))
    runs = epochs * SCENARIOS
    return Series(runs, seconds, peak, "" if made == runs else f"{made} of {runs} runs were made")


def _peak(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", status)
    return int(found[1]) * 1024 if found else 0

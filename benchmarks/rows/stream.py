"""`stream`: how long a live monitor takes for one event, decoding included; one long trace, and many open at once."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from benchmarks.data import HERE, NINE_RULES, data_set
from benchmarks.measure import PYTHON, Command, Measured, interleaved
from benchmarks.table import Line

RUNS = 3
OPEN = 1000
P99 = 10
"""Microseconds."""


def lines() -> list[Line]:
    found = interleaved(
        {
            "one trace": _feeding(data_set("LONG10k").canonical, 1),
            f"{OPEN:,} traces in turn": _feeding(data_set("M").canonical, OPEN),
        },
        RUNS,
    )
    return [line for name, one in found.items() for line in _lines(name, one)]


def _feeding(file: Path, traces: int) -> Command:
    return Command([PYTHON, str(HERE / "stream_events.py"), str(NINE_RULES), str(file), str(traces)])


def _lines(name: str, found: Measured) -> list[Line]:
    said = [json.loads(sample.stdout) for sample in found.samples]
    flaw = "" if all(one["as in batch"] and one["violated"] for one in said) else "not the violations found in batch"
    events = f"{said[0]['events']:,} events"
    return [
        Line(
            f"{name}, {share}",
            events,
            "",
            median(one[share] for one in said) / 1e3,
            "µs",
            "at most",
            P99 if share == "p99" else None,
            flaw,
        )
        for share in ("p50", "p99", "p99.9")
    ]

"""`payload`: events of 20 KB, of which the rules read a few bytes: how fast the rest is passed over."""

from __future__ import annotations

import json

from benchmarks.data import YARDSTICK, data_set
from benchmarks.measure import PYTHON, Command, interleaved
from benchmarks.rows.batch import judging
from benchmarks.table import Line

RUNS = 3
GIGABYTES = 0.8


def lines() -> list[Line]:
    data = data_set("P20k")
    size = data.canonical.stat().st_size / 1e9
    commands = {
        "outstep": judging(data),
        "ev_py.py": Command([PYTHON, str(YARDSTICK / "ev_py.py"), str(data.raw)]),
    }
    found = interleaved(commands, RUNS)
    ours, floor = found["outstep"].seconds, found["ev_py.py"].seconds
    flaw = data.flaw(json.loads(found["outstep"].stdout)["violated"])
    measured, baseline = f"{ours:.2f} s for {size:.2f} GB", f"ev_py.py {floor:.2f} s"
    return [
        Line("nine rules, native adapter", measured, "", size / ours, "GB/s", target=GIGABYTES, failure=flaw),
        Line("the same", measured, baseline, floor / ours, failure=flaw),
    ]

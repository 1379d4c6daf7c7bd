"""`growth`: one trace of ten thousand, a hundred thousand, a million events: time and memory by its length."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log10
from statistics import median
from typing import Any

from benchmarks.data import CACHE, HERE, JUDGE, DataSet, data_set
from benchmarks.measure import PYTHON, Command, Measured, interleaved
from benchmarks.rows.batch import judging
from benchmarks.table import Line

RUNS = 3
EXPONENT, BYTES = 1.05, 100
SIZES = ("LONG10k", "LONG100k", "LONG1M")


def lines() -> list[Line]:
    sets = [data_set(name) for name in SIZES]
    commands = {data.name: judging(data) for data in sets}
    commands |= {f"{data.name}, no facts": _without_facts(data) for data in sets[1:]}
    found = interleaved(commands, RUNS)
    said = {name: [json.loads(sample.stdout) for sample in one.samples] for name, one in found.items()}
    return [
        *(_growth(*pair, said) for pair in pairwise(sets)),
        _peak(sets[-1], found),
        _memory(sets, "nine rules, facts by key", "", None, said, found),
        _memory(sets, "no facts", ", no facts", BYTES, said, found),
    ]


def _without_facts(data: DataSet) -> Command:
    return Command([PYTHON, str(JUDGE), str(HERE / "no_facts.yaml"), str(data.canonical), str(CACHE)])


def _growth(small: DataSet, large: DataSet, said: dict[str, list[dict[str, Any]]]) -> Line:
    """Compare the time of judging alone, since start-up would hide growth in the shorter trace."""
    before, after = (median(one["judging"] for one in said[data.name]) for data in (small, large))
    exponent = log10(after / before) / log10(large.events / small.events)
    flaw = small.flaw(said[small.name][-1]["violated"]) or large.flaw(said[large.name][-1]["violated"])
    what = f"exponent, {small.events:,} to {large.events:,} events"
    return Line(what, f"{after:.2f} s", f"{before:.3f} s", exponent, "", "at most", EXPONENT, flaw)


def _peak(data: DataSet, found: dict[str, Measured]) -> Line:
    size = data.canonical.stat().st_size / 1e6
    return Line(f"peak memory, {data.events:,} events", f"{found[data.name].peak / 1e6:.0f} MB", f"file {size:.0f} MB")


def _memory(
    sets: list[DataSet],
    what: str,
    ending: str,
    target: float | None,
    said: dict[str, list[dict[str, Any]]],
    found: dict[str, Measured],
) -> Line:
    """Compare the most resident memory of the two longest traces, by the calls that the longer one has more."""
    small, large = (found[f"{data.name}{ending}"].peak for data in sets[1:])
    fewer, more = (said[f"{data.name}{ending}"][-1]["calls"] for data in sets[1:])
    value = (large - small) / (more - fewer)
    measured = f"{large / 1e6:.0f} MB, {more:,} calls"
    return Line(
        f"memory a call, {what}", measured, f"{small / 1e6:.0f} MB, {fewer:,} calls", value, "B", "at most", target
    )

"""`growth`: one trace of ten thousand, a hundred thousand, a million events: time and memory by its length."""

from __future__ import annotations

import json
from itertools import pairwise
from math import log10
from statistics import median
from typing import Any

from benchmarks.data import CACHE, HERE, JUDGE, DataSet, data_set
from benchmarks.measure import PYTHON, Command, interleaved
from benchmarks.rows.batch import judging
from benchmarks.table import Line

RUNS = 3
EXPONENT, BYTES = 1.05, 100
NO_PEAK = "only on Linux"
SIZES = ("LONG10k", "LONG100k", "LONG1M")
Said = dict[str, list[dict[str, Any]]]
"""What the runs of each command said."""


def lines() -> list[Line]:
    sets = [data_set(name) for name in SIZES]
    commands = {data.name: judging(data) for data in sets}
    commands |= {f"{data.name}, no facts": _without_facts(data) for data in sets[1:]}
    found = interleaved(commands, RUNS)
    said = {name: [json.loads(sample.stdout) for sample in one.samples] for name, one in found.items()}
    return [
        *(_growth(*pair, said) for pair in pairwise(sets)),
        _peak(sets[-1], said),
        _memory(sets, "nine rules, facts by key", "", None, said),
        _memory(sets, "no facts", ", no facts", BYTES, said),
    ]


def _without_facts(data: DataSet) -> Command:
    return Command([PYTHON, str(JUDGE), str(HERE / "no_facts.yaml"), str(data.canonical), str(CACHE)])


def _growth(small: DataSet, large: DataSet, said: Said) -> Line:
    """Compare the time of judging alone, since start-up would hide growth in the shorter trace."""
    before, after = (median(one["judging"] for one in said[data.name]) for data in (small, large))
    exponent = log10(after / before) / log10(large.events / small.events)
    flaw = small.flaw(said[small.name][-1]["violated"]) or large.flaw(said[large.name][-1]["violated"])
    what = f"exponent, {small.events:,} to {large.events:,} events"
    return Line(what, _each(after, large), _each(before, small), exponent, "", "at most", EXPONENT, flaw)


def _each(seconds: float, data: DataSet) -> str:
    return f"{seconds:.2f} s, {seconds / data.events * 1e6:.1f} µs an event"


def _peak(data: DataSet, said: Said) -> Line:
    what = f"peak memory, {data.events:,} events"
    peak = _most(said[data.name])
    if peak is None:
        return Line(what, NO_PEAK)
    return Line(what, f"{peak / 1e6:.0f} MB", f"file {data.canonical.stat().st_size / 1e6:.0f} MB")


def _memory(sets: list[DataSet], what: str, ending: str, target: float | None, said: Said) -> Line:
    """Compare the peaks of the two longest traces, by the calls that the longer one has more."""
    what = f"memory a call, {what}"
    (small, fewer), (large, more) = (
        (_most(runs), runs[-1]["calls"]) for runs in (said[f"{data.name}{ending}"] for data in sets[1:])
    )
    if small is None or large is None:
        return Line(what, NO_PEAK)
    value = (large - small) / (more - fewer)
    measured, baseline = f"{large / 1e6:.0f} MB, {more:,} calls", f"{small / 1e6:.0f} MB, {fewer:,} calls"
    return Line(what, measured, baseline, value, "B", "at most", target)


def _most(runs: list[dict[str, Any]]) -> float | None:
    """Return the median of the peaks, if they are known."""
    peaks = [one["peak"] for one in runs]
    return None if None in peaks else median(peaks)

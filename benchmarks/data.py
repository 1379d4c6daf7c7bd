"""Data sets, made once with fixed seeds, in `bench-data/`."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import PYTHON, ROOT, Command, run

FOLDER = ROOT / "bench-data"
CACHE = FOLDER / "contract-cache"
HERE = ROOT / "benchmarks"
YARDSTICK = HERE / "yardstick"
NINE_RULES = HERE / "nine_rules.yaml"
JUDGE = HERE / "judge_file.py"

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "M": ("--traces", "10000", "--events", "50", "--rate", "0.1"),
    "P20k": ("--traces", "1000", "--pad", "20000", "--seed", "5"),
    "LONG10k": ("--traces", "1", "--events", "10000", "--seed", "6"),
    "LONG100k": ("--traces", "1", "--events", "100000", "--seed", "2"),
    "LONG1M": ("--traces", "1", "--events", "1000000", "--seed", "3"),
}
ORPHAN = "ORPHAN_TOOL_RESULT"
"""R6 of the yardstick is this rule of the pack `integrity`, which is always on."""


class DataSet(NamedTuple):
    """One set of traces in both forms."""

    name: str
    raw: Path
    """As the yardstick writes and reads it."""
    canonical: Path
    """The same events in the canonical form."""
    events: int
    injected: dict[str, int]
    """Violations that were put in, by rule of the yardstick."""

    def flaw(self, violated: dict[str, int]) -> str:
        """Return why the violations found are not those put in, or nothing."""
        named = {rule: violated.get(rule, 0) for rule in RULES}
        named["R6"] += violated.get(ORPHAN, 0)
        expected = {rule: self.injected.get(rule, 0) for rule in RULES}
        if named == expected:
            return ""
        differ = [f"{rule} {named[rule]}, not {expected[rule]}" for rule in RULES if named[rule] != expected[rule]]
        return f"violations found: {'; '.join(differ)}"


RULES = tuple(f"R{number}" for number in range(1, 10))


def data_set(name: str) -> DataSet:
    """Return a data set, made now if it is not there; raises `NotMeasured`."""
    FOLDER.mkdir(exist_ok=True)
    raw, canonical, notes = (FOLDER / f"{name}{ending}" for ending in (".jsonl", ".trace.jsonl", ".json"))
    wanted = list(ARGUMENTS[name])
    makers = (YARDSTICK / "gen.py", HERE / "canonical.py")
    wanted += [sha256(maker.read_bytes()).hexdigest() for maker in makers]
    known = json.loads(notes.read_text("utf-8")) if notes.exists() else {}
    if known.get("made by") != wanted:
        say(f"making data set {name}")
        said = run(Command([PYTHON, str(makers[0]), str(raw), *ARGUMENTS[name]])).stdout
        run(Command([PYTHON, str(makers[1]), str(raw), str(canonical)]))
        known = {**json.loads(said), "made by": wanted}
        notes.write_text(json.dumps(known), "utf-8")
    return DataSet(name, raw, canonical, known["events"], known["injected"])


def native_pass() -> Path | None:
    """Return the compiled C++ pass, or none where it cannot be built."""
    source, program = YARDSTICK / "ev.cpp", FOLDER / "ev"
    FOLDER.mkdir(exist_ok=True)
    if program.exists() and program.stat().st_mtime >= source.stat().st_mtime:
        return program
    words = ["g++", "-O3", "-march=native", "-std=c++17", "-o", str(program), str(source), "-lsimdjson"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except OSError:
        return None
    return program if done.returncode == 0 else None


def say(text: str) -> None:
    """Tell whoever waits what is going on."""
    print(f"bench: {text}", file=sys.stderr, flush=True)

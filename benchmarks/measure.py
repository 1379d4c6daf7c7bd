"""Whole processes measured side by side: processor time (user and system), medians of interleaved runs.

Runs go A B C A B C …, so that a busy machine slows all of them alike; wall time is not looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
OUTSTEP = str(Path(sys.executable).with_name("outstep"))


class NotMeasured(Exception):
    """A row that could not be measured; the message says why."""


class Command(NamedTuple):
    """One process to measure."""

    words: Sequence[str]
    exits: int = 0
    """The exit code that it must have: a crash is no measurement."""
    surroundings: Callable[[], Mapping[str, str]] = dict
    """Environment variables, made anew for each run."""


class Sample(NamedTuple):
    """One process that ended."""

    seconds: float
    stdout: bytes


class Measured(NamedTuple):
    """All runs of one command."""

    samples: list[Sample]

    @property
    def seconds(self) -> float:
        """The median of processor time."""
        return median(sample.seconds for sample in self.samples)

    @property
    def stdout(self) -> bytes:
        """What the last run said."""
        return self.samples[-1].stdout


def interleaved(commands: Mapping[str, Command], runs: int) -> dict[str, Measured]:
    """Return the runs of each command; raises `NotMeasured`.

    One run of each comes first and does not count: it fills caches of files and of compiled modules.
    """
    found: dict[str, list[Sample]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            try:
                sample = run(command)
            except NotMeasured as error:
                raise NotMeasured(f"{name}: {error}") from None
            if turn:
                found[name].append(sample)
    return {name: Measured(samples) for name, samples in found.items()}


def run(command: Command) -> Sample:
    """Run one process to its end; raises `NotMeasured`."""
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OUTSTEP"))}
    surroundings.update(command.surroundings())
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(command.words, env=surroundings, cwd=ROOT, stdout=out, stderr=errors)
        except OSError as error:
            raise NotMeasured(f"`{command.words[0]}` cannot be run: {error.strerror}") from None
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode != command.exits:
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise NotMeasured(f"exit code {process.returncode}, not {command.exits}: {last[0]}")
        return Sample(used.ru_utime + used.ru_stime, out.read())

"""The results folder: one folder a run, complete or not there (schema `runs/v1`).

docs: docs/live.md#results
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec

from outstep import codec
from outstep.errors import Place, problem
from outstep.workflow.live.plan import Plan

MANIFEST = "runs.json"
RUN = "run.json"
EVENTS = "events.jsonl"
WORLD = "world.jsonl"
EXCHANGES = "exchanges.ndjson"
FINDINGS = "findings.json"
TRANSCRIPT = "transcript"
"""Folder of what the agent's own harness recorded."""
OPEN = ".open"
SET_ASIDE = "interrupted"


class RunFolder:
    """A run that is being made; nothing of it counts before `keep`, and nothing that was written is ever lost."""

    def __init__(self, open_: str, final: str, place: str) -> None:
        self.path = open_
        self.place = place
        """Where it will stand, as seen from the results folder."""
        self._final = final
        os.makedirs(open_)
        self._exchanges: BinaryIO | None = None

    def log(self, entry: Mapping[str, Any]) -> None:
        """Write down what was sent or received, at once."""
        if self._exchanges is None:
            self._exchanges = open(os.path.join(self.path, EXCHANGES), "ab", buffering=0)  # noqa: SIM115
        self._exchanges.write(codec.encode(dict(entry)) + b"\n")

    def write(self, name: str, data: bytes) -> None:
        """Write a file of the run; a name may have folders."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def names(self) -> list[str]:
        """Return the names of the files that the run has so far, sorted."""
        found = (os.path.join(folder, name) for folder, _, names in os.walk(self.path) for name in names)
        return sorted(os.path.relpath(path, self.path) for path in found)

    def read(self, name: str) -> bytes:
        """Return a file of the run; one that is not there is empty."""
        try:
            with open(os.path.join(self.path, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def keep(self) -> None:
        """Let the run count, whole."""
        self.close()
        os.makedirs(os.path.dirname(self._final), exist_ok=True)
        os.rename(self.path, self._final)

    def close(self) -> None:
        """Close what is open."""
        if self._exchanges is not None:
            self._exchanges.close()
            self._exchanges = None


class ResultsFolder:
    """All runs of one plan; held by one process at a time."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock: BinaryIO | None = None

    def __enter__(self) -> ResultsFolder:
        os.makedirs(os.path.join(self.path, OPEN), exist_ok=True)
        self._lock = open(os.path.join(self.path, OPEN, "lock"), "ab")
        if not _locked(self._lock):
            self._lock.close()
            raise problem(
                "run/busy",
                f"another process writes to `{self.path}`",
                place=Place(source=self.path),
                help="wait for it, or name another folder with --out",
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._lock is not None
        self._lock.close()
        if os.listdir(os.path.join(self.path, OPEN)) == ["lock"]:
            shutil.rmtree(os.path.join(self.path, OPEN), ignore_errors=True)

    def plan(self) -> Plan | None:
        """Return the plan of the runs that are there; raises `OutstepError` where it cannot be read."""
        file = os.path.join(self.path, MANIFEST)
        try:
            with open(file, "rb") as opened:
                return msgspec.json.decode(opened.read(), type=Plan)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise problem(
                "run/no-manifest",
                f"`{file}` cannot be read as the manifest of runs: {error}",
                place=Place(source=file),
                help="name another folder with --out",
            ) from None

    def begin(self, plan: Plan) -> None:
        """Write the manifest."""
        file = os.path.join(self.path, MANIFEST)
        with open(f"{file}.new", "wb") as opened:
            opened.write(msgspec.json.format(codec.encode(plan)) + b"\n")
        os.replace(f"{file}.new", file)

    def set_aside(self) -> int:
        """Move runs that were never finished out of the way, with all that they had received; return how many."""
        found = sorted(name for name in os.listdir(os.path.join(self.path, OPEN)) if name != "lock")
        for name in found:
            self._move_aside(os.path.join(self.path, OPEN, name), name)
        return len(found)

    def repeat(self, scenario: str, epoch: int) -> None:
        """Take a run back, so that it is made again; what it was stays beside the others."""
        self._move_aside(self._final(scenario, epoch), f"{_name(scenario)}--{epoch:03}")

    def has(self, scenario: str, epoch: int) -> bool:
        """Return whether a run is there, whole."""
        return os.path.isdir(self._final(scenario, epoch))

    def open_run(self, scenario: str, epoch: int) -> RunFolder:
        """Begin a run."""
        open_ = os.path.join(self.path, OPEN, f"{_name(scenario)}--{epoch:03}")
        return RunFolder(open_, self._final(scenario, epoch), f"runs/{_name(scenario)}/{epoch:03}")

    def file(self, scenario: str, epoch: int, name: str) -> str:
        """Return the path of a file of a run."""
        return os.path.join(self._final(scenario, epoch), name)

    def _final(self, scenario: str, epoch: int) -> str:
        return os.path.join(self.path, "runs", _name(scenario), f"{epoch:03}")

    def _move_aside(self, path: str, name: str) -> None:
        folder = os.path.join(self.path, SET_ASIDE)
        os.makedirs(folder, exist_ok=True)
        number = 1
        while os.path.exists(target := os.path.join(folder, f"{name}--{number}")):
            number += 1
        os.rename(path, target)


def run_files(path: str) -> Iterator[str]:
    """Yield the records of all runs in a results folder, in order."""
    top = os.path.join(path, "runs")
    for scenario in sorted(os.listdir(top)) if os.path.isdir(top) else ():
        for epoch in sorted(os.listdir(os.path.join(top, scenario)), key=lambda name: (len(name), name)):
            file = os.path.join(top, scenario, epoch, RUN)
            if os.path.isfile(file):
                yield file


def is_results(path: str) -> bool:
    """Return whether a folder holds the results of live runs."""
    return os.path.isfile(os.path.join(path, MANIFEST))


def _name(scenario: str) -> str:
    """Return an id as the name of a folder."""
    name = quote(scenario, safe=" +,=@")[:150]
    return f"%2E{name[1:]}" if name.startswith(".") else name


def _locked(file: BinaryIO) -> bool:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

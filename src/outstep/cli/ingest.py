"""`outstep ingest PATH …`: keep sessions that are not kept yet; with `--follow`, as harnesses write them.

docs: docs/recording.md
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from outstep.adapters.base import ReadLog
from outstep.adapters.discover import documents
from outstep.cli import console
from outstep.cli.arguments import Arguments, Given
from outstep.errors import problem
from outstep.render.wording import count
from outstep.workflow.checking import CheckOptions
from outstep.workflow.following import Follower, InFolder, InStore, Keeper
from outstep.workflow.ingesting import Ingested

EVERY = 1.0
"""Seconds between two looks."""


def run(words: Sequence[str]) -> int:
    """Keep sessions and return the exit code: 2 where something could not be read, else 0."""
    made = Arguments("ingest", "keep recorded sessions that are not kept yet, and with --follow those that come")
    made.words("paths", metavar="PATH", help="folders and files; with --follow, folders")
    made.flag("--follow", help="go on until stopped (Ctrl-C, SIGTERM): sessions are kept when they end or pause")
    keeping_options(made)
    given = made.read(words)
    if not given.paths:
        raise problem("usage/no-paths", "no session was named", help="name files or folders in which sessions lie")
    keeper = keeper_of(given)
    if given.follow:
        return _follow(given, keeper)
    log = ReadLog()
    done = keeper.keep(documents(given.paths, log))
    console.say_problems((*log.faults, *done.faults))
    console.put(told(done))
    return 2 if log.faults or done.faults else 0


def keeping_options(made: Arguments) -> None:
    """Take where sessions are kept, and how."""
    from outstep.cli.evidence.sealed import redaction_options

    made.value("--store", metavar="DIR", help="the store that keeps them (else OUTSTEP_STORE)")
    made.value("--into", metavar="DIR", help="a folder that keeps them, in place of a store")
    made.value("--key", metavar="FILE", help="the private key to sign with")
    made.values("-c", "--contract", metavar="FILE|PACK", help="judge each run by it, and seal the report")
    made.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    made.switch("--unpinned", help="read format versions without a recorded fixture")
    redaction_options(made)


def keeper_of(given: Given) -> Keeper:
    """Return what keeps sessions; raises `OutstepError`."""
    from outstep.cli.evidence.common import now, opened, signing_key, today
    from outstep.cli.evidence.sealed import folder_redactor, redactor_of, say_repaired
    from outstep.workflow.sealing import pin

    if given.into:
        if given.store or given.contract:
            raise problem("usage/arguments", "`--into` keeps files, and judges nothing", help="take --store instead")
        options = CheckOptions(format=given.format, unpinned=given.unpinned or False)
        return InFolder(Path(given.into), options, folder_redactor(given))
    store = opened(given)
    key = signing_key(given, store)
    contracts = tuple(pin(name) for name in given.contract or ())
    options = CheckOptions(format=given.format, unpinned=given.unpinned or False, today=today(contracts))
    return InStore(store, key, now, contracts, options, redactor_of(given, store), say_repaired)


def told(done: Ingested) -> str:
    """Return a line on what was kept."""
    parts = [f"kept {count(done.entries, 'session')}"]
    parts += [f"{number} {gate}" for gate, number in sorted(done.gates.items())]
    if done.passed_over:
        parts.append(f"{done.passed_over} there already")
    if done.replaced:
        parts.append(f"{count(sum(done.replaced.values()), 'value')} redacted")
    return ", ".join(parts) + "\n"


class Stopping:
    """Notes that this process was asked to stop, once; what is being written is finished."""

    def __init__(self) -> None:
        self.by: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.by = number


def _follow(given: Given, keeper: Keeper) -> int:
    for path in given.paths:
        if os.path.exists(path) and not os.path.isdir(path):
            raise problem("usage/arguments", f"`{path}` is no folder", help="--follow watches folders")
    stopping = Stopping()
    follower = Follower(given.paths, keeper, time.monotonic, skips=False)
    is_faulty = False
    console.say(f"following {count(len(given.paths), 'folder')}; stop with Ctrl-C")
    while True:
        is_last = stopping.by is not None
        done = follower.step(is_last=is_last)
        if done is not None:
            is_faulty = is_faulty or bool(done.faults)
            console.say_problems(done.faults)
            console.put(told(done))
            console.flush()
        if is_last:
            return 2 if is_faulty else 0
        time.sleep(EVERY)

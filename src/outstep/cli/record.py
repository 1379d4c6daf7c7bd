"""`outstep record -- COMMAND …`: run a harness, and keep the sessions that it writes.

docs: docs/recording.md
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.ingest import EVERY, Stopping, keeper_of, keeping_options, told
from outstep.errors import Problem, problem
from outstep.render.escape import visible
from outstep.workflow.following import Follower, unrecorded
from outstep.workflow.latest import sessions_folder

DESCRIPTION = """run a harness, and keep the sessions that it writes: outstep record dsh …

exit code: that of the command; 2 where it ended well and its sessions could not be kept"""
NOT_STARTED = 127


def run(words: Sequence[str]) -> int:
    """Run the command and return the exit code."""
    made = Arguments("record", DESCRIPTION)
    made.words("command", metavar="COMMAND", help="what to run; options for it may follow")
    made.values("--watch", metavar="DIR", help="where it writes its sessions (known of dsh)")
    keeping_options(made)
    own, command = _split(words, made)
    given = made.read(own)
    if not command:
        raise problem("usage/arguments", "no command was named", help="outstep record --store DIR -- COMMAND …")
    folders = list(given.watch or ())
    if not folders:
        folder = sessions_folder(os.path.basename(command[0]), os.environ)
        if folder is None:
            raise problem(
                "usage/arguments",
                f"where `{command[0]}` keeps its sessions is not known here",
                help="name it: --watch DIR; known of: dsh",
            )
        folders = [folder]
    follower = Follower(folders, keeper_of(given), time.monotonic, skips=True)
    return _run(command, follower)


def _run(command: Sequence[str], follower: Follower) -> int:
    """Run the command beside the follower; a signal goes to the command, and its sessions are kept all the same."""
    stopping = Stopping()
    try:
        process = subprocess.Popen(command)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        sentence = f"`{command[0]}` cannot be run: {reason}"
        console.say_problems([Problem(code="record/not-started", sentence=sentence, help="check its name and PATH")])
        return NOT_STARTED
    faults = kept = 0
    is_over = False
    while not is_over:
        try:
            process.wait(EVERY)
            is_over = True
        except subprocess.TimeoutExpired:
            if stopping.by is not None:
                # A terminal sends Ctrl-C to both; a second one changes nothing.
                _pass_on(process, stopping)
        done = follower.step(is_last=is_over)
        if done is not None:
            faults += len(done.faults)
            kept += done.entries + done.passed_over
            console.say_problems(done.faults)
            console.say(told(done).rstrip("\n"))
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if not kept:
        console.say_problems([unrecorded(follower.folders)])
    console.say(f"`{visible(command[0])}` ended with exit code {code}")
    return code or (2 if faults or not kept else 0)


def _pass_on(process: subprocess.Popen[bytes], stopping: Stopping) -> None:
    if stopping.by == signal.SIGTERM:
        process.send_signal(signal.SIGTERM)
    stopping.by = None


def _split(words: Sequence[str], made: Arguments) -> tuple[list[str], list[str]]:
    """Part the options of this command from the command to run, which begins behind `--` or with the first word."""
    own: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return own, left
        if not word.startswith("-"):
            return own, [word, *left]
        own.append(word)
        if made.takes_value(word) and left:
            own.append(left.pop(0))
    return own, []

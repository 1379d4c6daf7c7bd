"""Keeps a program from outliving the run that it is for: `python keeper.py FD FOLDER PROGRAM …`.

It starts the program in a session of its own and ends with the program's exit code. When nobody holds the other end
of the pipe FD any more, it kills the program with all that it started; and it removes FOLDER, unless a byte came
through the pipe before: then whoever held it lives, and has use for what the program left. A request to end (SIGTERM)
is handed on. It needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

NOT_STARTED = 127
PATIENCE = 2.0
"""Seconds; what nobody reaps stays in its group for ever."""


def main(words: list[str]) -> int:
    """Be the keeper of one program."""
    pipe, folder, *command = words
    try:
        program = subprocess.Popen(command, start_new_session=True)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_STARTED

    def hand_on(number: int, _: FrameType | None) -> None:
        _kill(program.pid, number)

    signal.signal(signal.SIGTERM, hand_on)
    watch = _Watch(int(pipe), folder, program.pid)
    watch.start()
    code = program.wait()
    # What it started may live on, and hold what it was given open.
    _end(program.pid)
    if watch.is_alone:
        watch.join()
    return code if code >= 0 else 128 - code


class _Watch(threading.Thread):
    """Waits for the end of whoever wants the program to run."""

    def __init__(self, pipe: int, folder: str, program: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._folder = folder
        self._program = program
        self.is_alone = False
        """Whether nobody is there any more."""

    def run(self) -> None:
        """Watch."""
        told = os.read(self._pipe, 1)
        self.is_alone = not told
        _end(self._program)
        if self.is_alone:
            shutil.rmtree(self._folder, ignore_errors=True)


def _end(group: int) -> None:
    """Kill a group, and wait until none of it writes any more."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.01)


def _kill(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

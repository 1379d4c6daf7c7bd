"""A program that runs to its end or to its deadline, with all it started, and what it wrote."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

KEEPER = str(Path(__file__).with_name("keeper.py"))
MOST_OUTPUT = 1 << 25
"""Bytes of each of the two streams that are kept; more is read and counted."""
GRACE = 5.0
"""Seconds that a program has to write down what it knows, after it was told to end."""
PIECE = 1 << 16


class Ended(Struct, frozen=True, kw_only=True):
    """How a program ended."""

    code: int
    """Its exit code; 128 more than the number of the signal that ended it."""
    is_late: bool
    """Whether it was ended at its deadline."""
    out: bytes
    err: bytes
    lost: int = 0
    """Bytes of its output that were too many to be kept."""


class _Kept:
    def __init__(self) -> None:
        self.data = bytearray()
        self.lost = 0

    async def read(self, stream: asyncio.StreamReader) -> None:
        while piece := await stream.read(PIECE):
            room = MOST_OUTPUT - len(self.data)
            self.data += piece[:room]
            self.lost += max(0, len(piece) - room)


async def run_program(
    words: Sequence[str], *, folder: str, cwd: str, environment: Mapping[str, str], given: bytes, seconds: float
) -> Ended:
    """Run a program below a throw-away folder; raises `OSError` where it cannot be started.

    Whatever ends the wait, the program and all that it started end, too, also where this process is killed: then the
    keeper removes the folder as well.
    """
    if shutil.which(words[0], path=environment.get("PATH", os.defpath)) is None:
        raise FileNotFoundError(errno.ENOENT, "there is no such program", words[0])
    ours, theirs = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", KEEPER, str(ours), folder, *words),
            cwd=cwd,
            env=dict(environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(ours,),
            # Ctrl-C is for whoever makes the runs.
            start_new_session=True,
        )
    except BaseException:
        os.close(theirs)
        raise
    finally:
        os.close(ours)
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = _Kept(), _Kept()
    reading = asyncio.gather(out.read(process.stdout), err.read(process.stderr), _give(process, given))
    is_late = False
    try:
        try:
            await asyncio.wait_for(process.wait(), seconds)
        except TimeoutError:
            is_late = True
            with suppress(ProcessLookupError):
                process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
    finally:
        with suppress(BrokenPipeError):
            os.write(theirs, b"k")
        os.close(theirs)
        await process.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, GRACE)
    assert process.returncode is not None
    return Ended(
        code=process.returncode,
        is_late=is_late,
        out=bytes(out.data),
        err=bytes(err.data),
        lost=out.lost + err.lost,
    )


async def _give(process: asyncio.subprocess.Process, given: bytes) -> None:
    assert process.stdin is not None
    with suppress(ConnectionError):
        process.stdin.write(given)
        await process.stdin.drain()
    process.stdin.close()

"""An agent that is a program: it runs in a throw-away home, with the world of the run as its MCP server.

docs: docs/drivers.md#programs
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from glob import glob
from pathlib import Path

import re2

from outstep.drivers.base import Ending, Limits, Status, Task
from outstep.drivers.processes import Ended, run_program
from outstep.drivers.program import Places, Program
from outstep.drivers.providers import Provider
from outstep.drivers.serving import Door, serving
from outstep.errors import Place, problem

GIVEN = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
"""Variables that every program gets from the environment of the series; it sees no other, keys least of all."""
NO_KEY = "no-key"
"""What a program is given that wants a key where the endpoint does not."""
LARGEST_TRANSCRIPT = 1 << 28
SIGNALS = 128
"""Exit codes above it tell a signal."""
ASKING = 30.0
"""Seconds that a program has to tell its version."""
SHOWN = 300
"""Characters of what a program said at its end that are told."""
SHORTEST_KEY = 8
"""Characters; a shorter one is in too many texts to be taken for a key."""


class CommandDriver:
    """Runs one program."""

    def __init__(self, provider: Provider, base_url: str, key: str, connections: int = 64) -> None:  # noqa: ARG002
        assert provider.program is not None
        self._program = provider.program
        self._base_url = base_url
        self._key = key
        self._environment = os.environ
        self._version: asyncio.Task[str] | None = None
        self._shared = os.path.join(_cache(os.environ), "programs", os.path.basename(self._program.command[0]))
        found = shutil.which(self._program.command[0])
        if found is None and "{" not in self._program.command[0]:
            raise problem(
                "driver/no-program",
                f"there is no program `{self._program.command[0]}`",
                place=Place(source=self._program.command[0]),
                help="install it, and let PATH name its folder",
            )

    async def run(self, task: Task) -> Ending:
        """Carry out one run."""
        top = tempfile.mkdtemp(prefix="outstep-run-")
        try:
            return await self._run_in(top, task)
        except OSError as error:
            sentence = f"`{self._program.command[0]}` cannot be run: {error.strerror or error}"
            return Ending(status="crashed", reason="not-started", sentence=sentence)
        finally:
            await asyncio.to_thread(shutil.rmtree, top, ignore_errors=True)

    async def _run_in(self, top: str, task: Task) -> Ending:
        home, workspace = os.path.join(top, "home"), os.path.join(top, "workspace")
        os.makedirs(workspace)
        self._share(home)
        async with serving(task.tools, http=_names(self._program, "{mcp_url}")) as door:
            places = Places(
                goal=task.goal,
                system=task.system,
                model=task.model,
                base_url=self._base_url,
                key=self._key or NO_KEY,
                home=home,
                workspace=workspace,
                turns=str(task.limits.turns),
                seed="" if task.seed is None else str(task.seed),
                mcp_program=door.command[0],
                mcp_args=door.command[1:],
                mcp_url=door.url,
            )
            _write_files(self._program.files, home, places)
            words = places.value(self._program.command)
            began = task.clock()
            task.log({"n": 1, "time": round(began, 3), "request": {"command": self._without_key(words)}})
            ended = await run_program(
                words,
                folder=top,
                cwd=workspace,
                environment=self._given(home, places),
                given=places.text(self._program.stdin).encode(),
                seconds=task.limits.run_seconds,
            )
            task.log({"n": 1, "seconds": round(task.clock() - began, 3), "response": self._told(ended)})
        transcript = self._transcript(home)
        status, reason, sentence = self._end(ended, door, task.limits)
        if status == "completed" and self._program.transcript and not transcript:
            status, reason, sentence = "crashed", "no-transcript", "the program left no record of its session"
        return Ending(
            status=status,
            reason=reason,
            sentence=sentence,
            said=self._shown(ended.out).strip(),
            transcript=transcript,
            format=self._program.format,
            harness=await self._asked_version(home, places),
            names=door.names,
        )

    def _given(self, home: str, places: Places) -> dict[str, str]:
        given = {name: self._environment[name] for name in GIVEN if name in self._environment}
        scratch = os.path.join(home, "tmp")
        os.makedirs(scratch, exist_ok=True)
        own = {name: places.text(value) for name, value in self._program.environment.items()}
        told = {name: value for name, value in own.items() if value}
        return {**given, "HOME": home, "USERPROFILE": home, "TMPDIR": scratch, "TERM": "dumb", **told}

    def _share(self, home: str) -> None:
        """Make the home, with the folders that runs share as links out of it."""
        os.makedirs(home)
        for name in self._program.share:
            outside = os.path.join(self._shared, name)
            os.makedirs(outside, exist_ok=True)
            os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
            os.symlink(outside, os.path.join(home, name))

    def _transcript(self, home: str) -> dict[str, bytes]:
        """Return what the program recorded: path below the home to bytes, keys taken out."""
        found: dict[str, bytes] = {}
        own = os.path.realpath(home)
        size = 0
        for pattern in self._program.transcript:
            for path in sorted(glob(pattern, root_dir=home, recursive=True, include_hidden=True)):
                file = Path(home, path)
                # The program may have left anything here; what a link leads to is not its record.
                if os.path.realpath(file) != os.path.join(own, path) or not file.is_file():
                    continue
                data = file.read_bytes()
                size += len(data)
                if size > LARGEST_TRANSCRIPT:
                    raise OSError(f"its session record has more than {LARGEST_TRANSCRIPT >> 20} MiB")
                found[path] = self._masked(data)
        return found

    def _end(self, ended: Ended, door: Door, limits: Limits) -> tuple[Status, str, str]:
        if door.broken:
            return "crashed", "crashed", door.broken
        if ended.is_late:
            return "timeout", "run-timeout", f"the run took more than {limits.run_seconds:g} seconds"
        if ended.code == 0:
            return "completed", "", ""
        said = self._shown(ended.err).strip() or self._shown(ended.out).strip()
        how = (
            f"ended with exit code {ended.code}"
            if ended.code <= SIGNALS
            else f"was ended by signal {ended.code - SIGNALS}"
        )
        last = said.splitlines()[-1][-SHOWN:] if said else ""
        sentence = f"the program {how}" + (f": {last}" if last else "")
        for exit in self._program.exits:
            if exit.code in (None, ended.code) and (not exit.says or re2.search(exit.says, said)):
                return exit.status, exit.reason, sentence
        return "crashed", f"exit-{ended.code}", sentence

    def _told(self, ended: Ended) -> dict[str, object]:
        told: dict[str, object] = {
            "exit": ended.code,
            "stdout": self._shown(ended.out),
            "stderr": self._shown(ended.err),
        }
        return {**told, "lost": ended.lost} if ended.lost else told

    def _shown(self, data: bytes) -> str:
        return self._masked(data).decode("utf-8", "replace")

    def _masked(self, data: bytes) -> bytes:
        if len(self._key) < SHORTEST_KEY:
            return data
        return data.replace(self._key.encode(), b"[key]")

    def _without_key(self, words: list[str]) -> list[str]:
        return [self._shown(word.encode()) for word in words]

    async def _asked_version(self, home: str, places: Places) -> str:
        """Return the version that the program tells of itself, asked once a series; empty where it tells none."""
        if self._version is None:
            self._version = asyncio.create_task(self._ask_version(home, places))
        return await asyncio.shield(self._version)

    async def _ask_version(self, home: str, places: Places) -> str:
        if not self._program.version:
            return ""
        words, environment = places.value(self._program.version), self._given(home, places)
        try:
            ended = await run_program(
                words, folder=os.path.dirname(home), cwd=home, environment=environment, given=b"", seconds=ASKING
            )
        except OSError:
            return ""
        lines = self._shown(ended.out).strip().splitlines()
        return f"{os.path.basename(words[0])} {lines[0][:SHOWN]}" if lines and ended.code == 0 else ""

    async def close(self) -> None:
        """Nothing is held."""


def _write_files(files: Mapping[str, object], home: str, places: Places) -> None:
    for name, content in files.items():
        path = Path(home, places.text(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(places.file(content))


def _names(program: Program, name: str) -> bool:
    return name in str((program.command, program.stdin, program.files, program.environment))


def _cache(environment: Mapping[str, str]) -> str:
    return environment.get("OUTSTEP_CACHE_DIR") or os.path.join(
        environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "outstep"
    )


DRIVER = CommandDriver

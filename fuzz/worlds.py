"""Random bytes into the reader of worlds, and into the shell of the canary: read or refused, and always answered."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from outstep.errors import OutstepError
    from outstep.world.building import build_world, world_of
    from outstep.world.loader import load


def play(data: bytes) -> None:
    """Read a world and call its tools; what is no world is a script for the canary."""
    try:
        file, _ = load(data)
    except OutstepError as error:
        if None in [problem.place for problem in error.problems]:
            raise AssertionError("a mistake has no place") from None
        reply = build_world(None, ("shell_exec",)).call("shell_exec", {"command": data.decode("utf-8", "replace")})
        if reply.exit is None:
            raise AssertionError("a command has no exit status") from None
        return
    world = world_of(file)
    for tool in world.list():
        try:
            world.call(tool.name, {})
        except OutstepError as error:
            if not error.problems[0].code.startswith("world/"):
                raise


if __name__ == "__main__":
    atheris.Setup(sys.argv, play)
    atheris.Fuzz()

"""World files by name: one that comes with Outstep, or a file."""

from __future__ import annotations

import os
import stat
from functools import lru_cache

from outstep.errors import OutstepError, Place, Problem, problem, suggestion
from outstep.world import bundled
from outstep.world.loader import load
from outstep.world.model import WorldFile

LARGEST_FILE = 1 << 22
"""Bytes; the reader of YAML takes a quarter as many characters."""


def open_world(name: str, folder: str = "") -> tuple[WorldFile, tuple[Problem, ...]]:
    """Return a world and its warnings; raises `OutstepError` with every mistake in it.

    A path is seen from `folder`, which is that of the battery that names it.
    """
    if is_path(name):
        path = os.path.join(folder, name)
        return _loaded(_read(path), path)
    if name == bundled.CANARY:
        help = "`world: {use: canary, files: …}` in a scenario says what is in it"
        raise problem("world/no-file", "the world `canary` is no file: a scenario says what is in it", help=help)
    data = bundled.source(name)
    if data is None:
        help = suggestion(name, bundled.NAMES) or f"bundled: {', '.join(bundled.NAMES)}"
        if os.path.exists(os.path.join(folder, name)):
            help = f"for the file of this name write `./{name}`"
        raise problem("world/not-found", f"no world called `{name}` comes with Outstep", help=help)
    return _loaded(data, f"bundled:{name}")


@lru_cache(maxsize=32)
def _loaded(data: bytes, name: str) -> tuple[WorldFile, tuple[Problem, ...]]:
    """Return a checked world; runs of one series share it, since nothing changes what it holds."""
    return load(data, name=name)


def is_path(name: str) -> bool:
    """Return whether a name means a file; a bundled world has neither folder nor ending."""
    return name.endswith((".yaml", ".yml", ".json")) or "/" in name or os.sep in name or "\\" in name


def _read(path: str) -> bytes:
    """Return the bytes of a file or pipe; a device could go on without end."""
    place = Place(source=path)
    try:
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            kind = "a folder" if stat.S_ISDIR(mode) else "neither a file nor a pipe"
            raise problem("world/unreadable", f"`{path}` is {kind}", place=place, help="a world is one file of YAML")
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        help = f"bundled worlds are named without a folder: {', '.join(bundled.NAMES)}"
        raise problem("world/not-found", f"there is no file `{path}`", place=place, help=help) from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise _unreadable(path, f"cannot be read: {reason}", "name a file of YAML") from None
    if len(data) > LARGEST_FILE:
        raise _unreadable(path, f"holds more than {LARGEST_FILE} bytes", "leave state out that no tool needs")
    return data


def _unreadable(path: str, what: str, help: str) -> OutstepError:
    return problem("world/unreadable", f"`{path}` {what}", place=Place(source=path), help=help)

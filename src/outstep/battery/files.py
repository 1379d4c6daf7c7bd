"""Batteries by name: one that comes with Outstep, or a file."""

from __future__ import annotations

import os
import stat
from typing import Any

from outstep.battery import bundled
from outstep.battery.loader import Loaded, load, load_scenario
from outstep.battery.model import Battery, Scenario
from outstep.errors import Place, Problem, problem, suggestion

LARGEST_FILE = 1 << 22
"""Bytes; the reader of YAML takes a quarter as many characters."""


def open_battery(
    name: str, path: str | os.PathLike[str] | None = None, *, hints: bool = False
) -> tuple[Battery, tuple[Problem, ...]]:
    """Return a battery and its warnings; raises `OutstepError` with every mistake in it.

    With `hints`, what may well be meant is among the warnings, too.
    """
    found = _open(name, None if path is None else os.fspath(path), hints=hints)
    return found.battery, found.warnings


def open_scenario(path: str) -> tuple[Scenario, tuple[Problem, ...]]:
    """Return the scenario in a file of its own (YAML or JSON), and warnings; raises `OutstepError`."""
    return load_scenario(_read(path), name=path)


def is_path(name: str) -> bool:
    """Return whether a name means a file; a bundled battery has neither folder nor ending."""
    return name.endswith((".yaml", ".yml")) or "/" in name or os.sep in name or "\\" in name


def _open(name: str, path: str | None, *, hints: bool) -> Loaded:
    if path is None and is_path(name):
        path = name
    if path is not None:
        return load(_read(path), name=path, open_contract=_Contracts(path).digest, hints=hints)
    data = bundled.source(name)
    if data is None:
        help = suggestion(name, bundled.NAMES) or f"bundled: {', '.join(bundled.NAMES)}"
        if os.path.exists(name):
            help = f"for the file of this name write `./{name}`"
        raise problem("battery/not-found", f"no battery called `{name}` comes with Outstep", help=help)
    source = f"bundled:{name}"
    return load(data, name=source, source=source, open_contract=_Contracts("").digest, hints=hints)


def _read(path: str) -> bytes:
    """Return the bytes of a file or pipe; a device could go on without end."""
    try:
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            kind = "a folder" if stat.S_ISDIR(mode) else "neither a file nor a pipe"
            raise problem(
                "battery/unreadable",
                f"`{path}` is {kind}",
                place=Place(source=path),
                help="a battery is one file of YAML",
            )
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise problem(
            "battery/not-found",
            f"there is no file `{path}`",
            place=Place(source=path),
            help=f"bundled batteries are named without a folder: {', '.join(bundled.NAMES)}",
        ) from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise problem(
            "battery/unreadable",
            f"`{path}` cannot be read: {reason}",
            place=Place(source=path),
            help="name a file of YAML",
        ) from None
    if len(data) > LARGEST_FILE:
        raise problem(
            "battery/unreadable",
            f"`{path}` holds more than {LARGEST_FILE} bytes",
            place=Place(source=path),
            help="divide the battery",
        )
    return data


class _Contracts:
    """Opens contracts that a battery names: packs, or files beside it."""

    def __init__(self, battery: str) -> None:
        self._folder = os.path.dirname(battery)

    def digest(self, name: str, params: dict[str, Any]) -> str:
        from outstep.contracts import packs

        if name in packs.NAMES:
            from outstep.contracts.bundled import load_pack

            return load_pack(name, params)[0].sha256
        from outstep.contracts.loader import load_kept

        path = os.path.join(self._folder, name)
        if not os.path.exists(path):
            listed = f"give a file beside the battery, or a pack: {', '.join(packs.NAMES)}"
            raise problem(
                "battery/no-contract",
                f"there is no contract `{name}`",
                place=Place(source=path),
                help=suggestion(name, packs.NAMES) or listed,
            )
        return load_kept(_read(path), name=path, params=params, read_file=_read_beside).contract.sha256


def _read_beside(name: str) -> bytes:
    with open(name, "rb") as file:
        return file.read(LARGEST_FILE + 1)

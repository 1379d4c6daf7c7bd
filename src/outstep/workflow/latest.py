"""The session that a harness on this machine wrote last (`--last`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from outstep.errors import problem, suggestion

Environment = Mapping[str, str]


def last_session(harness: str, environment: Environment) -> list[str]:
    """Return the files of the newest session of a harness; raises `OutstepError` where there is none."""
    find = _HARNESSES.get(harness)
    if find is None:
        known = ", ".join(_HARNESSES)
        help = suggestion(harness, tuple(_HARNESSES)) or f"one of: {known}"
        raise problem(
            "usage/unknown-harness", f"`{harness}` keeps its sessions in no place that is known here", help=help
        )
    return find(environment)


def sessions_folder(harness: str, environment: Environment) -> str | None:
    """Return the folder in which a harness keeps its sessions, or none for one that is not known here."""
    return os.path.join(_dsh_home(environment), "sessions") if harness in _HARNESSES else None


def _dsh_home(environment: Environment) -> str:
    return environment.get("DSH_HOME") or os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".dsh")


def _of_dsh(environment: Environment) -> list[str]:
    from outstep.adapters.dsh.home import newest_session

    home = _dsh_home(environment)
    found = newest_session(home)
    if not found:
        raise problem(
            "input/no-session",
            f"there is no session of dsh in `{os.path.join(home, 'sessions')}`",
            help="set DSH_HOME to where dsh keeps its sessions, or name a folder",
        )
    return found


_HARNESSES: dict[str, Callable[[Environment], list[str]]] = {"dsh": _of_dsh}

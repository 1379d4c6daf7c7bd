"""The world of the canary tools: files, a shell, HTTP, git, packages and mail of a machine that does not exist.

docs: docs/worlds.md#canary
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outstep.world.canary.actor import CanaryActor
from outstep.world.canary.files import NotPossible
from outstep.world.canary.files import joined as _joined
from outstep.world.canary.project import ENV, FOLDERS, HOME, PROJECT, SYSTEM
from outstep.world.given import Given

__all__ = ["CanaryActor", "NotPossible", "canary_actor"]


def canary_actor(
    given: Given,
    tools: Sequence[str],
    *,
    cwd: str,
    home: str,
    targets: Mapping[str, Mapping[str, Sequence[str]]],
) -> tuple[CanaryActor, dict[str, Any]]:
    """Return the tools of a scenario, and the state in which a run begins."""
    own = given.files or given.links
    files = {**SYSTEM, **{f"{home}/{name}": text for name, text in HOME.items()}}
    folders = {cwd, home, f"{cwd}/workspace", *FOLDERS}
    for name, text in (given.files if own else PROJECT).items():
        path = _joined(cwd, name)
        if path.endswith("/"):
            folders.add(path.rstrip("/"))
        else:
            files[path] = text
    links = {_joined(cwd, name).rstrip("/"): target for name, target in given.links.items()}
    env = {**ENV, "HOME": home, "PWD": cwd, **given.env}
    actor = CanaryActor(given, tuple(tools), cwd=cwd, home=home, env=env, targets=targets)
    return actor, actor.first_state(files, links, sorted(folders))

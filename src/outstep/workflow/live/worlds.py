"""The world of each run."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from outstep.battery.model import Battery, Scenario
from outstep.errors import problem
from outstep.workflow.live.runner import MakeWorld
from outstep.world.building import build_world
from outstep.world.canary.declared import KNOWN
from outstep.world.world import World


def world_maker(battery: Battery, chosen: tuple[Scenario, ...], named: str) -> MakeWorld:
    """Return what makes the worlds: a function that was named, or what the scenarios say; raises `OutstepError`."""
    if named:
        return _function(named)
    folder = "" if battery.source.startswith("bundled:") else os.path.dirname(battery.source)

    def make(scenario: Scenario, seed: int) -> World:
        unknown = [tool for tool in scenario.tools if tool not in KNOWN]
        if scenario.world is None and unknown:
            raise problem(
                "run/no-world",
                f"{battery.source} does not say in which world `{scenario.id}` takes place, and the world `canary` "
                f"has no tool `{unknown[0]}`",
                help="give the scenario a `world`, or name a Python function with --world MODULE:FUNCTION",
            )
        return build_world(
            scenario.world,
            scenario.tools,
            cwd=scenario.cwd,
            home=scenario.home,
            targets=scenario.targets,
            seed=seed,
            folder=folder,
            id=scenario.id,
        )

    for scenario in chosen:
        # A world that cannot be made is told before anything is run.
        make(scenario, 0)
    return make


def let_import_from_here() -> None:
    """Let Python find modules in the working directory, as `python -m` does."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)


def _function(name: str) -> MakeWorld:
    module, _, function = name.partition(":")
    let_import_from_here()
    try:
        found: Any = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise problem(
            "run/no-world",
            f"`{name}` names no Python function: {error}",
            help="write --world MODULE:FUNCTION, of a module that Python finds from here",
        ) from None
    maker: MakeWorld = found
    return maker

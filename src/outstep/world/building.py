"""From what a scenario says of its world to a world that a run can begin in.

docs: docs/worlds.md#scenarios
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from outstep.errors import Place, problem
from outstep.expr.lex import ExprError
from outstep.expr.parse import parse
from outstep.world.bundled import CANARY
from outstep.world.expressions import Expr
from outstep.world.faults import Fault, merged
from outstep.world.given import Given
from outstep.world.mock import MockActor
from outstep.world.model import WorldFile
from outstep.world.opening import open_world
from outstep.world.world import World

Sleep = Callable[[float], object]


def build_world(
    given: Given | None,
    tools: Sequence[str],
    *,
    cwd: str = "/srv/agent",
    home: str = "/home/agent",
    targets: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    seed: int = 0,
    folder: str = "",
    id: str = "",
    sleep: Sleep | None = None,
) -> World:
    """Return a world as a scenario gives it, with the tools of the scenario; raises `OutstepError`.

    `folder` is where paths of world files are seen from. Without `use`, the world is the canary.
    """
    given = given or Given()
    if given.use in ("", CANARY):
        from outstep.world.canary import canary_actor

        actor, state = canary_actor(given, tools, cwd=cwd, home=home, targets=targets or {})
        faults = faults_of(given.faults)
        return World(actor, state, faults=faults, seed=seed, clock=actor.clock, id=id, sleep=sleep)
    file = open_world(given.use, folder)[0]
    return world_of(file, tools, given=given, seed=seed, id=id, sleep=sleep)


def world_of(
    file: WorldFile,
    tools: Sequence[str] | None = None,
    *,
    given: Given | None = None,
    seed: int = 0,
    id: str = "",
    sleep: Sleep | None = None,
) -> World:
    """Return a world that begins as its file says, with what a scenario adds; raises `OutstepError`."""
    given = given or Given()
    state = file.state if given.state is None else merged(file.state, given.state)
    if file.schema is not None and given.state is not None:
        from outstep.world.arguments import misfit

        if sentence := misfit(state, file.schema):
            help = "give `state` of the scenario as a JSON merge patch that fits `schema` of the world"
            raise problem("world/state", f"the state of the scenario does not fit: {sentence}", help=help)
    known = [mock.tool.name for mock in file.tools]
    missing = [tool for tool in tools or () if tool not in known]
    if missing:
        help = f"it has: {', '.join(known)}"
        raise problem("world/unknown-tool", f"the world `{file.id}` has no tool `{missing[0]}`", help=help)
    every = (*faults_of(given.faults), *file.faults)
    faults = [replace(fault, number=number) for number, fault in enumerate(every)]
    return World(MockActor(file), state, tools=tools, faults=faults, seed=seed, clock=file.clock, id=id, sleep=sleep)


def faults_of(given: Sequence[dict[str, Any]]) -> tuple[Fault, ...]:
    """Return the faults of a scenario, which the reader of the battery has checked."""
    found: list[Fault] = []
    for number, values in enumerate(given):
        plain = {key: value for key, value in values.items() if key != "when"}
        if "on" in plain and not isinstance(plain["on"], list):
            plain["on"] = [plain["on"]]
        for key in ("text", "at", "tool"):
            if key in plain:
                plain[key] = str(plain[key])
        fault = convert({**plain, "number": number}, Fault, strict=False)
        found.append(replace(fault, when=_condition(str(values["when"]))) if "when" in values else fault)
    return tuple(found)


def _condition(text: str) -> Expr:
    try:
        return Expr(text, parse(text), Place(source="faults of the scenario"))
    except ExprError as error:
        raise problem("world/expression", f"`{text}`: {error.sentence}", help=error.help) from None

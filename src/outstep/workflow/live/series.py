"""A series of live runs, from what was asked for to what it showed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from outstep.battery.model import Battery
from outstep.drivers import Limits, Model, open_driver
from outstep.errors import Place, problem
from outstep.workflow.live.folder import ResultsFolder
from outstep.workflow.live.judging import Bench
from outstep.workflow.live.plan import SYSTEM, Plan, Planned, plan_of, runs_of
from outstep.workflow.live.record import read_run
from outstep.workflow.live.runner import Runner, Series, Spending, Step
from outstep.workflow.live.worlds import let_import_from_here, world_maker

REPEATED = frozenset({"provider_error", "crashed"})


class Asked(Struct, frozen=True, kw_only=True):
    """What was asked for."""

    battery: Battery
    model: str
    out: str
    scenarios: tuple[str, ...] = ()
    """Ids; none: all."""
    base_url: str = ""
    epochs: int = 0
    seed: int = 0
    system: str = SYSTEM
    parameters: dict[str, Any] = {}
    limits: Limits = Limits()
    stream: bool = False
    concurrency: int = 8
    resume: bool = False
    again: bool = False
    """Whether runs that a provider or a crash ended are made again."""
    world: str = ""
    spending: Spending = Spending()


class Done(Struct, frozen=True, kw_only=True):
    """How it went."""

    plan: Plan
    series: Series
    planned: int
    there: int
    """Runs that had been made before."""
    interrupted: int
    """Runs that had been begun before, and never finished."""
    is_whole: bool
    """False: someone interrupted it."""


def run_series(asked: Asked, environment: Mapping[str, str], told: Step | None = None) -> Done:
    """Make all runs that are not there yet; raises `OutstepError`. Whoever interrupts it keeps what is done."""
    battery = asked.battery
    model = Model(asked.model)
    chosen = tuple(map(battery.scenario, asked.scenarios)) or battery.scenarios
    plan = plan_of(
        battery,
        chosen,
        model=asked.model,
        base_url=asked.base_url,
        system=asked.system,
        epochs=asked.epochs,
        seed=asked.seed,
        parameters=asked.parameters,
        limits=asked.limits,
        stream=asked.stream,
        world=asked.world,
    )
    let_import_from_here()
    make_world = world_maker(battery, chosen, asked.world)
    bench = Bench(battery)
    for scenario in chosen:
        bench.prepare(scenario)
    driver = open_driver(model, environment, base_url=asked.base_url, connections=asked.concurrency)
    with ResultsFolder(asked.out) as folder:
        _begin(folder, plan, resume=asked.resume)
        interrupted = folder.set_aside()
        planned = list(runs_of(plan, chosen))
        if asked.again:
            _take_back(folder, planned)
        missing = [one for one in planned if not folder.has(one.scenario.id, one.epoch)]
        runner = Runner(
            plan,
            driver,
            folder,
            make_world,
            bench,
            concurrency=asked.concurrency,
            spending=asked.spending,
            told=told,
        )
        is_whole = True
        try:
            asyncio.run(runner.make(iter(missing)))
        except KeyboardInterrupt:
            is_whole = False
        return Done(
            plan=plan,
            series=runner.series,
            planned=len(planned),
            there=len(planned) - len(missing),
            interrupted=interrupted,
            is_whole=is_whole,
        )


def _begin(folder: ResultsFolder, plan: Plan, *, resume: bool) -> None:
    there = folder.plan()
    if there is not None:
        if not resume:
            raise problem(
                "run/there-already",
                f"`{folder.path}` holds runs already",
                place=Place(source=folder.path),
                help="--resume makes what is missing of them; or name another folder with --out",
            )
        differing = plan.same_as(there)
        if differing:
            raise problem(
                "run/another-plan",
                f"the runs in `{folder.path}` were made with another {', '.join(differing)}",
                place=Place(source=folder.path),
                help="resume with what they were made with, or name another folder with --out",
            )
    folder.begin(plan)


def _take_back(folder: ResultsFolder, planned: list[Planned]) -> None:
    for one in planned:
        if folder.has(one.scenario.id, one.epoch):
            run = read_run(folder.file(one.scenario.id, one.epoch, "run.json"))
            if run.status in REPEATED:
                folder.repeat(one.scenario.id, one.epoch)

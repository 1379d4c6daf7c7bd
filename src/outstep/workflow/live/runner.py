"""Live runs, several at a time: driven, written down, judged; what is done stays done whatever stops the rest.

docs: docs/live.md
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from time import monotonic, time
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from outstep import codec
from outstep.adapters.write import write
from outstep.battery.model import Scenario
from outstep.digest import sha256
from outstep.drivers import Driver, Ending, Task
from outstep.errors import OutstepError
from outstep.events import SCHEMA as TRACE_SCHEMA
from outstep.events import Decision, Header
from outstep.findings import Finding, Report
from outstep.render.json import render
from outstep.render.style import PLAIN
from outstep.workflow.live.folder import EVENTS, FINDINGS, RUN, WORLD, ResultsFolder, RunFolder
from outstep.workflow.live.judging import Bench
from outstep.workflow.live.plan import Plan, Planned
from outstep.workflow.live.record import LiveRun, actions_of
from outstep.workflow.live.transcripts import Told, usage
from outstep.workflow.live.transcripts import told as told_by_program
from outstep.workflow.reconciling import beside
from outstep.workflow.traces import Trace
from outstep.world.tools import Tool
from outstep.world.world import World

HOPELESS = frozenset({"unauthorised", "not-found", "no-credit"})
"""Reasons for which every further run would end, too."""


MakeWorld = Callable[[Scenario, int], World]
"""Makes the world of one run from its scenario and seed."""
Step = Callable[[LiveRun], None]


class Series(Struct, kw_only=True):
    """How a series of runs went."""

    made: int = 0
    stopped: str = ""
    """Why no more runs were begun, where that is so."""
    cost: float = 0.0


class Spending(Struct, frozen=True, kw_only=True):
    """What tokens cost, and what may be spent."""

    read: float = 0.0
    """For a million tokens."""
    written: float = 0.0
    most: float = 0.0
    """For the whole series; 0: no limit."""

    def cost(self, run: LiveRun) -> float:
        """Return what a run cost."""
        return self.amount(run.usage.get("input_tokens", 0), run.usage.get("output_tokens", 0))

    def amount(self, read: int, written: int) -> float:
        """Return what tokens cost."""
        return (read * self.read + written * self.written) / 1e6


class Runner:
    """Makes runs of one plan."""

    def __init__(
        self,
        plan: Plan,
        driver: Driver,
        folder: ResultsFolder,
        make_world: MakeWorld,
        bench: Bench,
        *,
        concurrency: int = 8,
        spending: Spending | None = None,
        told: Step | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self._plan = plan
        self._driver = driver
        self._folder = folder
        self._make_world = make_world
        self._bench = bench
        self._concurrency = concurrency
        self._spending = spending or Spending()
        self._told = told
        self._clock = clock
        self.series = Series()

    async def make(self, runs: Iterator[Planned]) -> None:
        """Make the runs, in their order; raises `CancelledError` when interrupted, with all that is done kept."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(self._work(runs))
        except* OutstepError as errors:
            raise errors.exceptions[0] from None
        finally:
            await self._driver.close()

    async def _work(self, runs: Iterator[Planned]) -> None:
        for run in runs:
            if self.series.stopped:
                return
            done = await self._run(run)
            series = self.series
            series.made += 1
            series.cost += self._spending.cost(done)
            if done.reason in HOPELESS:
                series.stopped = f"{done.sentence}; no run would go better"
            elif 0 < self._spending.most <= series.cost:
                series.stopped = f"the runs have cost {series.cost:.2f} of {self._spending.most:.2f}"
            if self._told is not None:
                self._told(done)

    async def _run(self, planned: Planned) -> LiveRun:
        scenario = planned.scenario
        world = self._make_world(scenario, planned.seed)
        began = monotonic()
        folder = self._folder.open_run(scenario.id, planned.epoch)
        try:
            task = Task(
                goal=scenario.goal,
                tools=world,
                system=self._plan.system,
                model=self._plan.model.partition(":")[2],
                seed=planned.seed,
                parameters=self._plan.parameters,
                limits=self._plan.limits,
                stream=self._plan.stream,
                log=folder.log,
                clock=self._clock,
            )
            ending = await self._driver.run(task)
            return self._kept(planned, folder, world, ending, monotonic() - began)
        finally:
            folder.close()

    def _kept(self, planned: Planned, folder: RunFolder, world: World, ending: Ending, seconds: float) -> LiveRun:
        """Write the files of a run, judge it, and let it count."""
        scenario = planned.scenario
        id = f"{scenario.id}/{planned.epoch}"
        record = world.record.events(id=id, end=_end(ending))
        folder.write(WORLD, b"".join(write([[*record]])))
        header, notes = self._header(id, world.list()), ending.notes
        disagreements: tuple[Finding, ...] = ()
        if ending.names is not None:
            told = told_by_program(ending, record, scenario.goal, folder)
            header, notes, disagreements = _both(header, told.header), (*notes, *told.notes), told.disagreements
            ending = _ended(ending, told)
        events = b"".join(write([[header, *ending.events]]))
        folder.write(EVENTS, events)
        report = self._bench.judge(scenario, f"{folder.place}/{EVENTS}", events)
        if ending.transcript:
            trace = Trace(header=header, events=ending.events)
            report = beside(report, disagreements, trace, f"{folder.place}/{WORLD}")
        if report is not None:
            folder.write(FINDINGS, render(report, PLAIN).encode())
        run = LiveRun(
            scenario=scenario.id,
            status=ending.status,
            reason=ending.reason,
            sentence=ending.sentence,
            model=self._plan.model,
            harness=ending.harness,
            epoch=planned.epoch,
            seed=planned.seed,
            actions=actions_of(ending.events),
            turns=ending.turns,
            retries=ending.retries,
            usage=dict(ending.usage),
            notes=notes,
            parameters=dict(ending.effective),
            seconds=round(seconds, 3),
            gate=report.gate if report is not None else "",
            violated=_violated(report),
            disagreements=sum(one.verdict == "violated" and one.level == "block" for one in disagreements),
            files={name: sha256(folder.read(name)).hexdigest() for name in folder.names()},
        )
        folder.write(RUN, codec.encode(run) + b"\n")
        folder.keep()
        return run

    def _header(self, id: str, tools: Sequence[Tool]) -> Header:
        return Header(
            schema=TRACE_SCHEMA,
            id=id,
            harness="outstep",
            model=self._plan.model,
            prompt=self._plan.prompt,
            tools={tool.name: _digest(tool) for tool in tools},
        )


def _both(asked: Header, told: Header) -> Header:
    """Return the header of a program's own log, with what is known of the run."""
    return replace(
        told,
        id=asked.id,
        harness=told.harness or asked.harness,
        model=asked.model,
        prompt=told.prompt or asked.prompt,
        tools=told.tools or asked.tools,
        records=tuple(dict.fromkeys((*told.records, "state"))),
    )


def _ended(ending: Ending, told: Told) -> Ending:
    """Return how a program's run ended, with what its log tells; without a log that can be read it is not completed."""
    if told.fault and ending.status == "completed":
        sentence = f"the record of the program cannot be read: {told.fault}"
        ending = replace(ending, status="crashed", reason="unreadable-transcript", sentence=sentence)
    turns = sum(isinstance(event, Decision) for event in told.events)
    return replace(ending, events=told.events, turns=turns, usage=usage(told.events))


def _end(ending: Ending) -> Literal["completed", "cut_off"]:
    return "completed" if ending.status == "completed" else "cut_off"


def _digest(tool: Tool) -> str:
    return sha256(codec.encode(tool)).hexdigest()


def _violated(report: Report | None) -> tuple[str, ...]:
    if report is None:
        return ()
    found = (one.rule for one in report.findings if one.verdict == "violated" and one.level == "block")
    return tuple(dict.fromkeys(found))

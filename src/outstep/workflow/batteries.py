"""Batteries joined with what judges them: the report of a dry run."""

from __future__ import annotations

from collections.abc import Sequence

from outstep import __version__, adapters
from outstep.battery.model import Battery, Scenario
from outstep.containment.report import (
    DRY_RUN,
    BatteryMark,
    ContainmentReport,
    Judge,
    Run,
    ScenarioResult,
    over_runs,
    report_of,
)


def dry_report(battery: Battery, model: str = "") -> ContainmentReport:
    """Return the report on a battery of which nothing was run."""
    scenarios = (result_of(scenario, ()) for scenario in battery.scenarios)
    return report_of(model=model or DRY_RUN, battery=mark_of(battery), judge=judge(), scenarios=scenarios)


def result_of(scenario: Scenario, runs: Sequence[Run]) -> ScenarioResult:
    """Return what all runs of a scenario show together."""
    verdict, reason = over_runs(runs)
    return ScenarioResult(
        scenario_id=scenario.id,
        cls=scenario.cls,
        control=scenario.control,
        expect=scenario.expect,
        verdict=verdict,
        reason=reason,
        runs=tuple(runs),
    )


def mark_of(battery: Battery) -> BatteryMark:
    """Return what reports say about a battery."""
    return BatteryMark(
        version=battery.version,
        source=battery.source,
        scenarios=len(battery.scenarios),
        rules=battery.rules,
        digest=battery.digest,
    )


def judge() -> Judge:
    """Return what judges here: this version, with its adapters."""
    pinned = {name: tuple(adapters.adapter(name).pinned) for name in adapters.NAMES}
    return Judge(outstep=__version__, adapters=pinned)

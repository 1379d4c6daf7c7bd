"""Runs that a harness wrote down, judged and counted.

docs: docs/batteries.md#run-records
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from outstep.battery.model import Battery, Scenario
from outstep.containment.record import RunRecord, parse_run_record
from outstep.containment.report import ContainmentReport, Run, report_of, run_of
from outstep.digest import sha256
from outstep.errors import OutstepError, Place, Problem, problem, suggestion
from outstep.scope.observer import ScopeObserver
from outstep.workflow.batteries import judge, mark_of, result_of
from outstep.workflow.live.folder import is_results, run_files

LARGEST = 1 << 28
"""Bytes of one record."""


class NamedRecord(Struct, frozen=True):
    """A run record and its file."""

    source: str
    record: RunRecord
    sha256: str


def read_records(paths: Iterable[str]) -> list[NamedRecord]:
    """Return the records in files, and in the `.json` files of folders; raises `OutstepError` with every mistake."""
    found: list[NamedRecord] = []
    problems: list[Problem] = []
    for file in _files(paths):
        try:
            data = _bytes(file)
            found.append(NamedRecord(file, parse_run_record(data, file), sha256(data).hexdigest()))
        except OutstepError as error:
            problems += error.problems
    if problems:
        raise OutstepError(*problems)
    return found


def judged_report(battery: Battery, records: Sequence[NamedRecord], model: str = "") -> ContainmentReport:
    """Return the report on what the records of one model show; raises `OutstepError` where they do not fit.

    Runs of one scenario are numbered by their epochs, then as they were given.
    """
    problems = _strange(battery, records)
    if not model:
        problems += _models(records)
    if not records:
        problems.append(Problem(code="run/no-runs", sentence="there is no run record", help="name files or folders"))
    if problems:
        raise OutstepError(*problems)
    own: dict[str, list[NamedRecord]] = {scenario.id: [] for scenario in battery.scenarios}
    for one in records:
        own[one.record.scenario].append(one)
    results = (result_of(scenario, _runs(scenario, own[scenario.id])) for scenario in battery.scenarios)
    named = model or records[0].record.model or "unnamed"
    return report_of(model=named, battery=mark_of(battery), judge=judge(), scenarios=results)


def _runs(scenario: Scenario, records: Sequence[NamedRecord]) -> tuple[Run, ...]:
    observer = ScopeObserver()
    judged = (
        run_of(
            observer.evaluate(scenario, one.record.attempted()),
            one.record.ended,
            trace=one.sha256,
            fates=[action.fate for action in one.record.actions],
        )
        for one in sorted(records, key=lambda one: one.record.epoch)
    )
    return tuple(replace(run, epoch=number) for number, run in enumerate(judged, 1))


def _strange(battery: Battery, records: Sequence[NamedRecord]) -> list[Problem]:
    ids = {scenario.id: None for scenario in battery.scenarios}
    return [
        Problem(
            code="battery/no-scenario",
            sentence=f"{battery.source} has no scenario `{one.record.scenario}`",
            place=Place(source=one.source, pointer="/scenario"),
            help=suggestion(one.record.scenario, [*ids]) or "name the battery of this run with --battery",
        )
        for one in records
        if one.record.scenario not in ids
    ]


def _models(records: Sequence[NamedRecord]) -> list[Problem]:
    return [
        Problem(
            code="run/several-models",
            sentence=f"this run is one of `{one.record.model}`, and the first one of `{records[0].record.model}`",
            place=Place(source=one.source, pointer="/model"),
            help="write a report for each model, and compare them: outstep compare a.json b.json",
        )
        for one in records
        if one.record.model != records[0].record.model
    ]


def _files(paths: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for path in paths:
        if not os.path.isdir(path):
            found.setdefault(os.path.realpath(path), path)
            continue
        if is_results(path):
            found.update((os.path.realpath(file), file) for file in run_files(path))
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".json") and not name.startswith("."):
                    file = os.path.join(folder, name)
                    found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _bytes(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            data = opened.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise problem(
            "run/unreadable",
            f"`{file}` cannot be read: {reason}",
            place=Place(source=file),
            help="name files of run records, or folders of them",
        ) from None
    if len(data) > LARGEST:
        raise problem(
            "run/unreadable",
            f"`{file}` holds more than {LARGEST >> 20} MiB",
            place=Place(source=file),
            help="a run record is one run",
        )
    return data

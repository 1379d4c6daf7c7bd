"""Reports and result tables read for a comparison; what their files are is told by content (docs/compare.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import structs

from outstep.compare.results import Result, Results, is_table, of_report, of_table
from outstep.errors import OutstepError, Place, Problem, problem
from outstep.reports import parse_report
from outstep.workflow.live_results import is_results_folder, read_results_folder


def read_side(path: str) -> Results:
    """Return the results in a file, in all reports of a folder, of a folder of live runs, or of a store of evidence.

    Raises: OutstepError with all that is wrong.
    """
    if is_results_folder(path):
        return read_results_folder(path)
    if path.startswith("s3://") or os.path.isfile(os.path.join(path, "store.json")):
        return _stored(path)
    files = list(_files(path))
    sides: list[Results] = []
    problems: list[Problem] = []
    for file in files:
        try:
            sides.append(_read(file))
        except OutstepError as error:
            problems += error.problems
    if problems:
        raise OutstepError(*problems)
    if not sides:
        raise problem(
            "report/no-report",
            f"there is no report in the folder `{path}`",
            place=Place(source=path),
            help="give a folder of reports that `outstep check --output json=FILE` wrote",
        )
    return sides[0] if len(sides) == 1 and sides[0].name == path else _joined(path, sides)


def _stored(path: str) -> Results:
    """Return what the newest verdict on each run of a store says; a run without any was not run, as far as is known."""
    from outstep.evidence.store import Store
    from outstep.workflow.rejudging import earlier_reports, read_stored

    store = Store.open(path)
    reports = earlier_reports(store)
    sides: list[Results] = []
    problems: list[Problem] = []
    for number, entry in store.log.numbered():
        if entry.kind != "run":
            continue
        if number not in reports:
            unjudged = tuple(Result(case=trace.id, outcome="not_run") for trace in entry.traces)
            sides.append(Results(name=path, runs=unjudged))
            continue
        report = read_stored(store, reports[number][-1])
        if report is None:
            sentence = f"the report of entry {number} in `{path}` is gone, or is not what was sealed"
            help = "outstep evidence verify says what was changed; outstep recheck judges anew"
            problems.append(Problem(code="report/unreadable", sentence=sentence, place=Place(source=path), help=help))
        else:
            sides.append(of_report(report, path))
    if problems:
        raise OutstepError(*problems)
    if not sides:
        raise problem(
            "report/no-report",
            f"no run is kept in the store `{path}`",
            place=Place(source=path),
            help="outstep evidence add keeps sessions with what contracts say of them",
        )
    return _joined(path, sides)


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return
    for name in sorted(os.listdir(path)):
        if name.endswith(".json") and not name.startswith("."):
            yield os.path.join(path, name)


def _read(file: str) -> Results:
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "report/unreadable",
            f"`{file}` cannot be read: {reason}",
            place=Place(source=file),
            help="give a report that `outstep check --output json=FILE` wrote, or a table of results",
        ) from None
    return of_table(data, file) if is_table(data) else of_report(parse_report(data, file), file)


def _joined(name: str, sides: Sequence[Results]) -> Results:
    """Return the runs of several files as one side; a case that comes again is another epoch of it."""
    epochs: dict[tuple[str, str], int] = {}
    runs: list[Result] = []
    for side in sides:
        for run in side.runs:
            key = (run.case, run.model)
            epochs[key] = epochs.get(key, 0) + 1
            runs.append(structs.replace(run, epoch=epochs[key]))
    return Results(
        name=name,
        runs=tuple(runs),
        contracts=tuple(dict.fromkeys(one for side in sides for one in side.contracts)),
        known_rules=tuple(dict.fromkeys(rule for side in sides for rule in side.known_rules)),
    )

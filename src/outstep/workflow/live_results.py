"""The results folder of a battery (`runs/v1`), read for a comparison: each run with what its contracts say of it.

A rule of level block that was violated stands against a run whatever else became of it. Without one, only a run that
completed can pass: what a provider or a crash ended was not run, what was cut off is undecided. docs/compare.md
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from outstep.compare.results import Outcome, Result, Results, worst
from outstep.containment.report import Run, ScenarioResult
from outstep.digest import sha256
from outstep.errors import OutstepError, Place, Problem, problem
from outstep.reports import read_containment_report

Kind = TypeVar("Kind")
MANIFEST = "runs.json"
CONTAINMENT = "containment.json"
_GATES: dict[str, Outcome] = {"pass": "pass", "block": "fail", "inconclusive": "inconclusive", "error": "error"}
_ENDED: dict[str, Outcome] = {"completed": "pass", "cut_off": "inconclusive", "max_turns": "inconclusive"}


class _Battery(Struct, kw_only=True):
    version: str | int | float
    digest: str
    rules: int = 0


class _Manifest(Struct, kw_only=True):
    schema: str
    battery: _Battery
    system: str = ""
    parameters: Mapping[str, object] = {}
    stream: bool = False

    @property
    def subject(self) -> dict[str, str]:
        """What was asked of all runs: the prompt, and how the model was called; by digest."""
        config = msgspec.json.encode([self.parameters, self.stream], order="deterministic")
        prompt = sha256(self.system.encode()).hexdigest() if self.system else ""
        return {"prompt": prompt, "config": sha256(config).hexdigest()}


class _Run(Struct, kw_only=True):
    scenario: str
    status: str
    model: str = ""
    harness: str = ""
    epoch: int = 1
    seconds: float = 0.0
    gate: str = ""
    violated: tuple[str, ...] = ()
    actions: tuple[msgspec.Raw, ...] = ()
    usage: Mapping[str, int] = {}


def is_results_folder(path: str) -> bool:
    """Return whether a folder holds the runs of a battery."""
    return os.path.isfile(os.path.join(path, MANIFEST)) and os.path.isdir(os.path.join(path, "runs"))


def read_results_folder(path: str) -> Results:
    """Return the runs of a results folder; raises `OutstepError` with everything that cannot be read."""
    manifest = _decoded(os.path.join(path, MANIFEST), _Manifest)
    problems: list[Problem] = []
    runs: list[Result] = []
    for file in sorted(glob.glob(os.path.join(glob.escape(path), "runs", "*", "*", "run.json"))):
        try:
            runs.append(_result(_decoded(file, _Run), manifest))
        except OutstepError as error:
            problems += error.problems
    if problems:
        raise OutstepError(*problems)
    if not runs:
        raise problem(
            "run/no-record",
            f"no run has ended in the results folder `{path}`",
            place=Place(source=path),
            help="go on with `outstep run … --resume`",
        )
    runs = _within_bounds(path, manifest, runs)
    contracts = ((str(manifest.battery.version), manifest.battery.digest),)
    return Results(name=path, runs=tuple(runs), contracts=contracts)


def _within_bounds(path: str, manifest: _Manifest, runs: list[Result]) -> list[Result]:
    """Return the runs with what became of their bounds: what escaped did not pass, whatever its contracts say."""
    file = os.path.join(path, CONTAINMENT)
    if not os.path.isfile(file):
        if manifest.battery.rules:
            raise _unjudged(file, "there is no containment report in it")
        return runs
    report = read_containment_report(file)
    found = {(one.scenario_id, run.epoch): (one, run) for one in report.scenarios for run in one.runs}
    missing = next((run for run in runs if (run.case, run.epoch) not in found), None)
    if missing is not None:
        raise _unjudged(file, f"its containment report lacks run {missing.epoch} of `{missing.case}`")
    return [bounded(run, *found[run.case, run.epoch]) for run in runs]


def bounded(run: Result, scenario: ScenarioResult, found: Run) -> Result:
    """Return a run with what became of its bounds; an escape stands whatever ended the run."""
    verdict: Outcome = "fail" if found.verdict == "escaped" else "pass"
    if found.verdict in ("inconclusive", "not_run"):
        verdict = "inconclusive"
    elif scenario.expect:
        verdict = "pass" if found.verdict == scenario.expect else "fail"
    if run.outcome == "error" or (run.outcome == "not_run" and verdict != "fail"):
        return run
    outside = [one for one in found.judgements if one.verdict != "contained"] if verdict == "fail" else []
    escapes = dict.fromkeys(f"{one.verdict}[{one.reason}]" for one in outside)
    if verdict == "fail" and not escapes:
        escapes = {f"expected {scenario.expect}": None}
    outcome = worst([run.outcome, verdict]) if run.outcome != "not_run" else verdict
    return structs.replace(run, outcome=outcome, findings=(*run.findings, *escapes))


def _unjudged(file: str, what: str) -> OutstepError:
    return problem(
        "run/no-record",
        f"whether the runs of `{os.path.dirname(file)}` stayed inside is not known: {what}",
        place=Place(source=file),
        help="outstep run … --resume makes what is missing, and writes it anew",
    )


def _result(run: _Run, manifest: _Manifest) -> Result:
    ended = _ENDED.get(run.status, "not_run")
    outcome = _GATES.get(run.gate, "pass") if run.gate else ended
    if outcome == "pass":
        outcome = ended
    subject = {"model": run.model, **manifest.subject, "harness": run.harness}
    return Result(
        case=run.scenario,
        model=run.model,
        subject={part: value for part, value in subject.items() if value},
        epoch=run.epoch,
        outcome=outcome,
        findings=run.violated,
        latency=run.seconds,
        calls=len(run.actions),
        metrics={name: float(value) for name, value in run.usage.items() if name.endswith("put_tokens")},
    )


def _decoded(file: str, kind: type[Kind]) -> Kind:
    try:
        with open(file, "rb") as opened:
            return msgspec.json.decode(opened.read(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise problem(
            "run/no-record",
            f"`{file}` is no record of a run: {error}",
            place=Place(source=file),
            help="remove the folder of this run, and make it again with --resume",
        ) from None

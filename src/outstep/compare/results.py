"""Results of runs, from reports or from result tables: what compare works on.

A result table is `{"runs": [{"case", "model", "epoch", "verdict", "findings": [rule, …]}]}`; `verdict` is `pass`,
`fail`, `inconclusive`, `error` or `not_run`. docs/compare.md#result-tables
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from outstep.errors import OutstepError, Place, Problem
from outstep.findings import Report, Verdict

Outcome = Literal["pass", "inconclusive", "fail", "not_run", "error"]
"""From best to worst: of several runs the worst counts."""

PARTS = ("model", "prompt", "skills", "tools", "harness", "config")
"""Of what acted, as far as traces and manifests record them; lists and texts by their digest."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_SPELLINGS: dict[str, Outcome] = {
    **{outcome: outcome for outcome in OUTCOMES},
    "passed": "pass",
    "satisfied": "pass",
    "contained": "pass",
    "failed": "fail",
    "block": "fail",
    "violated": "fail",
    "escaped": "fail",
    "errored": "error",
    "fault": "error",
}


class Result(Struct, frozen=True, kw_only=True):
    """One run of one case."""

    case: str
    model: str = ""
    subject: dict[str, str] = {}
    """What acted, as far as it is recorded (`PARTS`)."""
    epoch: int = 1
    outcome: Outcome
    rules: dict[str, Verdict] = {}
    """Rules that are not satisfied, where that is known."""
    findings: tuple[str, ...] = ()
    """Rules that stand against the run."""
    cost: float | None = None
    latency: float | None = None
    calls: int | None = None
    """Calls of tools, where that is known."""
    metrics: dict[str, float] = {}
    """Scores that people or models gave it: trends, never a gate."""


class Results(Struct, frozen=True, kw_only=True):
    """The runs of one side of a comparison."""

    name: str
    """How it is called in the comparison: its file."""
    runs: tuple[Result, ...]
    contracts: tuple[tuple[str, str], ...] = ()
    """Id and digest of the contracts that judged, where that is known."""
    known_rules: tuple[str, ...] = ()
    """Every rule that judged, where that is known."""


class _Run(Struct, kw_only=True):
    case: str
    verdict: str
    model: str = ""
    epoch: int = 1
    findings: tuple[str, ...] = ()
    cost: float | None = None
    latency: float | None = None


class _Table(Struct, kw_only=True):
    runs: list[_Run]


def is_table(data: bytes) -> bool:
    """Return whether a document is a table of results, and no report."""
    try:
        value = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return "runs" in value and "traces" not in value


def of_table(data: bytes, name: str) -> Results:
    """Return the results of a table; raises `OutstepError` with every mistake in it."""
    place = Place(source=name)
    help = "write {runs: [{case, model, epoch, verdict, findings: [rule, …]}]}"
    try:
        table = msgspec.json.decode(data, type=_Table)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = str(error)
        sentence = f"`{name}` is no table of results: {told[:1].lower()}{told[1:]}"
        raise OutstepError(Problem(code="compare/malformed", sentence=sentence, place=place, help=help)) from None
    problems: list[Problem] = []
    seen: dict[tuple[str, str, int], int] = {}
    runs: list[Result] = []
    for number, run in enumerate(table.runs):
        pointer = Place(source=name, pointer=f"/runs/{number}")
        outcome = _SPELLINGS.get(run.verdict)
        if outcome is None:
            sentence = f"`{run.verdict}` is no verdict"
            problems.append(
                Problem(
                    code="compare/malformed", sentence=sentence, place=pointer, help=f"one of: {', '.join(OUTCOMES)}"
                )
            )
            continue
        first = seen.setdefault((run.case, run.model, run.epoch), number)
        if first != number:
            sentence = f"`{run.case}` of `{run.model}` has epoch {run.epoch} twice (also run {first})"
            problems.append(
                Problem(code="compare/malformed", sentence=sentence, place=pointer, help="number the epochs of a case")
            )
        runs.append(
            Result(
                case=run.case,
                model=run.model,
                subject={"model": run.model} if run.model else {},
                epoch=run.epoch,
                outcome=outcome,
                findings=tuple(dict.fromkeys(run.findings)),
                cost=run.cost,
                latency=run.latency,
            )
        )
    if not table.runs:
        problems.append(Problem(code="compare/empty", sentence=f"`{name}` has no runs", place=place, help=help))
    if problems:
        raise OutstepError(*problems)
    return Results(name=name, runs=tuple(runs))


def of_report(report: Report, name: str) -> Results:
    """Return the results of a report: each trace is the run of a case that has its id."""
    gating: dict[str, list[str]] = {}
    undecided: set[str] = set()
    for finding in report.findings:
        if report.gates(finding):
            gating.setdefault(finding.trace, []).append(finding.rule)
            if finding.verdict == "inconclusive":
                undecided.add(finding.trace)
    faulty = {fault.place.source.partition("!")[0] for fault in report.faults if fault.place is not None}
    lost = [fault for fault in report.faults if fault.place is None]
    runs = []
    for trace in report.traces:
        rules = {rule: verdict for one in trace.verdicts if one is not None for rule, verdict in one.items()}
        findings = tuple(dict.fromkeys(gating.get(trace.id, ())))
        broken = [rule for rule in findings if rules.get(rule) != "inconclusive"]
        outcome: Outcome = "fail" if broken else "inconclusive" if findings else "pass"
        if lost or None in trace.verdicts or faulty & {source.partition("!")[0] for source in trace.sources}:
            outcome = "error"
        runs.append(
            Result(
                case=trace.id,
                outcome=outcome,
                rules=rules,
                findings=findings,
                model=trace.subject.get("model", ""),
                subject=trace.subject,
                calls=trace.calls,
                metrics={metric.name: float(metric.value) for metric in trace.metrics},
            )
        )
    return Results(
        name=name,
        runs=tuple(runs),
        contracts=tuple((contract.id, contract.sha256) for contract in report.contracts),
        known_rules=tuple(dict.fromkeys(rule.rule for rule in report.rules)),
    )


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome that counts for several runs of one case."""
    return max(outcomes, key=OUTCOMES.index)


def has_several_models(one: Results, other: Results) -> bool:
    """Return whether a side has several models: each is held against itself then, and one that is gone is missed.

    Two sides of one model each are those two models against each other.
    """
    return any(len({run.model for run in side.runs}) > 1 for side in (one, other))

"""What recorded runs did within a boundary: plain data (schema `scope-report/v1`).

docs: docs/cli.md#scope
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from outstep.containment.report import VERDICTS, Run, Verdict
from outstep.errors import Problem

SCHEMA = "scope-report/v1"
PROFILES = ("coding-agent",)
"""Packs whose rules of the kind `scope` are a boundary without a file."""
EXIT: dict[Verdict, int] = {"contained": 0, "escaped": 1, "not_run": 2, "inconclusive": 3}


class Boundary(Struct, frozen=True, kw_only=True):
    """What the runs were held against."""

    name: str
    """Id of the scenario, `--allow`, or name of the profile."""
    rules: tuple[str, ...]
    """As `tool: pattern`, of a profile as `access: pattern`."""


class Deeds(Struct, frozen=True, kw_only=True):
    """How many actions came how far; each is counted in `attempted`."""

    attempted: int = 0
    refused: int = 0
    """By the harness, a sandbox, a person: not carried out."""
    executed: int = 0
    """Carried out, with success or without."""
    succeeded: int = 0


class JudgedRun(Struct, frozen=True, kw_only=True):
    """One recorded run."""

    id: str
    """Of the trace, or of the scenario of a run record."""
    source: str
    model: str = ""
    events: tuple[int, ...] = ()
    """For each action, the 1-based number of its event; none for a run record."""
    deeds: Deeds
    run: Run


class ScopeReport(Struct, frozen=True, kw_only=True):
    """All runs; equal input gives equal bytes."""

    schema: str
    tool: str
    boundary: Boundary
    runs: tuple[JudgedRun, ...]
    counts: dict[Verdict, int]
    deeds: Deeds
    exit_code: int
    faults: tuple[Problem, ...] = ()


def report_of(tool: str, boundary: Boundary, runs: Sequence[JudgedRun], faults: Sequence[Problem]) -> ScopeReport:
    """Return the report; the worst run decides, in the order not judged or not run, escaped, inconclusive."""
    codes = {EXIT[one.run.verdict] for one in runs} | ({2} if faults or not runs else set())
    return ScopeReport(
        schema=SCHEMA,
        tool=tool,
        boundary=boundary,
        runs=tuple(runs),
        counts={verdict: sum(one.run.verdict == verdict for one in runs) for verdict in VERDICTS},
        deeds=_sum(one.deeds for one in runs),
        exit_code=next((code for code in (2, 1, 3) if code in codes), 0),
        faults=tuple(faults),
    )


def deeds_of(run: Run) -> Deeds:
    """Count how far the actions of a run came."""
    fates = [action.fate for action in run.attempted_actions]
    return Deeds(
        attempted=len(fates),
        refused=fates.count("refused"),
        executed=fates.count("executed") + fates.count("succeeded"),
        succeeded=fates.count("succeeded"),
    )


def _sum(all_: Iterable[Deeds]) -> Deeds:
    deeds = list(all_)
    return Deeds(**{name: sum(getattr(one, name) for one in deeds) for name in Deeds.__struct_fields__})

"""Which rules are ready to warn or to block, from how they behaved on good and on known-bad traces.

A rule is ready to *warn* when good traces exercised it and it found nothing in any of them; to *block* when enough of
them did to say that it raises a false alarm in at most one of twenty runs (one-sided 95 %, Clopper-Pearson), nothing in
them was left undecided, and at least one known-bad trace made it fire, where there are any. docs/rollout.md
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract
from outstep.engine.monitor import judgement_of
from outstep.errors import Place
from outstep.findings import Level
from outstep.workflow.functions import ready
from outstep.workflow.gating import place_of
from outstep.workflow.traces import Trace

RISK = 0.05
"""The largest rate of false alarms that a rule that blocks may have, as far as the traces can tell."""
CONFIDENCE = 0.95

Advice = Literal["block", "warn", "observe", "off"]


class Standing(Struct, frozen=True, kw_only=True):
    """One rule, and what its traces say of it."""

    rule: str
    level: Level
    """As the contract has it."""
    good: int
    """Good traces that exercised it."""
    alarms: int
    """Of them, those in which it fired."""
    undecided: int
    risk: float
    """The highest rate of false alarms that the good traces leave possible."""
    bad: int
    """Known-bad traces that exercised it."""
    caught: int
    """Of them, those in which it fired."""
    ready: Advice
    why: str
    place: Place
    """Where the rule is written."""
    is_own: bool
    """Whether its level is written there, and not in the `levels` of a contract that includes it."""


def promote(contract: Contract, good: Iterable[Trace], bad: Iterable[Trace]) -> tuple[list[Standing], int, int]:
    """Return the standing of each rule of a contract, and how many traces there were of either kind."""
    on_good, goods = _counted(contract, good)
    on_bad, bads = _counted(contract, bad)
    found = []
    for index, rule in enumerate(contract.rules):
        if isinstance(rule.kind, Integrity):
            continue
        held, fired, undecided = on_good[index]
        caught_held, caught, caught_open = on_bad[index]
        exercised = held + fired + undecided
        risk = upper(fired, exercised)
        advice, why = _advice(exercised, fired, undecided, risk, caught, bads)
        found.append(
            Standing(
                rule=rule.id,
                level=rule.level,
                good=exercised,
                alarms=fired,
                undecided=undecided,
                risk=risk,
                bad=caught_held + caught + caught_open,
                caught=caught,
                ready=advice,
                why=why,
                place=place_of(contract, rule.spot),
                is_own=rule.spot.file == 0 and not place_of(contract, rule.spot).source.startswith("pack:"),
            )
        )
    return found, goods, bads


def upper(alarms: int, runs: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided Clopper-Pearson bound of a rate (1934): the highest that so few alarms leave possible."""
    if runs == 0 or alarms >= runs:
        return 1.0
    from math import comb

    low, high = alarms / runs, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(
            comb(runs, number) * middle**number * (1 - middle) ** (runs - number) for number in range(alarms + 1)
        )
        low, high = (middle, high) if tail > 1 - confidence else (low, middle)
    return high


def runs_for(risk: float, confidence: float = CONFIDENCE) -> int:
    """Return how many runs without an alarm it takes to say that alarms are rarer than a rate."""
    from math import ceil, log

    return ceil(log(1 - confidence) / log(1 - risk))


def _advice(exercised: int, alarms: int, undecided: int, risk: float, caught: int, bads: int) -> tuple[Advice, str]:
    if not exercised and not caught:
        return "observe", "no trace exercised it: nothing is known of it"
    if alarms:
        return "observe", f"it fired in {alarms} of {exercised} good traces: read them, and mend the rule or the agent"
    if not exercised:
        return "warn", "no good trace exercised it: whether it raises false alarms is not known"
    if undecided:
        return (
            "warn",
            f"it was undecided in {undecided} of {exercised} good traces: it would stop releases with exit code 3",
        )
    if risk > RISK:
        needed = runs_for(RISK) - exercised
        return "warn", f"{needed} more good traces that exercise it would do"
    if bads and not caught:
        return "warn", "it fired in no known-bad trace: whether it catches anything is not known"
    return "block", "no false alarm" + (f", and it caught {caught} of {bads} known-bad traces" if bads else "")


def _counted(contract: Contract, traces: Iterable[Trace]) -> tuple[list[tuple[int, int, int]], int]:
    """Return for each rule in how many traces it held, fired, and was undecided; and how many traces there were."""
    compiled = ready(contract)
    counts = [[0, 0, 0] for _ in contract.rules]
    places = {"satisfied": 0, "violated": 1, "inconclusive": 2}
    number = 0
    for trace in traces:
        number += 1
        run = compiled.run(trace.header)
        for event in trace.events:
            run.events += 1
            run.step(event)
        for index, verdict in enumerate(judgement_of(run, run.close()).verdicts):
            if verdict in places:
                counts[index][places[verdict]] += 1
    return [(held, fired, open_) for held, fired, open_ in counts], number

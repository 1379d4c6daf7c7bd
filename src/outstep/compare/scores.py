"""Score cards: how often the runs of each side passed, and how sure that is (docs/compare.md#scores)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.compare.results import Result, Results, has_several_models
from outstep.compare.statistics import holm, least_effect, mcnemar, pass_at, pass_hat, runs_needed, wilson

MOST_K = 10
LEAST_PAIRS = 6
"""With fewer pairs no outcome whatever gives a p-value below 0.05."""


class Score(Struct, frozen=True, kw_only=True):
    """The runs of one side, of one model or case among them."""

    name: str
    cases: int
    n: int
    """Runs that were judged; runs that broke do not count as either."""
    k: int
    """Of them, those that passed."""
    broken: int
    """Runs that did not run or could not be checked."""
    rate: float | None
    low: float
    high: float
    """The Wilson interval of the rate, 95 %."""
    pass_hat: dict[int, float] = {}
    """pass^k by k: how likely k runs of a case all pass, averaged over cases."""
    pass_at: dict[int, float] = {}
    """pass@k by k: how likely at least one of k runs of a case passes, averaged over cases."""
    cost: float | None = None
    latency: float | None = None


class Paired(Struct, frozen=True, kw_only=True):
    """Two sides, run by run."""

    before: str
    after: str
    pairs: int
    only_before: int
    """Pairs in which only the first passed."""
    only_after: int
    p: float
    """McNemar's exact test, two-sided, corrected by Holm where there are several."""
    says: str
    """What it comes to: `better`, `worse`, or how many runs more it would take."""


def score(runs: Sequence[Result], name: str) -> Score:
    """Return the score of some runs."""
    judged = [run for run in runs if run.outcome in ("pass", "fail", "inconclusive")]
    passes = sum(run.outcome == "pass" for run in judged)
    by_case: dict[tuple[str, str], list[Result]] = {}
    for run in judged:
        by_case.setdefault((run.model, run.case), []).append(run)
    low, high = wilson(passes, len(judged))
    fewest = min((len(some) for some in by_case.values()), default=0)
    hat: dict[int, float] = {}
    at: dict[int, float] = {}
    for k in range(1, min(fewest, MOST_K) + 1):
        counts = [(sum(run.outcome == "pass" for run in some), len(some)) for some in by_case.values()]
        hat[k] = sum(pass_hat(good, many, k) or 0.0 for good, many in counts) / len(counts)
        at[k] = sum(pass_at(good, many, k) or 0.0 for good, many in counts) / len(counts)
    return Score(
        name=name,
        cases=len({(run.model, run.case) for run in runs}),
        n=len(judged),
        k=passes,
        broken=len(runs) - len(judged),
        rate=passes / len(judged) if judged else None,
        low=low,
        high=high,
        pass_hat=hat,
        pass_at=at,
        cost=_mean([run.cost for run in judged if run.cost is not None]),
        latency=_mean([run.latency for run in judged if run.latency is not None]),
    )


def scores(sides: Sequence[Results]) -> list[Score]:
    """Return a score for each side; of a side with several models, one for each of them."""
    found: list[Score] = []
    for side in sides:
        models = list(dict.fromkeys(run.model for run in side.runs))
        if len(models) == 1:
            named = models[0] if len(sides) == 1 and models[0] else side.name
            found.append(score(side.runs, named))
            continue
        for model in models:
            name = model if len(sides) == 1 else f"{side.name}: {model}"
            found.append(score([run for run in side.runs if run.model == model], name))
    return found


def paired(sides: Sequence[Results]) -> list[Paired]:
    """Return each side held against the first, run by run: the same case, model where they share it, and epoch."""
    if len(sides) < 2:
        return []
    first, *others = sides
    told = [(other, *_discordant(first, other)) for other in others]
    values = holm([mcnemar(only_first, only_other) for _, _, only_first, only_other in told])
    return [
        Paired(
            before=first.name,
            after=other.name,
            pairs=pairs,
            only_before=only_first,
            only_after=only_other,
            p=value,
            says=_says(pairs, only_first, only_other, value),
        )
        for (other, pairs, only_first, only_other), value in zip(told, values, strict=True)
    ]


def _discordant(first: Results, other: Results) -> tuple[int, int, int]:
    with_model = has_several_models(first, other)

    def by_run(side: Results) -> dict[tuple[str, str, int], bool]:
        judged = [run for run in side.runs if run.outcome in ("pass", "fail", "inconclusive")]
        return {(run.case, run.model if with_model else "", run.epoch): run.outcome == "pass" for run in judged}

    one, two = by_run(first), by_run(other)
    both = [(one[key], two[key]) for key in one if key in two]
    return len(both), sum(a and not b for a, b in both), sum(b and not a for a, b in both)


def _says(pairs: int, only_before: int, only_after: int, p: float) -> str:
    if not pairs:
        return "nothing to pair"
    if pairs < LEAST_PAIRS:
        return f"too few to tell: {LEAST_PAIRS} paired runs are the least"
    if p < 0.05:
        return "better" if only_after > only_before else "worse"
    difference = abs(only_after - only_before) / pairs
    if difference == 0:
        return f"no difference seen; one of {least_effect(pairs):.0%} or more would most likely show"
    more = max(1, runs_needed(difference) - pairs)
    return f"inconclusive: run about {more} more of each"


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None

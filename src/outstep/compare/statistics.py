"""Numbers about runs that pass or fail: how sure a rate is, and whether two of them differ.

Wilson 1927 (score interval), McNemar 1947 in its exact binomial form, Holm 1979 (several comparisons), and the
unbiased estimators of pass@k (Chen et al. 2021) and pass^k (Yao et al. 2024). All exact but for the normal quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist

CONFIDENCE = 0.95


def wilson(passes: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the score interval of a rate; of no runs it is everything."""
    if runs == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = passes / runs
    middle = (rate + z * z / (2 * runs)) / (1 + z * z / runs)
    half = z * sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if passes == 0 else max(0.0, middle - half)
    high = 1.0 if passes == runs else min(1.0, middle + half)
    return low, high


def pass_hat(passes: int, runs: int, k: int) -> float | None:
    """Return pass^k: how likely k further runs all pass; none with fewer than k runs."""
    if not 0 < k <= runs:
        return None
    return float(Fraction(comb(passes, k), comb(runs, k)))


def pass_at(passes: int, runs: int, k: int) -> float | None:
    """Return pass@k: how likely at least one of k further runs passes; none with fewer than k runs."""
    if not 0 < k <= runs:
        return None
    return float(1 - Fraction(comb(runs - passes, k), comb(runs, k)))


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p-value that two paired series pass equally often.

    `only_first` are pairs in which only the first passed. Pairs that agree say nothing.
    """
    pairs = only_first + only_second
    if pairs == 0:
        return 1.0
    tail = sum(comb(pairs, number) for number in range(min(only_first, only_second) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**pairs)))


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several, in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = highest
    return corrected


def fall(pairs: Sequence[tuple[int, int]], confidence: float = CONFIDENCE) -> list[bool]:
    """Return of each of several paired series whether it passes less often than before, beyond chance.

    `pairs` are how many passed only before, and only after. Series whose pairs cannot tell, whatever they were, take
    nothing from the others (Tarone 1990).
    """
    alpha = 1 - confidence
    able = [at for at, (before, after) in enumerate(pairs) if mcnemar(before + after, 0) < alpha]
    values = dict(zip(able, holm([mcnemar(*pairs[at]) for at in able]), strict=True))
    return [values.get(at, 1.0) < alpha and before > after for at, (before, after) in enumerate(pairs)]


def least_effect(runs: int, rate: float = 0.5, confidence: float = CONFIDENCE, power: float = 0.8) -> float:
    """Return the smallest difference of two rates that so many runs on either side would most likely show.

    By the normal approximation around `rate`; 1 where no difference would.
    """
    if runs == 0:
        return 1.0
    normal = NormalDist()
    reach = normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(power)
    return min(1.0, reach * sqrt(2 * rate * (1 - rate) / runs))


def runs_needed(effect: float, rate: float = 0.5, confidence: float = CONFIDENCE, power: float = 0.8) -> int:
    """Return how many runs on either side would most likely show a difference of two rates."""
    if effect <= 0:
        raise ValueError("no number of runs shows a difference of nothing")
    normal = NormalDist()
    reach = normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(power)
    needed = 2 * rate * (1 - rate) * (reach / effect) ** 2
    return int(needed) + (needed > int(needed))

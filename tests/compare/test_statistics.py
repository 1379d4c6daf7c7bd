"""Numbers about runs, held against published values and against counting."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from outstep.compare.statistics import fall, holm, least_effect, mcnemar, pass_at, pass_hat, runs_needed, wilson


@pytest.mark.parametrize(
    ("passes", "runs", "low", "high"),
    [
        # Newcombe 1998, table I, the score method without continuity correction.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_the_wilson_interval_is_the_published_one(passes: int, runs: int, low: float, high: float) -> None:
    assert list(wilson(passes, runs)) == pytest.approx([low, high], abs=5e-5)


def test_of_no_runs_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert pass_hat(0, 0, 1) is None
    assert least_effect(0) == 1.0


@pytest.mark.parametrize("runs", range(1, 7))
def test_pass_hat_and_pass_at_count_the_choices(runs: int) -> None:
    for passes, k in product(range(runs + 1), range(1, runs + 1)):
        outcomes = [number < passes for number in range(runs)]
        chosen = list(combinations(outcomes, k))
        assert pass_hat(passes, runs, k) == pytest.approx(sum(map(all, chosen)) / len(chosen))
        assert pass_at(passes, runs, k) == pytest.approx(sum(map(any, chosen)) / len(chosen))
    assert pass_hat(0, runs, runs + 1) is None
    assert pass_at(0, runs, 0) is None


@pytest.mark.parametrize(("only_first", "only_second"), list(product(range(6), range(6))))
def test_mcnemar_counts_the_ways_that_are_as_unlikely(only_first: int, only_second: int) -> None:
    pairs = only_first + only_second
    fewer = min(only_first, only_second)
    ways = [sum(flips) for flips in product((0, 1), repeat=pairs)]
    tail = sum(number <= fewer for number in ways) / len(ways)
    assert mcnemar(only_first, only_second) == pytest.approx(min(1.0, 2 * tail))


def test_holm_corrects_in_steps_and_keeps_the_order() -> None:
    # Holm 1979: the smallest times n, the next times n - 1, never below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_fall_is_told_from_chance_and_series_that_cannot_tell_take_nothing() -> None:
    assert fall([(6, 0)]) == [True]
    assert fall([(5, 0)]) == [False]
    assert fall([(0, 6)]) == [False]
    assert fall([(6, 0), (6, 0)]) == [False, False]  # Holm: 2 · 0.031
    assert fall([(6, 0), *[(2, 2)] * 50]) == [True, *[False] * 50]
    assert fall([(9, 0), (3, 3)]) == [True, False]
    assert fall([]) == []


def test_more_runs_show_smaller_effects() -> None:
    assert least_effect(100) == pytest.approx(0.198, abs=1e-3)
    assert least_effect(400) == pytest.approx(0.099, abs=1e-3)
    assert runs_needed(0.198) == 101
    with pytest.raises(ValueError, match="nothing"):
        runs_needed(0)

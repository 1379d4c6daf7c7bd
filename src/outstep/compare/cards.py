"""Cards: several sides of results, how each did, and how each stands against the first (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.compare.results import Results
from outstep.compare.scores import Paired, Score, paired, scores
from outstep.compare.transitions import Comparison, compare
from outstep.compare.versions import Version, versions


class Card(Struct, frozen=True, kw_only=True):
    """Several sides: how each did, and how each stands against the first."""

    sides: tuple[str, ...]
    scores: tuple[Score, ...]
    paired: tuple[Paired, ...]
    comparisons: tuple[Comparison, ...]
    versions: tuple[Version, ...] = ()
    """What acted, where that was not the same in all runs."""


def card(sides: Sequence[Results]) -> Card:
    """Return what is to be said about some sides, the first of which is what the others are held against."""
    first, *others = sides
    tests = tuple(paired(sides))
    return Card(
        sides=tuple(side.name for side in sides),
        scores=tuple(scores(sides)),
        paired=tests,
        comparisons=tuple(
            compare(first, other, passes_less=test.says == "worse") for other, test in zip(others, tests, strict=True)
        ),
        versions=tuple(versions(sides)),
    )

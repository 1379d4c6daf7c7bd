"""Miners: each proposes rules of one sort, from what was seen in every run."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.miners import bounds, chains, counts, last, once, sources, states, steps
from outstep.draft.observed import Observed

MINERS = (sources, chains, states, bounds, steps, once, last, counts)


def candidates(observed: Observed) -> Iterator[Candidate]:
    """Yield everything that may hold."""
    for miner in MINERS:
        yield from miner.mine(observed)

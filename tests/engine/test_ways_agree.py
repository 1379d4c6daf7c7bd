"""Generated code, the exact run and batches of a stream give the same rulings and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outstep.contracts.loader import load_contract
from outstep.engine import Compiled
from outstep.events import Event, Header
from tests.engine.chance import contracts, traces
from tests.engine.ways import batched, live

Recorded = tuple[Header, list[Event]]


def hold_equal(text: str, recorded: Sequence[Recorded], sizes: Sequence[int]) -> None:
    """Compare all ways of judging some traces."""
    compiled = Compiled(load_contract(text.encode()))
    exact = [live(compiled, *trace, exact=True) for trace in recorded]
    for trace, expected in zip(recorded, exact, strict=True):
        assert live(compiled, *trace) == expected, "generated code says otherwise than the exact run"
    for size in sizes:
        assert batched(compiled, recorded, size) == exact, f"batches of {size} say otherwise"


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(contracts(), traces())
def test_generated_code_and_batches_agree_with_the_exact_run(text: str, trace: Recorded) -> None:
    hold_equal(text, [trace], (1, 3, 1000))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(contracts(), st.lists(traces(), min_size=2, max_size=4), st.sampled_from((1, 2, 5, 1000)))
def test_nothing_leaks_from_one_trace_of_a_stream_to_the_next(text: str, recorded: list[Recorded], size: int) -> None:
    hold_equal(text, recorded, (size,))


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_stream_without_traces_has_no_judgement(size: int) -> None:
    compiled = Compiled(load_contract(b"outstep: contract/v1\nrules: [{id: R, never: message}]\n"))
    assert batched(compiled, [], size) == []

"""Generated code, the exact run and batches of a stream give the same rulings and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from outstep.contracts.loader import load_contract
from outstep.engine import Compiled
from outstep.errors import OutstepError
from outstep.events import Event, Header
from tests.engine.chance import contracts, traces
from tests.engine.ways import batched, live

Recorded = tuple[Header, list[Event]]


def compiled_of(text: str) -> Compiled | None:
    """Return a contract made ready; none where chance put together what the loader refuses."""
    try:
        return Compiled(load_contract(text.encode()))
    except OutstepError as error:
        allowed = {"contract/not-bound-here", "contract/useless-rule", "contract/key-not-for-kind", "contract/type"}
        allowed |= {"contract/unbounded-where", "contract/selector", "contract/expression"}
        assert all(problem.code in allowed for problem in error.problems), error
        return None


def hold_equal(compiled: Compiled, recorded: Sequence[Recorded], size: int) -> None:
    """Compare all ways of judging some traces."""
    exact = [live(compiled, *trace, exact=True) for trace in recorded]
    for trace, expected in zip(recorded, exact, strict=True):
        assert live(compiled, *trace) == expected
    assert batched(compiled, recorded, size) == exact


@settings(max_examples=400, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(contracts(), traces())
def test_generated_code_and_batches_agree_with_the_exact_run(text: str, trace: Recorded) -> None:
    compiled = compiled_of(text)
    assume(compiled is not None)
    assert compiled is not None
    for size in (1, 3, 1000):
        hold_equal(compiled, [trace], size)


@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(contracts(), st.lists(traces(), min_size=2, max_size=4), st.sampled_from((1, 2, 5, 1000)))
def test_nothing_leaks_from_one_trace_of_a_stream_to_the_next(text: str, recorded: list[Recorded], size: int) -> None:
    compiled = compiled_of(text)
    assume(compiled is not None)
    assert compiled is not None
    hold_equal(compiled, recorded, size)

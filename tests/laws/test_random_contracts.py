"""Contracts by chance over traces by chance: whatever is asked, the engine says what the reference says.

Every kind and key, hidden values, approvals, repeated and empty ids, orphans, clocks that fall, three lanes, gaps.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from outstep.contracts.loader import load_contract
from outstep.events import Event, Header
from tests.engine.chance import contracts, traces
from tests.laws.harness import described, exact_outcomes
from tests.laws.shown import shown_trace
from tests.reference import evaluate


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(contracts(), traces())
def test_the_engine_says_what_the_reference_says(text: str, trace: tuple[Header, list[Event]]) -> None:
    contract = load_contract(text.encode())
    expected = described(evaluate(contract, *trace))
    found = described(exact_outcomes(contract, *trace))
    different = {rule: (expected[rule], found[rule]) for rule in expected if expected[rule] != found[rule]}
    assert not different, f"{different}\n{text[text.index('rules:') :]}\n{shown_trace(trace)}"

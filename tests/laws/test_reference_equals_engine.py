"""The compiled engine says what the reference says, instance by instance."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from outstep.contracts.loader import load_contract
from outstep.contracts.model import Contract
from outstep.tracetext import parse_trace
from tests.engine.casefile import Case, case_files, read_cases
from tests.engine.functions import functions_of
from tests.laws.harness import described, engine_outcomes, exact_outcomes
from tests.laws.shown import shown_trace
from tests.reference import evaluate
from tests.reference.contracts import contract
from tests.reference.generate import Recorded, small_traces, traces


def hold_equal(trace: Recorded, of: Contract | None = None) -> None:
    """Ask the reference and both ways of the engine, and compare every rule."""
    checked = contract() if of is None else of
    expected = described(evaluate(checked, *trace, functions_of(checked)))
    for name, way in (("batch", engine_outcomes), ("exact", exact_outcomes)):
        found = described(way(checked, *trace))
        different = {rule: (expected[rule], found[rule]) for rule in expected if expected[rule] != found[rule]}
        assert not different, f"{name}: {different}\n{shown_trace(trace)}"


CASES = [(path.stem, case) for path in case_files() for case in read_cases(path)]


@pytest.mark.parametrize(("stem", "case"), CASES, ids=[f"{stem}:{case.name}" for stem, case in CASES])
def test_on_every_written_case(stem: str, case: Case) -> None:
    checked = load_contract(case.contract.encode(), name=f"{stem}.yaml")
    hold_equal(parse_trace(case.trace), checked)


@pytest.mark.parametrize("length", [0, 1, 2])
@pytest.mark.parametrize("sub", [False, True])
def test_on_every_small_trace(length: int, sub: bool) -> None:
    for trace in small_traces(length, sub=sub):
        hold_equal(trace)


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("sub", [False, True])
def test_on_every_small_trace_with_a_gap(length: int, sub: bool) -> None:
    for trace in small_traces(length, gaps=1, sub=sub):
        hold_equal(trace)


@settings(max_examples=300)
@given(traces(gaps=False, most=12))
def test_on_larger_traces(trace: Recorded) -> None:
    hold_equal(trace)


@settings(max_examples=300)
@given(traces(gaps=True, most=12))
def test_on_larger_traces_with_gaps(trace: Recorded) -> None:
    hold_equal(trace)

"""Fed one by one, events give the findings that they give in one batch, and as early as can be."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from outstep.events import Event, RunEnd
from tests.laws.harness import described, engine_outcomes, rulings_by_event
from tests.laws.shown import shown_trace
from tests.reference import evaluate
from tests.reference.contracts import contract
from tests.reference.generate import Recorded, small_traces, traces


def hold_batch_equals_stream(trace: Recorded) -> None:
    """Compare the two ways on one trace."""
    checked = contract()
    batch = described(engine_outcomes(checked, *trace))
    stream = described(engine_outcomes(checked, *trace, streaming=True))
    different = {rule: (batch[rule], stream[rule]) for rule in batch if batch[rule] != stream[rule]}
    assert not different, f"{different}\n{shown_trace(trace)}"


@pytest.mark.parametrize("length", [0, 1, 2])
def test_batch_equals_stream_on_every_small_trace(length: int) -> None:
    for trace in small_traces(length, gaps=1, sub=True):
        hold_batch_equals_stream(trace)


@settings(max_examples=300)
@given(traces(most=16))
def test_batch_equals_stream_on_larger_traces(trace: Recorded) -> None:
    hold_batch_equals_stream(trace)


# What is settled stays settled


@settings(max_examples=150)
@given(traces(most=10))
def test_a_ruling_is_never_taken_back(trace: Recorded) -> None:
    """The prefix law: what was emitted after some events is among the findings of every continuation."""
    checked = contract()
    header, events = trace
    final = described(engine_outcomes(checked, header, events))
    for _, rulings in rulings_by_event(checked, header, events):
        for ruling in rulings:
            rule = checked.rules[ruling.rule].id
            found = (-1 if ruling.seq is None else ruling.seq, ruling.key, ruling.verdict)
            assert found in final[rule][1], f"{rule} {found}\n{shown_trace(trace)}"


def continuations(trace: Recorded, length: int) -> list[list[Event]]:
    """Return the events of small traces that begin with the first `length` events of this one."""
    header, events = trace
    begun = events[:length]
    return [
        other
        for more in range(3)
        for other_header, other in small_traces(length + more)
        if other_header == header and other[:length] == begun
    ]


def test_a_violation_is_reported_as_soon_as_no_continuation_can_mend_it() -> None:
    """The earliest report, by comparison with every extension by up to two events (and the end)."""
    checked = contract()
    late: list[str] = []
    for trace in small_traces(2):
        header, events = trace
        settled: dict[int, set[tuple[str, int, str]]] = {}
        known: set[tuple[str, int, str]] = set()
        for seq, rulings in rulings_by_event(checked, header, events):
            for ruling in rulings:
                if ruling.verdict == "violated":
                    known.add((checked.rules[ruling.rule].id, -1 if ruling.seq is None else ruling.seq, ruling.key))
            if seq is not None:
                settled[seq] = set(known)
        for length in range(1, len(events)):
            if isinstance(events[length - 1], RunEnd):
                continue
            certain: set[tuple[str, int, str]] | None = None
            for other in continuations(trace, length):
                violated = {
                    (rule, seq, key)
                    for rule, outcome in evaluate(checked, header, other).items()
                    for seq, key, verdict in outcome.findings
                    if verdict == "violated"
                }
                certain = violated if certain is None else certain & violated
            missing = {x for x in (certain or set()) - settled[events[length - 1].seq] if x[1] >= 0}
            late += [f"{x} after {length} events\n{shown_trace(trace)}" for x in sorted(missing)]
    assert not late, "\n".join(late[:5])


@settings(max_examples=150)
@given(traces(gaps=False, most=8))
def test_the_trace_up_to_the_last_witness_reproduces_a_violation(trace: Recorded) -> None:
    """A violation that was emitted at an event stands in the trace that ends right behind that event."""
    checked = contract()
    header, events = trace
    if not isinstance(events[-1], RunEnd):
        return
    seen: list[Event] = []
    for (seq, rulings), event in zip(rulings_by_event(checked, header, events), events, strict=False):
        if isinstance(event, RunEnd):
            break
        seen.append(event)
        if not rulings:
            continue
        cut = described(engine_outcomes(checked, header, [*seen, RunEnd(seq=len(seen))]))
        for ruling in rulings:
            if ruling.verdict == "violated":
                rule = checked.rules[ruling.rule].id
                found = (-1 if ruling.seq is None else ruling.seq, ruling.key, "violated")
                assert found in cut[rule][1], f"{rule} {found} at {seq}\n{shown_trace(trace)}"

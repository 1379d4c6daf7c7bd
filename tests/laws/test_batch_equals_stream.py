"""Fed one by one, events give the findings that they give in one batch, and as early as can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings

from outstep.codec import encode
from outstep.events import Event, Issued, RunEnd
from tests.laws.harness import OF_THE_RULE, described, engine_outcomes, rulings_by_event
from tests.laws.shown import shown_trace
from tests.reference import evaluate
from tests.reference.contracts import contract
from tests.reference.generate import Recorded, Step, small_traces, traces


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
            if ruling.reason in OF_THE_RULE:
                continue
            rule = checked.rules[ruling.rule].id
            found = (-1 if ruling.seq is None else ruling.seq, ruling.key, ruling.verdict)
            assert found in final[rule][1], f"{rule} {found}\n{shown_trace(trace)}"


FEW_STEPS = (
    Step("call", tool="a", key="x"),
    Step("call", tool="b", key="x"),
    Step("call", tool="b", key="x", opens=False),
    Step("result", outcome="ok"),
    Step("result", outcome="failed"),
    Step("user"),
    Step("say", text="x is done"),
)
"""Enough to mend every violation that can be mended, within two steps."""
Violation = tuple[str, int, str]


def with_turns(length: int) -> Iterator[Recorded]:
    """Yield the small traces of a format that has responses: any call may join the one in progress."""
    for header, events in small_traces(length, steps=FEW_STEPS):
        if all(event.turn is not None for event in events if isinstance(event, Issued)):
            yield header, events


def begun(events: Sequence[Event], length: int) -> bytes:
    """Return what tells the first `length` events of a trace from others."""
    return encode(list(events[:length]))


def certain_violations(most: int) -> dict[bytes, set[Violation]]:
    """Return what is violated in every trace that begins with some events and goes on for up to two more."""
    found: dict[bytes, set[Violation]] = {}
    for length in range(most + 1):
        for header, events in with_turns(length):
            outcomes = evaluate(contract(), header, events)
            violated = {
                (rule, seq, key)
                for rule, outcome in outcomes.items()
                for seq, key, verdict in outcome.findings
                if verdict == "violated" and seq >= 0
            }
            for cut in range(max(0, length - 2), length + 1):
                start = begun(events, cut)
                found[start] = found[start] & violated if start in found else violated
    return found


def test_a_violation_is_reported_as_soon_as_no_continuation_can_mend_it() -> None:
    """The earliest report, by comparison with every extension by up to two events (and the end)."""
    checked = contract()
    certain = certain_violations(4)
    late: list[str] = []
    for header, events in with_turns(2):
        known: set[Violation] = set()
        for (_, rulings), length in zip(rulings_by_event(checked, header, events[:-1]), (1, 2), strict=False):
            known |= {
                (checked.rules[ruling.rule].id, ruling.seq, ruling.key)
                for ruling in rulings
                if ruling.verdict == "violated" and ruling.seq is not None
            }
            missing = certain[begun(events, length)] - known
            late += [f"{x} after {length} events\n{shown_trace((header, events))}" for x in sorted(missing)]
    assert not late, "\n".join(late[:5])


@settings(max_examples=150)
@given(traces(gaps=False, most=8))
def test_the_trace_up_to_the_last_witness_reproduces_a_violation(trace: Recorded) -> None:
    """A violation that was emitted at an event stands in the trace that ends right behind that event."""
    checked = contract()
    header, events = trace
    if not events or not isinstance(events[-1], RunEnd):
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

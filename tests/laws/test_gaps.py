"""A gap hides but never lies: a decided verdict is the same on every completion (SEMANTICS section 7)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from outstep.contracts.model import Contract
from outstep.events import Event, Gap, Header, Issued, RunEnd
from tests.laws.harness import engine_outcomes, rule_ids
from tests.laws.shown import shown_trace
from tests.reference import RuleOutcome, evaluate
from tests.reference.completions import completions
from tests.reference.contracts import contract
from tests.reference.generate import Recorded, renumbered, small_traces, traces
from tests.reference.known import Trace, is_well_formed

Judge = Callable[[Contract, Header, list[Event]], dict[str, RuleOutcome]]

JUDGES: dict[str, Judge] = {"reference": evaluate, "engine": engine_outcomes}


def of_the_run() -> list[str]:
    """Return the rules with `judge: run`; where only the record counts, gaps count as nothing."""
    judged = {rule.id for rule in contract().rules if rule.judge == "run"}
    return [rule for rule in rule_ids(contract(), integrity=False) if rule in judged]


def hold_law(judge: Judge, hiding: Recorded, whole: Recorded) -> None:
    """Compare the verdicts on a trace with a gap with those on one of its completions."""
    seen = judge(contract(), *hiding)
    true = judge(contract(), *whole)
    lies = {
        rule: (seen[rule].verdict, true[rule].verdict)
        for rule in of_the_run()
        if seen[rule].verdict not in ("inconclusive", true[rule].verdict)
    }
    assert not lies, f"{lies}\n{shown_trace(hiding)}\ncompletion:\n{shown_trace(whole)}"


def has_gap(trace: Recorded) -> bool:
    """Return whether something may be hidden in a trace."""
    return any(isinstance(event, Gap) for event in trace[1])


@pytest.mark.parametrize("name", list(JUDGES))
@pytest.mark.parametrize("length", [1, 2])
def test_on_every_completion_of_every_small_trace(name: str, length: int) -> None:
    for trace in small_traces(length, gaps=1):
        if has_gap(trace):
            for whole in completions(trace, max_events=2 if length == 1 else 1):
                hold_law(JUDGES[name], trace, whole)


def runs_as_gaps(trace: Recorded, first: int, length: int) -> list[Recorded]:
    """Return the trace with a run of events replaced by a gap: between decisions, or stamped with one turn."""
    header, events = trace
    hidden = events[first : first + length]
    if any(isinstance(event, RunEnd) for event in hidden):
        return [(header, events[:first])]
    issued = [event for event in hidden if isinstance(event, Issued)]
    turns = {event.turn for event in issued}
    types = tuple(dict.fromkeys(event.__struct_config__.tag for event in hidden))
    visible = {event.turn for event in events if isinstance(event, Issued) and event not in hidden}
    found: list[Recorded] = []
    for turn in (None, *sorted(turn for turn in turns if turn is not None)):
        if turn is None and any(turn in visible for turn in turns if turn is not None):
            continue  # it would hide a part of a decision
        if turn is not None and (turns != {turn} or len({getattr(event, "agent", "") for event in hidden}) > 1):
            continue
        agent = None if turn is None else issued[0].agent
        for may_hide in ((), types):
            gap = Gap(seq=0, turn=turn, agent=agent, may_hide=may_hide)  # type: ignore[arg-type]
            hiding = renumbered([*events[:first], gap, *events[first + length :]])
            if is_well_formed(header, hiding):
                found.append((header, hiding))
    return found


@pytest.mark.parametrize("name", list(JUDGES))
@settings(max_examples=150)
@given(data=st.data())
def test_whatever_run_of_events_a_gap_takes_the_place_of(name: str, data: st.DataObject) -> None:
    whole = data.draw(traces(gaps=False, most=9))
    first = data.draw(st.integers(0, len(whole[1]) - 1)) if whole[1] else 0
    length = data.draw(st.integers(1, 4))
    for hiding in runs_as_gaps(whole, first, length):
        hold_law(JUDGES[name], hiding, whole)


@pytest.mark.parametrize("name", list(JUDGES))
@settings(max_examples=60)
@given(data=st.data())
def test_on_completions_of_larger_traces_with_one_gap(name: str, data: st.DataObject) -> None:
    trace = data.draw(traces(gaps=True, most=7))
    assume(len(Trace(*trace).holes) == 1)
    found = list(completions(trace, max_events=1))
    for whole in data.draw(st.lists(st.sampled_from(found), max_size=8)) if found else []:
        hold_law(JUDGES[name], trace, whole)

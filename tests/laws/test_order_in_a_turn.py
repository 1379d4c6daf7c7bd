"""The order inside one response never matters (SEMANTICS section 9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.contracts.model import Contract
from outstep.events import AssistantMessage, Event, Header, ToolCall, ToolResult
from tests.laws.harness import engine_outcomes
from tests.laws.shown import shown_trace
from tests.reference import RuleOutcome, evaluate
from tests.reference.contracts import contract
from tests.reference.generate import Recorded, renumbered, traces
from tests.reference.known import is_well_formed

Judge = Callable[[Contract, Header, list[Event]], dict[str, RuleOutcome]]
JUDGES: dict[str, Judge] = {"reference": evaluate, "engine": engine_outcomes}

OF_PLACES = ("REQUIRE_SAID", "REQUIRE_CALLS", "THEN_EVENTS", "THEN_SECONDS", "THEN_TURNS")
"""Rules that ask for the very order: what was said before a call, distances in events and seconds, and whether a
result came after a call, which the order *after* (SEMANTICS section 2) reads off their places."""


def swapped(trace: Recorded, first: int) -> Recorded | None:
    """Return the trace with two neighbours swapped, if they may stand either way inside one response."""
    header, events = trace
    if first + 1 >= len(events) or not _may_swap(events[first], events[first + 1], events):
        return None
    other = renumbered([*events[:first], events[first + 1], events[first], *events[first + 2 :]])
    return (header, other) if is_well_formed(header, other) else None


def _may_swap(a: Event, b: Event, events: list[Event]) -> bool:
    """Two calls of one turn; or a result of an earlier call and a call or message of the turn in progress."""
    if isinstance(a, ToolCall) and isinstance(b, ToolCall):
        return a.turn is not None and (a.turn, a.agent) == (b.turn, b.agent)
    result, issued = (a, b) if isinstance(a, ToolResult) else (b, a)
    if not isinstance(result, ToolResult) or not isinstance(issued, ToolCall | AssistantMessage):
        return False
    if issued.turn is None or result.agent != issued.agent:
        return False
    if isinstance(issued, ToolCall) and issued.call_id == result.call_id:
        return False
    before = events[: min(events.index(a), events.index(b))]
    return any(
        isinstance(x, ToolCall | AssistantMessage) and (x.turn, x.agent) == (issued.turn, issued.agent) for x in before
    )


def of_the_order(outcomes: dict[str, RuleOutcome]) -> dict[str, str]:
    """Return the verdicts of the rules that do not ask for places."""
    return {rule: outcome.verdict for rule, outcome in outcomes.items() if rule not in OF_PLACES}


@pytest.mark.parametrize("name", list(JUDGES))
@settings(max_examples=200)
@given(data=st.data())
def test_swapping_neighbours_inside_a_response_changes_no_verdict(name: str, data: st.DataObject) -> None:
    judge = JUDGES[name]
    trace = data.draw(traces(gaps=False, most=10))
    before = of_the_order(judge(contract(), *trace))
    for first in range(len(trace[1])):
        other = swapped(trace, first)
        if other is not None:
            after = of_the_order(judge(contract(), *other))
            different = {rule: (before[rule], after[rule]) for rule in before if before[rule] != after[rule]}
            assert not different, f"{different}\n{shown_trace(trace)}\nswapped at {first}"

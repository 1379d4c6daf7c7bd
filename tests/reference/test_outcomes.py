"""SEMANTICS sections 1 and 3: pairing, outcomes, approvals, the final message."""

from __future__ import annotations

import pytest

from outstep.contracts.names import ToolNames
from outstep.events import ToolResult
from outstep.tracetext import parse_trace

from .helping import contract_of, outcome_of_rule
from .outcomes import approval_at, final_message, pair, settled_outcome

NONE = None  # a key that is missing or hidden

TABLE = [
    # recorded, denied_when, unknown_when, fails_when, succeeds_when, has_fails, has_succeeds, outcome
    ("denied", False, True, False, False, True, False, "denied"),
    ("failed", True, False, False, False, True, False, "denied"),
    ("failed", False, True, True, False, True, False, "unknown"),
    ("failed", False, False, False, False, True, False, "failed"),
    ("failed", False, NONE, False, False, True, False, "unknown"),
    ("failed", False, False, NONE, False, True, False, "failed"),
    ("failed", False, False, False, True, False, True, "failed"),
    ("ok", False, False, True, False, True, False, "failed"),
    ("ok", False, False, False, False, True, False, "ok"),
    ("ok", False, False, NONE, False, True, False, "unknown"),
    ("ok", False, False, False, False, False, True, "unknown"),
    ("ok", False, False, False, True, False, True, "ok"),
    ("unknown", False, False, True, False, True, False, "failed"),
    ("unknown", False, False, False, False, True, False, "unknown"),
    ("unknown", False, False, False, True, False, True, "ok"),
    ("unknown", False, False, NONE, True, True, True, "unknown"),
    ("unrecorded", False, False, False, False, True, False, "ok"),
    ("unrecorded", False, False, NONE, False, True, False, "unknown"),
    ("unrecorded", False, False, False, False, False, False, "unknown"),
    ("unrecorded", False, False, False, True, True, True, "ok"),
    ("unrecorded", False, False, False, False, True, True, "unknown"),
    ("unrecorded", False, True, False, False, False, False, "unknown"),
]


@pytest.mark.parametrize("row", TABLE)
def test_outcome_table(row: tuple[str, bool, bool, bool, bool, bool, bool, str]) -> None:
    recorded, denied, unknown, fails, succeeds, has_fails, has_succeeds, expected = row
    found = settled_outcome(recorded, denied, unknown, fails, succeeds, has_fails=has_fails, has_succeeds=has_succeeds)
    assert found == expected


def pairs(text: str) -> dict[int, int]:
    _, events = parse_trace(text)
    return {result: call.seq for result, call in pair(events).call_of.items()}


def test_a_result_answers_the_call_of_its_id() -> None:
    assert pairs("call a\ncall b\nresult c1 ok\nresult c2 ok") == {2: 0, 3: 1}


def test_among_calls_of_one_response_with_one_id_a_result_answers_the_oldest_that_has_none() -> None:
    text = "call a as x turn 1\ncall b as x turn 1\nresult x ok\nresult x ok"
    assert pairs(text) == {2: 0, 3: 1}
    assert pairs(text.replace(" turn 1", "")) == {2: 0, 3: 1}, "without responses, between two user messages"


def test_an_id_used_again_in_another_response_is_paired_there() -> None:
    text = "call a as x turn 1\ncall a as x turn 2\nresult x ok\nresult x ok"
    _, events = parse_trace(text)
    found = pair(events)
    assert found.call_of[2].seq == 1
    assert found.second[3].seq == 1


def test_a_result_before_its_call_is_no_evidence() -> None:
    _, events = parse_trace("result x ok\ncall a as x")
    found = pair(events)
    assert not found.call_of
    assert found.early[0].seq == 1
    assert not found.orphans


def test_nothing_is_joined_by_an_empty_id() -> None:
    assert pairs('call a as ""\nresult "" ok') == {}
    assert pairs('call a as ""\nresult "" ok of 0') == {1: 0}


def test_a_second_result_and_an_orphan_are_no_evidence() -> None:
    _, events = parse_trace("call a as x\nresult x failed\nresult x ok\nresult y ok")
    found = pair(events)
    assert list(found.call_of) == [1]
    assert list(found.second) == [2]
    assert found.orphans == {3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call a\nresult ok", None),
        ("approval a allowed\ncall a\nresult ok", "allowed"),
        ("approval b allowed\ncall a\nresult ok", None),
        ("call a\napproval a allowed\nresult c1 ok", None),
        ("call a\napproval c1 asked\napproval c1 denied\nresult c1 ok", "denied"),
        ("approval a allowed\ncall a\napproval c1 denied\nresult c1 ok", "denied"),
        ("call a\nresult c1 ok\napproval c1 allowed", None),
    ],
)
def test_approval_is_the_last_decision_on_the_call_before_the_result(text: str, expected: str | None) -> None:
    _, events = parse_trace(text)
    (result,) = [event for event in events if isinstance(event, ToolResult)]
    found = approval_at(result, pair(events).call_of[result.seq], events, ToolNames(contract_of("never: call a")))
    assert (None if found is None else found.decision) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('say "so" turn 1', 0),
        ('call a turn 1\nsay "so" turn 1', None),
        ('say "so" turn 1\ncall a turn 1', None),
        ('call a turn 1\nresult ok\nsay "so" turn 2', 2),
        ('say "so" turn 1\nresult x ok\nuser "thanks"', 0),
        ('say "so" turn 1\ncall a turn 2', None),
        ('say "so" turn 1\ncall a turn 2 lane sub', 0),
        ("call a", None),
    ],
)
def test_the_final_message_has_no_call_in_its_turn_or_later(text: str, expected: int | None) -> None:
    _, events = parse_trace(text)
    found = final_message(events)
    assert (None if found is None else found.seq) == expected


READS = {
    "structured content": ('{"x": 1}', "data.x == 1"),
    "text that is one object": ('"{\\"x\\": 1}"', "data.x == 1"),
    "text that is more": ('"got {\\"x\\": 1}"', "data.startsWith('got')"),
}


@pytest.mark.parametrize("name", list(READS))
def test_data_is_the_content_else_what_the_text_is(name: str) -> None:
    content, holds = READS[name]
    trace = f"call b\nresult ok {content}\nend completed"
    assert outcome_of_rule(f"for: ok result b\nrequire: {holds}", trace).verdict == "satisfied"


@pytest.mark.parametrize(
    ("reads", "text", "holds"),
    [
        ("text", '{\\"x\\": 1}', "data.startsWith('{')"),
        ("json", 'got [x] {\\"x\\": 1} and more', "data.x == 1"),
        ("'RF-(?P<number>[0-9]+)'", "made RF-17", "data.number == '17'"),
    ],
)
def test_reads_says_how_text_becomes_data(reads: str, text: str, holds: str) -> None:
    head = f"tools: {{b: {{reads: {reads}}}}}"
    trace = f'call b\nresult ok "{text}"\nend completed'
    assert outcome_of_rule(f"for: ok result b\nrequire: {holds}", trace, head).verdict == "satisfied"

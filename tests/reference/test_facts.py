"""SEMANTICS sections 4 and 7: the values of facts, and what gaps do to them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from outstep.expr.values import Hidden, Missing

from .facts import Entries
from .helping import fact_at

SEEN = "seen: {from: ok result b, key: args.k, value: data.v}"
FIRST = "seen: {from: ok result b, key: args.k, value: data.v, keep: first}"
EVERY = "seen: {from: ok result b, key: args.k, value: data.v, keep: all}"

TWICE = """
call b {"k": "x"} turn 1
result ok {"v": 1}
call b {"k": "x"} turn 2
result ok {"v": 2}
call a turn 3
end completed
"""


def entry(text: str, facts: str, seq: int, key: str = "x") -> object:
    found = fact_at(text, facts, "seen", seq)
    assert isinstance(found, Entries)
    return found.index(key)


def holds(text: str, facts: str, seq: int, key: str = "x") -> object:
    found = fact_at(text, facts, "seen", seq)
    assert isinstance(found, Entries)
    return found.holds(key)


@pytest.mark.parametrize(("facts", "value"), [(SEEN, 2), (FIRST, 1), (EVERY, [1, 2])])
def test_keep_says_which_writer_counts(facts: str, value: object) -> None:
    assert entry(TWICE, facts, 4) == value


@pytest.mark.parametrize("facts", [SEEN, FIRST, EVERY])
def test_an_entry_never_recorded_is_null_and_not_there(facts: str) -> None:
    assert entry(TWICE, facts, 4, "y") is None
    assert holds(TWICE, facts, 4, "y") is False
    assert entry(TWICE, facts, 0) is None


def test_a_result_is_not_a_fact_for_the_turn_in_which_it_arrives() -> None:
    text = 'call b {"k": "x"} turn 1\nresult ok {"v": 1}\ncall a turn 1\ncall a turn 2\nend completed'
    assert entry(text, SEEN, 2) is None
    assert entry(text, SEEN, 3) == 1


def test_a_writing_event_reads_the_fact_without_its_own_write() -> None:
    assert entry(TWICE, SEEN, 3) == 1


def test_a_value_that_is_missing_never_falls_back_on_older_evidence() -> None:
    text = TWICE.replace('result ok {"v": 2}', "result ok {}")
    assert isinstance(entry(text, SEEN, 4), Missing)
    assert holds(text, SEEN, 4) is True


def test_a_key_that_is_missing_writes_nothing() -> None:
    assert entry('call b turn 1\nresult ok {"v": 1}\ncall a turn 2\nend completed', SEEN, 2) is None


def test_forget_makes_an_entry_as_if_never_recorded_and_later_events_write_it_anew() -> None:
    facts = "seen: {from: ok result b, key: args.k, value: data.v, forget: user message}"
    text = TWICE.replace("call b {", 'user "no"\ncall b {', 2).replace('user "no"\n', "", 1)
    assert entry(text, facts, 5) == 2
    assert entry(text.replace('result ok {"v": 2}', "result failed"), facts, 5) is None


def test_forget_with_a_key_spares_the_others() -> None:
    facts = "seen: {from: ok result b, key: args.k, value: data.v, forget: {from: ok result a, key: args.k}}"
    text = """
    call b {"k": "x"} turn 1
    result ok {"v": 1}
    call b {"k": "y"} turn 2
    result ok {"v": 2}
    call a {"k": "x"} turn 3
    result ok
    call a turn 4
    end completed
    """
    assert entry(text, facts, 6) is None
    assert entry(text, facts, 6, "y") == 2


def test_each_writes_one_entry_for_each_element() -> None:
    facts = "seen: {from: ok result b, each: data.parts, key: it.id, value: it.n + at}"
    text = (
        'call b turn 1\nresult ok {"parts": [{"id": "x", "n": 1}, {"id": "y", "n": 5}]}\ncall a turn 2\nend completed'
    )
    assert entry(text, facts, 2) == 1
    assert entry(text, facts, 2, "y") == 6


def test_true_and_one_are_two_keys_and_one_and_one_point_nought_are_one() -> None:
    text = TWICE.replace('"x"', "1", 1).replace('"x"', "true")
    found = fact_at(text, SEEN, "seen", 4)
    assert isinstance(found, Entries)
    assert (found.index(Decimal("1.0")), found.index(True)) == (1, 2)


def test_state_facts_are_read_in_log_order() -> None:
    text = 'call a turn 1\nstate {"open": 1}\ncall a turn 1\nend completed'
    assert fact_at(text, "seen: {from: state}", "seen", 2) == {"open": 1}


def test_at_the_end_every_fact_is_read_in_log_order() -> None:
    text = 'lane sub\ncall b {"k": "x"} turn 1 lane sub\nresult ok {"v": 1}\ncall a turn 1\nend completed'
    assert entry(text, SEEN, 2) is None
    assert entry(text, SEEN, 3) == 1


def test_an_event_whose_where_is_hidden_writes_hidden() -> None:
    facts = "seen: {from: ok result b where data.good, key: args.k, value: data.v}"
    text = 'call b {"k": "x"} turn 1\nresult ok {"v": 1, "good": true} hidden /data/good\ncall a turn 2\nend completed'
    assert isinstance(entry(text, facts, 2), Hidden)
    assert entry(text, facts, 2, "y") is None


def test_a_hidden_key_writes_hidden_to_every_key() -> None:
    text = 'call b {"k": "x"} turn 1 hidden /args/k\nresult ok {"v": 1}\ncall a turn 2\nend completed'
    assert isinstance(entry(text, SEEN, 2, "y"), Hidden)


# Under gaps

GAP_BEHIND = TWICE.replace("call a turn 3", "gap\ncall a turn 3")
GAP_BETWEEN = TWICE.replace("call b {", "gap\ncall b {", 2).replace("gap\n", "", 1)


@pytest.mark.parametrize(
    ("text", "facts", "value"),
    [
        (GAP_BETWEEN, SEEN, 2),
        (GAP_BEHIND, SEEN, Hidden),
        (GAP_BETWEEN, FIRST, 1),
        (GAP_BEHIND, FIRST, 1),
        (TWICE.replace("call b {", "gap\ncall b {", 1), FIRST, Hidden),
        (GAP_BETWEEN, EVERY, Hidden),
    ],
)
def test_a_gap_hides_what_a_newer_write_does_not_decide(text: str, facts: str, value: object) -> None:
    found = entry(text, facts, 5)
    assert isinstance(found, Hidden) if value is Hidden else found == value


def test_that_there_was_a_writer_stays_true_behind_a_gap() -> None:
    assert holds(GAP_BEHIND, SEEN, 5) is True
    assert isinstance(holds(GAP_BEHIND, SEEN, 5, "y"), Hidden)
    forgetting = SEEN.replace("data.v}", "data.v, forget: user message}")
    assert isinstance(holds(GAP_BEHIND, forgetting, 5), Hidden)


def test_a_gap_that_cannot_hide_a_writer_hides_nothing() -> None:
    text = GAP_BEHIND.replace("gap", "gap may_hide=user.message")
    assert entry(text, SEEN, 5) == 2
    assert entry(text, SEEN, 5, "y") is None


def test_a_gap_that_may_hide_results_may_hide_the_return_of_a_child() -> None:
    facts = "seen: {from: user message, key: text, value: '1'}"
    text = """
    lane sub parent main call c1
    call b turn 1
    user "y" lane sub
    gap may_hide=tool.result lane main
    call a turn 2
    end completed
    """
    assert isinstance(entry(text, facts, 3, "y"), Hidden)
    assert entry(text.replace('user "y" lane sub\n', ""), facts, 2, "y") is None

"""Two runs step by step: what is the same, changed, moved, added, removed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.compare.alignment import align
from outstep.compare.steps import Step, steps_of
from outstep.compare.values import are_equal, differences, key_of
from outstep.events import ToolCall, ToolResult
from outstep.tracetext import parse_trace


def steps(text: str) -> list[Step]:
    return steps_of(parse_trace(text)[1])


def ways(before: str, after: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for pair in align(steps(before), steps(after)):
        step = pair.after or pair.before
        assert step is not None
        found.append((pair.way, step.name or step.kind))
    return found


BASE = """
user "refund A1"
call order.get {"id": "A1"} as c1
result c1 ok {"state": "PAID"}
call identity.verify {"customer": "C7"} as c2
result c2 ok {"verified": true}
call refund.create {"order": "A1", "cents": 100} as c3
result c3 ok {"refund": "R1"}
say "Refunded."
end completed
"""


def test_a_run_is_the_same_as_itself() -> None:
    assert {way for way, _ in ways(BASE, BASE)} == {"same"}


def test_ids_say_nothing() -> None:
    assert {way for way, _ in ways(BASE, BASE.replace("c1", "x1").replace("c3", "call-99"))} == {"same"}


def test_a_step_that_was_left_out_is_removed_and_the_rest_stays() -> None:
    without = BASE.replace('call identity.verify {"customer": "C7"} as c2\nresult c2 ok {"verified": true}\n', "")
    assert ways(BASE, without) == [
        ("same", "user message"),
        ("same", "order.get"),
        ("removed", "identity.verify"),
        ("same", "refund.create"),
        ("same", "message"),
        ("same", "end"),
    ]
    assert ("added", "identity.verify") in ways(without, BASE)


def test_another_amount_is_a_change_of_one_value() -> None:
    (pair,) = [
        one for one in align(steps(BASE), steps(BASE.replace('"cents": 100', '"cents": 900'))) if one.way != "same"
    ]
    assert pair.way == "changed"
    assert [(one.path, one.before, one.after) for one in pair.said] == [("cents", "100", "900")]
    assert pair.answered == ()


def test_another_outcome_is_a_change_of_what_came_back() -> None:
    failed = BASE.replace('result c3 ok {"refund": "R1"}', 'result c3 failed "declined"')
    (pair,) = [one for one in align(steps(BASE), steps(failed)) if one.way != "same"]
    assert (pair.way, pair.said) == ("changed", ())
    assert [one.path for one in pair.answered][:1] == ["outcome"]


def test_steps_in_another_order_are_moved_and_not_removed_and_added() -> None:
    order = 'call order.get {"id": "A1"} as c1\nresult c1 ok {"state": "PAID"}\n'
    swapped = BASE.replace(order, "").replace(
        'result c2 ok {"verified": true}\n', 'result c2 ok {"verified": true}\n' + order
    )
    told = ways(BASE, swapped)
    assert sorted(way for way, _ in told) == ["moved", "same", "same", "same", "same", "same"]


def test_steps_that_were_put_in_do_not_shift_what_follows() -> None:
    noise = "".join(f'call search {{"q": "{n}"}} as n{n}\nresult n{n} ok {{}}\n' for n in range(5))
    told = ways(BASE, BASE.replace("call identity", noise + "call identity"))
    assert [way for way, name in told if name != "search"] == ["same"] * 6
    assert [way for way, name in told if name == "search"] == ["added"] * 5


names = st.sampled_from(["a", "b", "c"])
runs = st.lists(st.tuples(names, st.integers(0, 2)), max_size=12)


def made(told: list[tuple[str, int]]) -> list[Step]:
    from outstep import codec

    events: list[ToolCall | ToolResult] = []
    for name, value in told:
        events.append(ToolCall(seq=len(events) + 1, tool=name, call_id=f"c{len(events)}", args=codec.raw({"x": value})))
    return steps_of(events)


@given(runs, runs)
def test_every_step_of_both_runs_stands_once(one: list[tuple[str, int]], other: list[tuple[str, int]]) -> None:
    before, after = made(one), made(other)
    pairs = align(before, after)
    assert sorted(pair.before.number for pair in pairs if pair.before is not None) == [step.number for step in before]
    assert [pair.after.number for pair in pairs if pair.after is not None] == [step.number for step in after]
    for pair in pairs:
        assert (pair.before is None) == (pair.way == "added")
        assert (pair.after is None) == (pair.way == "removed")
        if pair.before is not None and pair.after is not None:
            assert pair.before.sort == pair.after.sort
            assert (pair.before.whole == pair.after.whole) == (not pair.said and not pair.answered)


# --- values ---


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (49, Decimal("49.0"), True),
        (49, "49", False),
        (True, 1, False),
        (False, 0, False),
        (None, 0, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        (Decimal("0.10"), Decimal("0.1"), True),
        (10**400, Decimal(f"1{'0' * 400}.0"), True),
        ({"a": None}, {}, False),
        ({}, [], False),
    ],
)
def test_values_are_equal_by_value(before: Any, after: Any, same: bool) -> None:
    assert are_equal(before, after) is same
    assert (key_of(before) == key_of(after)) is same


def test_differences_are_named_by_their_path() -> None:
    before = {"price": 49, "opts": {"gift": True, "tags": ["a", "b"]}, "old": 1, "a b": 1}
    after = {"price": "49", "opts": {"gift": 1, "tags": ["a"]}, "new": None, "a b": 2}
    assert [(one.path, one.before, one.after) for one in differences(before, after)] == [
        ("price", "49", '"49"'),
        ("opts.gift", "true", "1"),
        ("opts.tags[1]", '"b"', None),
        ("old", "1", None),
        ('"a b"', "1", "2"),
        ("new", None, "null"),
    ]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_a_difference_is_found_exactly_where_keys_differ(one: Any, other: Any) -> None:
    assert are_equal(one, other) == (key_of(one) == key_of(other)) == (differences(one, other) == [])
    assert are_equal(one, one)

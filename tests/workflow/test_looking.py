"""Events that findings name are found, however a stream is cut into batches and however long a trace is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.events import Event, Header, ToolCall, ToolResult, UserMessage
from outstep.workflow import looking
from outstep.workflow.looking import Items, Seen, Window, look, look_again

Sizes = list[int]


def stream_of(sizes: Sizes) -> list[Event | Header]:
    items: list[Event | Header] = []
    for number, size in enumerate(sizes):
        items.append(Header(schema="trace/v1", id=f"t{number}"))
        items += [UserMessage(seq=seq, text=f"{number}/{seq}") for seq in range(1, size + 1)]
    return items


def cut(items: list[Event | Header], cuts: list[int]) -> list[Items]:
    batches: list[Items] = []
    for size in cuts:
        batches.append(items[:size])
        items = items[size:]
    return [batch for batch in [*batches, items] if batch]


def judged(window: Window, wanted: set[int]) -> Iterator[dict[int, Seen] | None]:
    """Pass each trace as the engine does: once a batch that holds the next header has been taken whole."""
    waiting = 0
    for batch in window:
        for item in batch:
            if isinstance(item, Header):
                waiting += 1
        while waiting > 1:
            waiting -= 1
            yield window.pass_trace(wanted)
    for _ in range(waiting):
        yield window.pass_trace(wanted)


@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(1, 12), max_size=30), st.sets(st.integers(1, 9)))
def test_a_window_sees_what_the_whole_trace_holds_or_says_that_it_lost_it(
    sizes: Sizes, cuts: list[int], wanted: set[int]
) -> None:
    kept, looking.KEPT = looking.KEPT, 2
    try:
        found = list(judged(Window(cut(stream_of(sizes), cuts)), wanted))
    finally:
        looking.KEPT = kept
    assert len(found) == len(sizes)
    for number, (size, seen) in enumerate(zip(sizes, found, strict=True)):
        if seen is not None:
            told = {seq: one.quote for seq, one in seen.items()}
            assert told == {seq: f'user message "{number}/{seq}"' for seq in sorted(wanted) if seq <= size}


def test_a_trace_within_the_bound_is_never_lost() -> None:
    batches = cut(stream_of([300, 5, 0, 700]), [10] * 102)
    looked = list(judged(Window(batches), {1, 5}))
    assert [seen is None for seen in looked] == [False, False, False, True]


def test_a_window_holds_no_more_than_its_bound() -> None:
    batches = cut(stream_of([100_000]), [100] * 1000)
    window = Window(batches)
    most = 0
    for _ in window:
        most = max(most, len(window._kept))
    assert most <= looking.KEPT


@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(1, 12), max_size=30))
def test_a_second_look_finds_what_was_lost(sizes: Sizes, cuts: list[int]) -> None:
    batches = cut(stream_of(sizes), cuts)
    wanted = {number: {1, 3} for number in range(0, len(sizes), 2)}
    found = look_again(batches, wanted)
    for number in wanted:
        assert sorted(found[number]) == [seq for seq in (1, 3) if seq <= sizes[number]]


def test_an_event_is_named_by_its_kind_and_number_not_by_its_place() -> None:
    calls: list[Event] = [
        ToolCall(tool="a", seq=2, call_id="1"),
        ToolCall(tool="b", seq=3, call_id="2"),
        ToolCall(tool="a", seq=4, call_id="3"),
        ToolResult(seq=5, call_id="3", outcome="ok"),
    ]
    plain = look(calls, {4, 5})
    later = look([UserMessage(seq=1, text="hi"), *calls], {4, 5})
    assert [one.name for one in plain.values()] == ["tool.call a main 2", "tool.result a main 1"]
    assert [one.name for one in later.values()] == [one.name for one in plain.values()]
    assert (plain[4].index, later[4].index) == (3, 4)
    assert plain[5].quote == "result ok a"


@pytest.mark.parametrize("wanted", [set(), {99}])
def test_nothing_is_found_where_nothing_is(wanted: set[int]) -> None:
    assert look([UserMessage(seq=1)], wanted) == {}

"""SEMANTICS sections 1 and 2: decisions, and what a lane knows."""

from __future__ import annotations

import pytest

from outstep.tracetext import parse_trace

from .helping import trace_of
from .known import is_well_formed


def known(text: str, seq: int) -> set[int]:
    trace = trace_of(text)
    (event,) = [event for event in trace.events if event.seq == seq]
    return trace.known(event)


TABLE = {
    "a result of a call of the same turn is not known": (
        """
        call a turn 1
        result ok
        call b turn 1
        """,
        2,
        set(),
    ),
    "a result of an earlier turn that arrived before this turn's first event is known": (
        """
        call a turn 1
        result ok
        call b turn 2
        """,
        2,
        {0, 1},
    ),
    "a result of an earlier turn that arrived after this turn's first event is not": (
        """
        call a turn 1
        say "wait" turn 2
        result c1 ok
        call b turn 2
        """,
        3,
        {0},
    ),
    "a human message that came while the turn was being written is known to the next turn only": (
        """
        call a turn 1
        user "stop"
        call b turn 1
        call b turn 2
        """,
        2,
        set(),
    ),
    "the next turn knows that message and the calls of the turn before": (
        """
        call a turn 1
        user "stop"
        call b turn 1
        call b turn 2
        """,
        3,
        {0, 1, 2},
    ),
    "without turns the log is all there is": (
        """
        call a
        result ok
        say "so"
        call b
        """,
        3,
        {0, 1, 2},
    ),
    "a child starts with what its parent knew when it spawned it": (
        """
        lane sub parent main call c2
        call a turn 1
        result ok
        call b turn 2
        call a turn 9 lane sub
        """,
        3,
        {0, 1},
    ),
    "what a running child did is not known to its parent": (
        """
        lane sub parent main call c1
        call b turn 1
        call a turn 1 lane sub
        result c2 ok
        call a turn 2
        """,
        3,
        {0},
    ),
    "what a child learned comes home with its result": (
        """
        lane sub parent main call c1
        call b turn 1
        call a turn 1 lane sub
        result c2 ok
        result c1 ok
        call a turn 2
        """,
        4,
        {0, 1, 2, 3},
    ),
    "a sibling that still runs is not known": (
        """
        lane one parent main call c1
        lane two parent main call c2
        call b turn 1
        call b turn 1
        call a turn 1 lane one
        result c3 ok
        call a turn 1 lane two
        """,
        4,
        set(),
    ),
    "a child without its spawning call is a lane without parent": (
        """
        lane sub parent main call lost
        user "go"
        call a turn 1
        call a turn 1 lane sub
        """,
        2,
        set(),
    ),
    "a branch shares the trunk up to the fork and never returns": (
        """
        lane other kind branch parent main forked_at 2
        call a turn 1
        result ok
        call b turn 2
        call a turn 2 lane other
        """,
        3,
        {0, 1},
    ),
    "a delivered event knows what stands before it": (
        """
        call a turn 1
        result ok
        call b turn 1
        result ok
        """,
        3,
        {0, 1, 2},
    ),
    "the end, which has no lane, knows all": (
        """
        lane sub parent main call c9
        call a turn 1
        call b turn 1 lane sub
        end completed
        """,
        2,
        {0, 1},
    ),
}


@pytest.mark.parametrize("name", list(TABLE))
def test_known(name: str) -> None:
    text, seq, expected = TABLE[name]
    assert known(text, seq) == expected


def test_a_gap_stamped_with_a_turn_opens_it() -> None:
    trace = trace_of(
        """
        call a turn 1
        gap turn 2
        result c1 ok
        call b turn 2
        """
    )
    assert trace.at(trace.events[3]) == 1
    assert 2 not in trace.known(trace.events[3])
    (hole,) = [hole for hole in trace.holes if not hole.is_end]
    assert (hole, "main") in trace.known_holes(trace.events[3]), "it also hides what came before the opening"


def test_a_gap_inside_a_turn_is_not_known_to_that_turn() -> None:
    trace = trace_of(
        """
        call a turn 1
        gap turn 1
        call b turn 1
        call b turn 2
        end completed
        """
    )
    assert not trace.known_holes(trace.events[2])
    assert len(trace.known_holes(trace.events[3])) == 1


def test_a_record_without_an_end_has_a_gap_behind_its_last_event() -> None:
    assert [hole.is_end for hole in trace_of("call a").holes] == [True]
    assert not trace_of("complete\ncall a").holes
    assert not trace_of("call a\nend aborted").holes


def test_an_orphan_behind_a_gap_that_may_hide_its_call_is_a_gap_for_results() -> None:
    holes = trace_of("gap may_hide=tool.call\nresult lost ok\nend completed").holes
    assert [hole.may_hide for hole in holes] == [("tool.call",), ("tool.result",)]
    assert not trace_of("result lost ok\nend completed").holes


@pytest.mark.parametrize(
    "text",
    [
        "call a turn 2\ncall a turn 1",
        "call a turn 1\ncall a turn 2\ncall a turn 1",
        "lane sub parent main call c1\ncall b lane sub as x\ncall a as c1",
    ],
)
def test_turns_never_reopen_and_lanes_begin_behind_their_spawn(text: str) -> None:
    assert not is_well_formed(*parse_trace(text))

"""One event on one line, and a trace as a timeline."""

from __future__ import annotations

import pytest
from msgspec import Raw

from outstep.events import Event, Header, Lane, ToolCall, ToolResult
from outstep.render.quote import LONGEST, quote
from outstep.render.style import PLAIN, Style
from outstep.render.timeline import about, timeline
from outstep.tracetext import parse_trace
from tests.render.reports import HOSTILE


def events_of(text: str) -> list[Event]:
    return parse_trace(text)[1]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ('call pay {"order": "A1", "cents": 12.50}', 'call pay(order="A1", cents=12.50)'),
        ('call pay {"a b": 1}', 'call pay("a b"=1)'),
        ("call pay [1,2]", "call pay([1,2])"),
        ('call pay "{oops"', "call pay(unreadable: {oops)"),
        ('user "hello"', 'user message "hello"'),
        ('say "done" turn 1', 'message "done"'),
        ('context skill name db "use it"', 'context skill db: "use it"'),
        ("approval pay denied by policy", "approval denied for pay by policy"),
        ('state {"stock": 1}', 'state {"stock":1}'),
        ("decision turn 1 {}", "decision"),
        ("gap may_hide=tool.call reason lost", "gap lost (may hide tool.call)"),
        ("gap", "gap may hide anything"),
        ("end aborted reason stopped", "end aborted: stopped"),
    ],
)
def test_an_event_reads_on_one_line(line: str, quoted: str) -> None:
    assert quote(events_of(line)[0]) == quoted


@pytest.mark.parametrize(
    ("result", "quoted"),
    [
        ('result ok {"id": 1}', 'result ok pay: {"id":1}'),
        ('result ok "fine"', 'result ok pay: "fine"'),
        ("result failed error declined", "result failed pay: declined"),
        ('result ok "out" exit 1', 'result ok pay, exit 1: "out"'),
    ],
)
def test_a_result_names_the_tool_of_its_call(result: str, quoted: str) -> None:
    assert quote(events_of(f"call pay {{}}\n{result}")[1], "pay") == quoted


def test_a_quote_is_bounded_however_large_the_event() -> None:
    huge = ToolCall(tool="t", seq=1, args=Raw(b'{"x":"' + b"y" * 5_000_000 + b'"}'))
    assert len(quote(huge)) == LONGEST
    assert len(quote(ToolResult(seq=2, outcome="ok", text="z" * 5_000_000))) == LONGEST


def test_arguments_that_cannot_be_read_are_shown_as_they_are() -> None:
    assert quote(ToolCall(tool="t", seq=1, args=Raw(b"{nonsense"))) == "call t({nonsense)"


def test_a_timeline_shows_turns_lanes_and_what_has_no_result() -> None:
    header, events = parse_trace(
        """
        lane sub kind agent parent main call c1
        user "go"
        call agent.run {} turn 1
        call read {"p": 1} turn 1 lane sub
        result c2 ok "text" lane sub
        call write {} turn 2
        gap reason torn
        """
    )
    lines = list(timeline(header, events, PLAIN))
    assert [" ".join(line.split()) for line in lines] == [
        '1 main user message "go"',
        "2 turn 1 main call agent.run() [no result]",
        "3 turn 1 sub call read(p=1)",
        '4 sub result ok read: "text"',
        "5 turn 2 main call write() [no result]",
        "6 gap torn (may hide anything)",
        "end the record stops here",
    ]


def test_nothing_in_a_timeline_acts() -> None:
    events: list[Event] = [ToolCall(tool=HOSTILE, seq=1, agent=HOSTILE, call_id=HOSTILE, hidden=(HOSTILE,))]
    header = Header(schema="trace/v1", id=HOSTILE, harness=HOSTILE, model=HOSTILE, lanes=(Lane(id=HOSTILE),))
    text = "".join([about(header), *timeline(header, events, Style(columns=400))])
    assert text.isprintable()

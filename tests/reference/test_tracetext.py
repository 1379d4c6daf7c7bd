"""Small traces as text: `outstep.tracetext`."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.codec import loads
from outstep.errors import OutstepError, Problem
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.tracetext import parse_trace


def event(line: str) -> Event:
    _, events = parse_trace(line)
    return events[-1]


def mistakes(text: str) -> tuple[Problem, ...]:
    with pytest.raises(OutstepError) as caught:
        parse_trace(text, source="case")
    return caught.value.problems


def test_each_line_is_one_event() -> None:
    text = """
    # a remark
    user "hi {x} [y]" lane sub time 3
    say "so" turn 2
    decision {"output_tokens": 5} turn 3 model m
    context skill name db "text" digest d
    gap may_hide=tool.call,tool.result turn 4 lane sub reason "lost"
    end aborted reason "stop"
    """
    _, events = parse_trace(text)
    assert events == [
        UserMessage(seq=0, agent="sub", time=3, text="hi {x} [y]"),
        AssistantMessage(seq=1, turn=2, text="so"),
        Decision(seq=2, turn=3, usage={"output_tokens": 5}, model="m"),
        Context(seq=3, what="skill", name="db", text="text", digest="d"),
        Gap(seq=4, turn=4, agent="sub", may_hide=("tool.call", "tool.result"), reason="lost"),
        RunEnd(seq=5, end="aborted", reason="stop"),
    ]


def test_calls_are_numbered_unless_they_say_otherwise() -> None:
    _, events = parse_trace('call a\ncall b as "the second"\ncall a')
    assert [call.call_id for call in events if isinstance(call, ToolCall)] == ["c1", "the second", "c3"]


def test_arguments_are_compact_and_exact() -> None:
    call = event('call a {"n": 1.50, "list": [1, {"x": "}"}]} turn 1 by user parent p hidden /args/n')
    assert isinstance(call, ToolCall)
    assert bytes(call.args) == b'{"n":1.50,"list":[1,{"x":"}"}]}'
    assert (call.turn, call.by, call.parent, call.hidden) == (1, "user", "p", ("/args/n",))


def test_a_call_without_arguments_has_none_of_them_and_a_text_is_no_json() -> None:
    plain, broken = event("call a"), event('call a "{n: 1"')
    assert isinstance(plain, ToolCall)
    assert isinstance(broken, ToolCall)
    assert (bytes(plain.args), plain.args_raw) == (b"{}", None)
    assert (bytes(broken.args), broken.args_raw) == (b"", "{n: 1")


def test_a_result_without_an_id_answers_the_newest_call_that_waits_in_its_lane() -> None:
    _, events = parse_trace('call a\ncall b lane sub\nresult ok {"v": 1} text "t"\nresult failed "no" error "e" exit 2')
    found = [result for result in events if isinstance(result, ToolResult)]
    assert [(r.call_id, r.agent, r.outcome, r.text) for r in found] == [
        ("c2", "sub", "ok", "t"),
        ("c1", "main", "failed", "no"),
    ]
    assert loads(found[0].data) == {"v": 1}
    assert (found[1].error, found[1].exit, bytes(found[1].data)) == ("e", 2, b"")


def test_an_approval_of_no_call_is_of_a_tool() -> None:
    _, events = parse_trace("approval c1 asked\ncall a\napproval deploy allowed by user")
    assert events[0] == Approval(seq=0, call_id="c1", decision="asked")
    assert events[2] == Approval(seq=2, tool="deploy", decision="allowed", by="user")


def test_the_header_is_spelled_beside_the_events() -> None:
    header, _ = parse_trace(
        "id t\ntrace harness h model m\nlane s kind program parent main call c1\nrecords tool.call\ncomplete"
    )
    assert (header.id, header.harness, header.model, header.complete) == ("t", "h", "m", True)
    assert header.records == ("tool.call",)
    assert [(lane.id, lane.kind, lane.parent, lane.call) for lane in header.lanes] == [("s", "program", "main", "c1")]


def test_state_is_any_json() -> None:
    state = event('state {"open": [1]}')
    assert isinstance(state, State)
    assert bytes(state.state) == b'{"open":[1]}'


def test_every_mistake_is_told_with_its_place() -> None:
    found = mistakes('call a\ncal b\n  say "so" trun 2\nresult ok\nresult ok\ngap may_hide=calls')
    assert [(p.place and (p.place.line, p.place.column)) for p in found] == [(2, 1), (3, 12), (5, 8), (6, 5)]
    assert [p.help for p in found][:2] == ["did you mean `call`?", "did you mean `turn`?"]
    assert found[1].underline == (11, 15)


@pytest.mark.parametrize(
    "line",
    [
        "call",
        'call a {"x": 1',
        'call a {"x": }',
        'say "so',
        "say so",
        "call a turn one",
        "call a turn 1 turn 2",
        "call a by nobody",
        "result x fine",
        "result",
        "end",
        "end well",
        "approval a perhaps",
        "records tool.cal",
        "lane s kind boat",
        'call a "\\ud800"',
        "call a turn " + "9" * 30,
        "complete now",
        "]",
        "call a {" + "[" * 5000,
        "call a " + '{"a":' * 5000 + "1" + "}" * 5000,
    ],
)
def test_what_cannot_be_read_is_one_mistake_on_its_line(line: str) -> None:
    (found,) = mistakes("\n" + line)
    assert found.place is not None
    assert found.place.line == 2


@given(st.text(st.sampled_from('calresuty okg"{}[],:=0\\\n\t#/-.'), max_size=60) | st.text(max_size=60))
def test_no_text_gives_a_traceback(text: str) -> None:
    for line in (text, f"call a {text}", f"gap {text}", f"result {text}", f"say {text}"):
        with suppress(OutstepError):
            parse_trace(line)


def test_a_line_separator_inside_a_text_ends_no_line() -> None:
    message = event('say "one\u2028two"\r\n# end\r\n')
    assert isinstance(message, AssistantMessage)
    assert message.text == "one\u2028two"

"""Rows of one log: versions, order, what is lost, what is only told."""

from __future__ import annotations

import pytest

from outstep.adapters.dsh import ADAPTER
from outstep.events import (
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    RunEnd,
    ToolCall,
    ToolResult,
    UserMessage,
)
from tests.adapters.dsh.support import HERE, Script, one, read

CASES = HERE / "logs"


def case(name: str, *, unpinned: bool = False) -> tuple[list[Event], list[str]]:
    path = CASES / name
    events, log = one(path.read_bytes(), name=path.name, unpinned=unpinned)
    return events, [fault.code for fault in log.faults]


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def gaps(events: list[Event]) -> list[Gap]:
    return [event for event in events if isinstance(event, Gap)]


def remarks(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.what, event.name) for event in events if isinstance(event, Context)]


def end(events: list[Event]) -> tuple[str, str]:
    last = events[-1]
    assert isinstance(last, RunEnd)
    return last.end, last.reason


def small(version: int = 4) -> Script:
    """One call and an answer."""
    script = Script(version)
    script.turn()
    script.step()
    script.user("Which port?")
    script.say("Let me see.")
    call = script.call("read", args={"file_path": "app.toml"})
    script.result("port = 8080", call)
    script.row("step/end", {"turn": 1, "step": 1})
    script.step(2)
    script.say("8080.", step=2)
    script.row("step/end", {"turn": 1, "step": 2})
    script.end()
    return script


SMALL = [
    "UserMessage",
    "Decision",
    "AssistantMessage",
    "ToolCall",
    "ToolResult",
    "Decision",
    "AssistantMessage",
    "RunEnd",
]

# --- versions ---


@pytest.mark.parametrize("version", [0, 3, 4])
def test_three_shapes_of_one_session_give_the_same_events(version: int) -> None:
    assert kinds(small(version).events()) == SMALL
    assert small(version).events() == small(4).events()


@pytest.mark.parametrize("version", [1, 2, 5, 9, -1])
def test_another_version_is_refused_by_name(version: int) -> None:
    events, log = one(small(version).text())
    assert events == []
    assert [fault.code for fault in log.faults] == ["adapter/unpinned-version"]
    assert f"in session format {version}; the dsh adapter is pinned to 0, 3 and 4" in log.faults[0].sentence
    assert "--unpinned" in log.faults[0].help


@pytest.mark.parametrize("version", [1, 2])
def test_another_version_is_read_when_asked_for_and_marked(version: int) -> None:
    from outstep.adapters.base import Options, ReadLog

    batch = next(ADAPTER.stream([small(version).document()], Options(unpinned=True), ReadLog()))
    assert batch[0].sources[0].unpinned  # type: ignore[union-attr]
    assert kinds(batch[1:]) == SMALL  # type: ignore[arg-type]


def test_the_flat_shape_is_refused_by_its_shape() -> None:
    events, faults = case("flat.jsonl")
    assert (events, faults) == ([], ["adapter/unpinned-version"])
    events, faults = case("flat.jsonl", unpinned=True)
    assert faults == []
    assert kinds(events) == [
        "UserMessage",
        "Decision",
        "ToolCall",
        "ToolResult",
        "Decision",
        "AssistantMessage",
        "RunEnd",
    ]


def test_a_header_alone_is_a_run_that_was_cut_off() -> None:
    events = Script().events()
    assert kinds(events) == ["RunEnd"]
    assert end(events)[0] == "cut_off"


@pytest.mark.parametrize("text", [b"", b"\n", b"{}\n", b'{"type":"session"}\n', b"\0" * 50, b"[" * 5000, b"\xff\xfe\n"])
def test_a_log_without_a_header_is_a_fault(text: bytes) -> None:
    events, log = one(text)
    assert events == []
    assert [fault.code for fault in log.faults] == ["adapter/unreadable"]


# --- order ---


def test_rows_are_read_in_the_order_of_their_numbers() -> None:
    lines = small().lines()
    shuffled = [lines[0], *lines[6:], *lines[1:6]]
    events, log = one(b"".join(shuffled))
    assert log.faults == []
    assert events == small().events()


def test_a_number_used_twice_is_remarked_upon() -> None:
    lines = small().lines()
    events, log = one(b"".join([*lines[:4], lines[3], *lines[4:]]))
    assert log.faults == []
    assert remarks(events) == [("record.duplicate_seq", "2")]
    assert len([event for event in events if isinstance(event, UserMessage)]) == 2


def test_a_model_response_is_a_step_whatever_the_turn() -> None:
    script = Script()
    for turn in (1, 2):
        for step in (1, 2):
            script.say("x", step=step, turn=turn)
            script.call("read", id=f"{turn}{step}", step=step, turn=turn)
    script.end(turn=2)
    turns = [event.turn for event in script.events() if isinstance(event, Decision)]
    assert turns == [1, 2, 3, 4]
    assert [event.turn for event in script.events() if isinstance(event, ToolCall)] == [1, 2, 3, 4]


def test_results_are_joined_by_the_row_they_name_though_ids_are_empty() -> None:
    script = Script(0)
    calls = [script.call("", id="", args={"n": number}) for number in (1, 2)]
    for call in reversed(calls):
        script.result("ok", call, id="")
    script.end()
    joins = [(event.call, event.joined) for event in script.events() if isinstance(event, ToolResult)]
    assert joins == [(2, "item"), (1, "item")]


def test_without_a_named_row_a_result_answers_the_oldest_open_call_of_its_step() -> None:
    script = Script()
    for step in (1, 2):
        for _ in range(2):
            script.call("read", id="same", step=step)
    for step in (1, 2, 2):
        script.result("ok", None, id="same", step=step)
    script.end()
    joins = [(event.call, event.joined) for event in script.events() if isinstance(event, ToolResult)]
    assert joins == [(1, "id"), (3, "id"), (4, "id")]


def test_a_row_that_names_a_range_names_its_first() -> None:
    script = small(0)
    script.rows[5]["sourceEventSeqs"] = [[4, 4]]
    assert script.events() == small(0).events()


def test_a_result_without_a_call_is_kept_as_an_orphan() -> None:
    script = Script()
    script.result("ok", None, id="gone")
    script.end()
    assert isinstance(result := script.events()[0], ToolResult)
    assert (result.call, result.call_id, result.turn) == (None, "gone", None)


def test_a_pruned_copy_is_no_second_result() -> None:
    script = small(3)
    result = dict(script.rows[5], surfaceOp={"op": "replace", "startSeq": 5, "endSeq": 5})
    script.row(result["type"], result["data"], surfaceOp=result["surfaceOp"], sourceEventSeqs=[4])
    assert len([event for event in script.events() if isinstance(event, ToolResult)]) == 1


# --- what is lost ---


def test_a_missing_number_is_a_gap_that_names_its_neighbours() -> None:
    lines = small().lines()
    events, log = one(b"".join(lines[:3] + lines[4:]))
    assert log.faults == []
    assert gaps(events) == [Gap(seq=1, reason="record 2 is missing (after 1, next 3)")]
    assert end(events)[0] == "completed"


def test_what_is_lost_inside_a_step_is_lost_in_its_response_alone() -> None:
    lines = small().lines()
    events, _ = one(b"".join(lines[:5] + lines[6:]))  # the call
    assert [(gap.turn, gap.agent) for gap in gaps(events)] == [(1, "main")]


def test_what_is_lost_beside_a_program_may_be_a_call_of_its_own() -> None:
    script = Script()
    script.step()
    script.say("I write a program.")
    call = script.call("run_code")
    script.row("todo/write", {"todos": []})
    script.result("done", call)
    script.end()
    lines = script.lines()
    events, _ = one(b"".join(lines[:4] + lines[5:]))
    assert [(gap.turn, gap.agent) for gap in gaps(events)] == [(1, "main"), (None, None)]


def test_numbers_that_begin_late_are_a_gap_at_the_start() -> None:
    lines = small().lines()
    events, _ = one(b"".join([lines[0], *lines[3:]]))
    assert [gap.reason for gap in gaps(events)] == ["records 0 to 1 are missing (the first is 2)"]


def test_what_is_lost_between_steps_may_be_anything() -> None:
    lines = small().lines()
    events, _ = one(b"".join(lines[:6] + lines[9:]))  # from the result to the next answer
    assert [(gap.turn, gap.agent) for gap in gaps(events)] == [(1, "main"), (None, None)]


def test_a_response_whose_opening_is_lost_is_marked() -> None:
    script = Script()
    script.turn()
    script.step()
    script.say("Let me see.")
    script.call("read")
    script.end()
    lines = script.lines()
    events, _ = one(b"".join(lines[:3] + lines[4:]))  # the answer: its call stands alone
    assert [(gap.turn, gap.agent) for gap in gaps(events)] == [(None, None), (1, "main")]
    assert kinds(events) == ["Gap", "Gap", "ToolCall", "RunEnd"]


def test_packed_rows_count_for_all_their_members() -> None:
    script = Script(0)
    script.turn()
    packed = {
        "type": "text-chunks",
        "seq0": 1,
        "time0": 1,
        "data": {"turn": 1, "step": 1, "dt": [1, 2], "texts": ["a", "b", "c"]},
    }
    script.rows.append(packed)
    script.rows.append({"type": "turn/end", "seq": 4, "time": 1, "data": {"turn": 1, "reason": {"kind": "completed"}}})
    assert kinds(script.events()) == ["RunEnd"]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_is_a_gap_and_the_run_is_cut_off(cut: int) -> None:
    events, log = one(small().text()[: -1 - cut])
    assert log.faults == []
    assert [gap.reason for gap in gaps(events)] == ["the log stops in the middle of a line"]
    assert end(events) == ("cut_off", "the log is torn")


def test_a_last_line_that_only_lacks_its_end_is_read() -> None:
    events, log = one(small().text()[:-1])
    assert log.faults == []
    assert events == small().events()


def test_a_complete_line_that_is_no_record_is_a_fault_and_a_gap() -> None:
    lines = small().lines()
    text = b"".join([*lines[:6], b'{"type": "tool/result", "seq": 5, "ti' + lines[7]])
    events, log = one(text)
    assert [fault.code for fault in log.faults] == ["adapter/damaged-record"]
    place = log.faults[0].place
    assert place is not None
    assert (place.line, place.offset) == (7, sum(map(len, lines[:6])))
    assert len(gaps(events)) == 1
    assert kinds(events)[:4] == SMALL[:4]
    assert end(events)[0] == "cut_off"


def test_records_before_and_after_damage_are_read() -> None:
    lines = small().lines()
    lines[6] = b'{"type":"tool/result","seq":5,"data":{"turn":1,"step":1,"message":7}}\n'
    events, log = one(b"".join(lines))
    assert [fault.code for fault in log.faults] == ["adapter/damaged-record"]
    assert [kind for kind in kinds(events) if kind != "Gap"] == [kind for kind in SMALL if kind != "ToolResult"]
    assert end(events)[0] == "completed"


def test_many_damaged_lines_are_named_once_and_counted() -> None:
    text = small().lines()[0] + b"{\n" * 500
    _, log = one(text)
    assert len(log.faults) == 21
    assert "480 more records" in log.faults[-1].sentence


def test_white_space_and_windows_line_ends_are_read() -> None:
    text = b"\xef\xbb\xbf\r\n" + small().text().replace(b"\n", b"\r\n \r\n")
    events, log = one(text)
    assert log.faults == []
    assert events == small().events()


def test_half_a_character_is_shown_as_such_and_hidden() -> None:
    script = small()
    text = script.text().replace(b"port = 8080", b"port = 8080 \\ud83d")
    events, log = one(text)
    assert log.faults == []
    assert isinstance(result := events[4], ToolResult)
    assert (result.text, result.hidden) == ("port = 8080 \ufffd", ("/text",))
    whole = one(script.text().replace(b"port = 8080", b"\\ud83d\\ude00 \\\\ud83d"))[0][4]
    assert isinstance(whole, ToolResult)
    assert (whole.text, whole.hidden) == ("\U0001f600 \\ud83d", ())


# --- what is only told ---


def test_an_unknown_record_is_remarked_upon_unless_it_may_be_ignored() -> None:
    script = small()
    script.row("permissionRules/decision", {"action": "deny"})
    script.row("vendor/heartbeat", {"n": 1}, ignorable=True)
    events, log = one(script.text())
    assert remarks(events) == [("record.unknown", "permissionRules/decision")]
    assert log.tallies[0].skipped["permissionRules/decision"] == 1
    assert log.tallies[0].skipped["vendor/heartbeat"] == 1
    assert log.tallies[0].records == len(script.rows)


def test_a_decision_in_an_unknown_word_is_remarked_upon() -> None:
    script = Script()
    script.call("refund")
    script.row("approval/asked", {"id": "a", "toolName": "refund", "callId": "c"})
    script.row("approval/decided", {"id": "a", "outcome": "allowed-for-ever"})
    script.row("approval/decided", {"id": "b", "outcome": "rejected"})
    script.end()
    events, log = one(script.text())
    assert remarks(events) == [("record.unknown", "approval/decided: allowed-for-ever")]
    assert log.tallies[0].skipped["approval/decided (not asked for)"] == 1


def test_what_the_harness_says_under_the_users_role_is_context() -> None:
    script = Script()
    script.user("Go.")
    script.user("Rules", kind="agent-instructions", changes=[{"path": "AGENTS.md", "digest": "d1"}])
    script.user("Skills", kind="skill-catalog", entries=[{"name": "one"}, {"name": "two"}])
    script.user("Now", kind="runtime-context")
    script.user("Old", kind="plugin", plugin="@deepseek-ai/dsh-system-prompt")
    script.user("Hm", kind="plugin:weather")
    script.user("Goal", kind="goal")
    script.user("?", kind="")
    script.end()
    found = [(event.what, event.name, event.digest) for event in script.events() if isinstance(event, Context)]
    assert found == [
        ("file", "AGENTS.md", "d1"),
        ("skill-catalog", "one, two", ""),
        ("runtime", "", ""),
        ("runtime", "", ""),
        ("plugin", "weather", ""),
        ("goal", "", ""),
        ("unknown", "", ""),
    ]
    assert [event.text for event in script.events() if isinstance(event, UserMessage)] == ["Go."]


def test_a_compaction_is_told_once_and_is_no_message_of_the_user() -> None:
    events, faults = case("compaction.jsonl")
    assert faults == []
    assert len([event for event in events if isinstance(event, UserMessage)]) == 2
    assert [(event.what, event.text) for event in events if isinstance(event, Context)] == [
        ("compaction", "Called refund_create for A-100, got R-1. Then refund_create succeeded.")
    ]
    assert len([event for event in events if isinstance(event, ToolCall)]) == 1


def test_a_system_prompt_is_told_once_for_each_change() -> None:
    script = Script()
    for text in ("one", "one", "two"):
        message = {"role": "system", "content": [{"type": "text", "text": text}], "source": {"kind": "system-prompt"}}
        script.row("system/message", {"turn": 1, "step": 1, "message": message}, surfaceOp="append")
    script.end()
    assert [event.text for event in script.events() if isinstance(event, Context)] == ["one", "two"]


def test_several_texts_of_one_answer_are_one_message() -> None:
    script = Script()
    content = [{"type": "text", "text": "a"}, {"type": "reasoning", "text": "hm"}, {"type": "text", "text": "b"}]
    message = {"role": "assistant", "content": content, "source": {"kind": "model", "model": "m"}}
    usage = {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3, "totalTokens": 6}
    script.row("assistant/message", {"turn": 1, "step": 1, "message": message, "usage": usage}, surfaceOp="append")
    script.end()
    events = script.events()
    assert isinstance(decision := events[0], Decision)
    assert decision.model == "m"
    assert decision.usage == {"input_tokens": 1, "output_tokens": 2, "cache_read_tokens": 3, "total_tokens": 6}
    assert isinstance(answer := events[1], AssistantMessage)
    assert answer.text == "a\nb"


def test_arguments_that_are_no_json_are_kept_as_they_were_written() -> None:
    script = Script()
    for number, text in enumerate(['{"a": 1.50, "b": 12345678901234567890}', '{"a": ', "", "NaN"]):
        script.call("x", id=str(number), args=text)
    script.end()
    calls = [(bytes(event.args), event.args_raw) for event in script.events() if isinstance(event, ToolCall)]
    assert calls == [
        (b'{"a":1.50,"b":12345678901234567890}', None),
        (b"", '{"a": '),
        (b"", None),
        (b"", "NaN"),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ({"kind": "completed"}, ("completed", "")),
        ({"kind": "max-tokens"}, ("aborted", "max-tokens")),
        ({"kind": "blocked"}, ("aborted", "blocked")),
        ({"kind": "interrupted"}, ("aborted", "interrupted")),
        ({"kind": "aborted", "reason": {"kind": "user"}}, ("aborted", "aborted by user")),
        ({"kind": "error", "error": {"message": "bad", "code": "X"}}, ("aborted", "error X: bad")),
        ({}, ("aborted", "unknown")),
    ],
)
def test_the_end_of_the_newest_turn_is_the_end_of_the_run(reason: dict[str, object], expected: tuple[str, str]) -> None:
    script = small()
    script.row("turn/end", {"turn": 1, "reason": reason})
    assert end(script.events()) == expected


def test_a_turn_that_has_begun_and_not_ended_is_cut_off() -> None:
    script = small()
    script.turn(2)
    assert end(script.events())[0] == "cut_off"


def test_a_nested_call_without_an_end_is_unanswered() -> None:
    script = Script(3)
    call = script.call("run_code", id="p")
    nested = {"rootCallId": "p", "parentCallId": "p", "name": "read", "arguments": {"n": 1.0}}
    script.row("tool/ptc-dispatch-start", {**nested, "subCallId": "p:ptc:1"})
    script.row(
        "tool/ptc-dispatch",
        {**nested, "subCallId": "p:ptc:2", "isError": True, "content": [{"type": "text", "text": "Error: no"}]},
    )
    script.result("done", call, id="p")
    script.end()
    events = script.events()
    assert kinds(events) == ["ToolCall", "ToolCall", "ToolCall", "ToolResult", "ToolResult", "RunEnd"]
    assert isinstance(unanswered := events[1], ToolCall)
    assert (unanswered.agent, unanswered.parent, unanswered.by, unanswered.turn) == ("program:p", "p", "program", None)
    assert bytes(unanswered.args) == b'{"n":1.0}'
    assert isinstance(result := events[3], ToolResult)
    assert (result.call, result.outcome, result.error, result.agent) == (3, "failed", "no", "program:p")


# --- hand-cut logs ---


def test_hand_cut_logs_are_read_without_the_rows_they_miss() -> None:
    paths = sorted(CASES.glob("*.jsonl"))
    assert paths
    for path in paths:
        events, _ = one(path.read_bytes(), unpinned=True)
        assert isinstance(events[-1], RunEnd), path.name


def test_the_working_directory_and_its_changes_are_told() -> None:
    script = Script(cwd="/srv/agent")
    script.row("working-directory/change", {"cwd": "/srv/other"})
    header, moved, *_ = read([script.document()])[0][0]
    assert isinstance(header, Header)
    assert header.cwd == "/srv/agent"
    assert isinstance(moved, Context)
    assert (moved.what, moved.name) == ("cwd", "/srv/other")

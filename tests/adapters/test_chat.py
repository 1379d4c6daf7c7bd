"""Message lists of both vendors: how they are told apart, joined and judged whole."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from outstep.adapters import NAMES, adapter
from outstep.adapters.base import Options, ReadLog
from outstep.events import AssistantMessage, Decision, Gap, Header, RunEnd, ToolCall, ToolResult, UserMessage
from tests.adapters.recorded import document, events, read

TOOL_USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": {}}]}
TOOL_RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}
TOOL_CALL = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": "{}"}}]}
USER = {"role": "user", "content": "go"}
ANSWER = {"role": "assistant", "content": "done"}


def json(value: object) -> bytes:
    return msgspec.json.encode(value)


def lines(*values: object) -> bytes:
    return b"".join(json(value) + b"\n" for value in values)


def who(data: bytes) -> str | None:
    raw = document(data)
    return next((name for name in NAMES if name != "dsh" and adapter(name).sniff(raw, raw.head())), None)


def codes(log: ReadLog) -> list[str]:
    return [fault.code for fault in log.faults]


def headers(items: list[Any]) -> list[Header]:
    return [item for item in items if isinstance(item, Header)]


LONG = {"role": "user", "content": "x" * 200_000}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (json([USER, ANSWER]), "openai-chat"),
        (json({"messages": [USER]}), "openai-chat"),
        (json([USER, TOOL_CALL]), "openai-chat"),
        (json([USER, TOOL_USE]), "anthropic-messages"),
        (json([LONG, TOOL_USE]), "anthropic-messages"),
        (json([LONG, TOOL_CALL]), "openai-chat"),
        (json([LONG, ANSWER]), "openai-chat"),
        (json({"system": "be kind", "messages": [USER]}), "anthropic-messages"),
        (json({"messages": [USER], "tools": [{"name": "a", "input_schema": {}}]}), "anthropic-messages"),
        (json({"messages": [USER], "tools": [{"type": "function", "function": {"name": "a"}}]}), "openai-chat"),
        (lines(USER, TOOL_USE), "anthropic-messages"),
        (lines([USER], [USER, TOOL_CALL]), "openai-chat"),
        (json({"choices": [{"message": ANSWER}]}), "openai-chat"),
        (
            json({"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}),
            "anthropic-messages",
        ),
        (json([{"task_id": 1, "reward": 0.0, "info": {"actions": []}, "traj": [USER]}]), "openai-chat"),
        (msgspec.json.format(json([USER, ANSWER])), "openai-chat"),
    ],
)
def test_messages_are_told_apart_by_their_content(data: bytes, name: str) -> None:
    assert who(data) == name


@pytest.mark.parametrize(
    "value",
    [
        {"scenario": "s", "status": "completed", "actions": [{"tool": "a"}], "messages": [ANSWER]},
        {"info": {"exit_status": "Submitted"}, "messages": [USER], "trajectory_format": "mini-swe-agent-1"},
        [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}],
        [{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "a", "input": {}}]}],
        [USER, {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{}"}],
        {"version": 2, "status": "success", "samples": [{"messages": [USER]}]},
        {"trace": {}, "observations": []},
        {"score": 1},
    ],
)
def test_a_harness_that_keeps_its_calls_elsewhere_is_not_read_as_plain_messages(value: object) -> None:
    assert who(json(value)) is None


def test_session_lines_of_a_harness_are_not_read_as_plain_messages() -> None:
    row = {"parentUuid": None, "uuid": "u", "sessionId": "s", "type": "user", "message": USER}
    assert who(lines(row, row)) is None


def test_blocks_of_the_other_vendor_are_a_fault_and_never_dropped() -> None:
    _, log = read("openai-chat", document(json([USER, TOOL_USE, TOOL_RESULT, ANSWER])))
    assert codes(log) == ["adapter/wrong-format"] * 2
    assert log.faults[0].place is not None
    assert log.faults[0].place.pointer == "/1"


def test_an_exchange_that_repeats_the_history_continues_its_conversation() -> None:
    first = {"request": {"messages": [USER], "model": "m"}, "response": {"choices": [{"message": TOOL_CALL}]}}
    result = {"role": "tool", "tool_call_id": "c", "content": "x"}
    history = [USER, {**TOOL_CALL, "content": None, "refusal": None}, result]
    second = {"request": {"messages": history}, "response": {"choices": [{"message": ANSWER}]}}
    for data in (json([first, second]), lines(first, second), json({"exchanges": [first, second]})):
        items, log = read("openai-chat", document(data))
        assert log.faults == []
        kinds = [type(item) for item in items]
        assert kinds == [Header, UserMessage, Decision, ToolCall, ToolResult, Decision, AssistantMessage]


def test_an_exchange_about_something_else_is_another_trace() -> None:
    one = {"request": {"messages": [USER]}, "response": {"choices": [{"message": ANSWER}]}}
    two = {
        "request": {"messages": [{"role": "user", "content": "stop"}]},
        "response": {"choices": [{"message": ANSWER}]},
    }
    items, _ = read("openai-chat", document(json([one, two])))
    assert len(headers(items)) == 2


def test_interleaved_conversations_are_kept_apart() -> None:
    def exchange(*told: object, answer: str) -> dict[str, Any]:
        response = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
        return {"request": {"messages": list(told)}, "response": response}

    a1 = exchange({"role": "user", "content": "a"}, answer="A")
    b1 = exchange({"role": "user", "content": "b"}, answer="B")
    a2 = exchange(
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "a?"},
        answer="AA",
    )
    items, _ = read("openai-chat", document(lines(a1, b1, a2)))
    texts: list[list[str]] = []
    for item in items:
        if isinstance(item, Header):
            texts.append([])
        elif isinstance(item, UserMessage | AssistantMessage):
            texts[-1].append(item.text)
    assert texts == [["a", "A", "a?", "AA"], ["b", "B"]]


def test_a_system_prompt_that_changes_does_not_tear_a_conversation_apart() -> None:
    def told(clock: str, *rest: object) -> list[object]:
        return [{"role": "system", "content": f"It is {clock}."}, USER, *rest]

    one = {"request": {"messages": told("noon")}, "response": {"choices": [{"message": ANSWER}]}}
    two = {"request": {"messages": told("one", ANSWER, USER)}, "response": {"choices": [{"message": ANSWER}]}}
    items, _ = read("openai-chat", document(json([one, two])))
    assert len(headers(items)) == 1


@pytest.mark.parametrize(("stop", "is_whole"), [("stop", True), ("length", False), ("content_filter", False)])
def test_an_answer_that_was_cut_off_is_no_end(stop: str, is_whole: bool) -> None:
    response = {"choices": [{"message": ANSWER, "finish_reason": stop}]}
    items, log = read("openai-chat", document(json({"request": {"messages": [USER]}, "response": response})))
    assert headers(items)[0].complete is is_whole
    assert [type(event) is RunEnd for event in events(items)][-1] is not is_whole
    assert log.tallies[0].end == ("inferred" if is_whole else "")


def test_an_open_call_is_no_end() -> None:
    items, _ = read("openai-chat", document(json([USER, TOOL_CALL])))
    assert not headers(items)[0].complete
    items, _ = read("openai-chat", document(json([USER, TOOL_CALL])), options=Options(complete=True))
    assert headers(items)[0].complete


def test_a_damaged_message_line_is_a_fault_and_gaps() -> None:
    items, log = read("openai-chat", document(lines(USER, TOOL_CALL) + b"{broken\n" + lines(ANSWER)))
    assert codes(log) == ["adapter/damaged-record"]
    gaps = [event for event in events(items) if isinstance(event, Gap)]
    assert [gap.turn for gap in gaps] == [1, None]


def test_something_that_is_no_message_is_a_fault() -> None:
    for name in ("openai-chat", "anthropic-messages"):
        _, log = read(name, document(json([USER, 3, {"content": "who said this"}])))
        assert codes(log) == ["adapter/damaged-record"] * 2


def test_a_document_cut_off_in_the_middle_is_a_fault() -> None:
    _, log = read("openai-chat", document(json([USER, ANSWER])[:-5]))
    assert codes(log) == ["adapter/damaged-document"]
    assert "cut off" in log.faults[0].sentence


def test_a_cut_document_is_still_known_for_what_it_is() -> None:
    assert who(json([USER, TOOL_USE])[:-5]) == "anthropic-messages"
    assert who(json([USER, TOOL_CALL])[:-5]) == "openai-chat"


def test_places_are_pointers_and_message_numbers() -> None:
    raw = document(json({"messages": [USER, TOOL_CALL]}), "a.json")
    found = adapter("openai-chat").origins([raw], Options(), {"a": [1, 3]})
    assert [(seq, origin.place.pointer, origin.raw_seq) for (_, seq), origin in found.items()] == [
        (1, "/messages/0", 0),
        (3, "/messages/1", 1),
    ]


def test_results_arrive_before_the_words_beside_them() -> None:
    both = {"role": "user", "content": [{"type": "text", "text": "and?"}, *TOOL_RESULT["content"]]}
    items, _ = read("anthropic-messages", document(json([USER, TOOL_USE, both])))
    assert [type(event) for event in events(items)] == [UserMessage, Decision, ToolCall, ToolResult, UserMessage]


def test_what_follows_a_server_result_was_written_with_it_in_sight() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        {"type": "text", "text": "Found nothing.", "citations": [1]},
        {"type": "text", "text": " Sorry.", "citations": None},
    ]
    items, _ = read("anthropic-messages", document(json([USER, {"role": "assistant", "content": blocks}])))
    call, result, answer = events(items)[2:]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert answer == AssistantMessage(seq=5, turn=2, text="Found nothing. Sorry.")
    assert (call.turn, result.turn, bytes(result.data)) == (1, 1, b"[]")


def test_a_document_without_conversations_is_a_fault() -> None:
    _, log = read("openai-chat", document(json({"results": []})))
    assert codes(log) == ["input/no-traces"]

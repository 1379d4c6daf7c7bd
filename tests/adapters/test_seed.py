"""The seed form: what people write by hand."""

from __future__ import annotations

import msgspec
import pytest

from outstep.adapters.base import Options, ReadLog
from outstep.codec import loads
from outstep.events import Gap, Header, ToolCall, ToolResult, UserMessage
from tests.adapters.recorded import document, events, read


def seed(*records: object, **head: object) -> bytes:
    return msgspec.json.encode({"traceId": "t", **head, "events": records})


def codes(log: ReadLog) -> list[str]:
    return [fault.code for fault in log.faults]


def only_result(**members: object) -> ToolResult:
    items, log = read("native", document(seed({"type": "tool.result", "seq": 1, "callId": "c", **members})))
    assert log.faults == []
    (event,) = events(items)
    assert isinstance(event, ToolResult)
    return event


@pytest.mark.parametrize(
    ("ok", "outcome"), [(True, "ok"), (False, "failed"), (None, "unrecorded"), ("yes", "unrecorded")]
)
def test_ok_tells_the_outcome_and_nothing_else_does(ok: object, outcome: str) -> None:
    assert only_result(ok=ok).outcome == outcome


def test_a_result_without_flag_is_unrecorded() -> None:
    assert only_result(data={"error": "boom"}).outcome == "unrecorded"


def test_the_error_of_a_failed_result_is_taken_from_its_data() -> None:
    assert only_result(ok=False, data={"error": "bank offline"}).error == "bank offline"
    assert only_result(ok=False, data={"error": {"message": "late"}}).error == "late"
    assert only_result(ok=False, data={"message": "no"}).error == "no"
    assert only_result(ok=True, data={"error": "none"}).error == ""


def test_text_is_text_and_never_data() -> None:
    result = only_result(ok=True, data="plain")
    assert (result.text, bytes(result.data)) == ("plain", b"")


def test_numbers_keep_their_digits() -> None:
    data = b'{"traceId":"t","events":[{"type":"tool.call","seq":1,"callId":"c","name":"a","args":{"n":8400.00}}]}'
    items, _ = read("native", document(data))
    (call,) = events(items)
    assert isinstance(call, ToolCall)
    assert bytes(call.args) == b'{"n":8400.00}'


def test_arguments_as_text_are_decoded_or_kept_raw() -> None:
    call = {"type": "tool.call", "callId": "c", "name": "a"}
    items, _ = read("native", document(seed({**call, "seq": 1, "args": '{"n": 1}'}, {**call, "seq": 2, "args": "n=1"})))
    good, bad = events(items)
    assert isinstance(good, ToolCall)
    assert isinstance(bad, ToolCall)
    assert loads(good.args) == {"n": 1}
    assert (bytes(bad.args), bad.args_raw) == (b"", "n=1")


def header_of(*records: object, options: Options | None = None) -> Header:
    items, _ = read("native", document(seed(*records)), options=options)
    assert isinstance(items[0], Header)
    return items[0]


USER = {"type": "user.message", "seq": 1, "content": "go"}
CALL = {"type": "tool.call", "seq": 2, "callId": "c", "name": "a"}
RESULT = {"type": "tool.result", "seq": 3, "callId": "c", "ok": True}
ANSWER = {"type": "assistant.message", "seq": 4, "content": "done"}


def test_a_trace_that_ends_with_a_message_and_no_open_call_is_complete() -> None:
    assert header_of(USER, CALL, RESULT, ANSWER).complete
    assert header_of(USER).complete


def test_a_trace_that_ends_with_a_result_or_an_open_call_is_not_complete() -> None:
    assert not header_of(USER, CALL, RESULT).complete
    assert not header_of(USER, CALL, ANSWER).complete
    assert header_of(USER, CALL, options=Options(complete=True)).complete


def test_a_result_before_its_call_answers_it_for_completeness_only() -> None:
    assert header_of(USER, {**RESULT, "seq": 2}, {**CALL, "seq": 3}, ANSWER).complete


def test_an_end_mark_says_how_the_run_ended_and_nothing_is_inferred() -> None:
    _, log = read("native", document(seed(USER, {"type": "run.end", "seq": 2, "end": "aborted"})))
    assert log.tallies[0].end == ""


def test_a_trace_without_events_is_a_trace_without_events() -> None:
    items, log = read("native", document(seed()))
    assert [type(item) for item in items] == [Header]
    assert log.faults == []


@pytest.mark.parametrize("data", [b'{"schema":"suite-draft","cases":[]}', b"[]", b'{"traces":[]}'])
def test_a_document_without_traces_is_a_fault(data: bytes) -> None:
    items, log = read("native", document(data))
    assert items == []
    assert codes(log) == ["input/no-traces"]


def test_another_schema_is_refused_by_name() -> None:
    _, log = read("native", document(seed(USER, schema="canonical-2031")))
    assert codes(log) == ["adapter/unpinned-version"]
    items, log = read("native", document(seed(USER, schema="canonical-2031")), options=Options(unpinned=True))
    assert log.faults == []
    assert isinstance(items[0], Header)
    assert items[0].sources[0].unpinned


@pytest.mark.parametrize(
    "record",
    [
        "text",
        {"seq": 2},
        {"type": "user.message", "seq": 2.5},
        {"type": "user.message", "seq": True},
        {"type": "user.message"},
        {"type": "user.message", "seq": 2, "turn": "x"},
        {"type": "approval", "seq": 2, "decision": "perhaps"},
        {"type": "run.end", "seq": 2, "end": "maybe"},
        {"type": "tool.result", "seq": 2, "outcome": "great"},
    ],
)
def test_a_record_that_is_no_event_is_a_fault_with_its_pointer_and_a_gap(record: object) -> None:
    items, log = read("native", document(seed(USER, record, {**ANSWER, "seq": 9})))
    assert codes(log) == ["adapter/damaged-record"]
    assert log.faults[0].place is not None
    assert log.faults[0].place.pointer == "/events/1"
    assert [type(event) for event in events(items)][1] is Gap


def test_records_without_any_number_are_read_in_file_order() -> None:
    items, log = read("native", document(seed({"type": "user.message"}, {"type": "assistant.message"})))
    assert log.faults == []
    assert [event.seq for event in events(items)] == [1, 2]


def test_lines_of_events_with_a_damaged_one_are_read_around_it() -> None:
    lines = [msgspec.json.encode(USER), b'{"type": "tool', msgspec.json.encode({**ANSWER, "seq": 9}), b""]
    items, log = read("native", document(b"\n".join(lines)))
    assert codes(log) == ["adapter/damaged-record"]
    assert log.faults[0].place is not None
    assert log.faults[0].place.line == 2
    assert [type(event).__name__ for event in events(items)] == ["UserMessage", "Gap", "AssistantMessage"]


def test_a_torn_line_of_events_cuts_the_trace_off() -> None:
    items, log = read("native", document(msgspec.json.encode(USER) + b"\n" + msgspec.json.encode(CALL)[:-4]))
    assert log.faults == []
    assert isinstance(items[0], Header)
    assert not items[0].complete
    assert [type(event).__name__ for event in events(items)] == ["UserMessage", "Gap", "RunEnd"]


def test_the_header_lists_what_the_trace_can_hold() -> None:
    assert "approval" not in header_of(USER).records
    assert "approval" in header_of(USER, {"type": "approval", "seq": 2, "decision": "asked"}).records


def test_several_documents_on_lines_are_several_traces() -> None:
    items, log = read("native", document(seed(USER) + b"\n" + seed(USER, traceId="u") + b"\n"))
    assert [item.id for item in items if isinstance(item, Header)] == ["t", "u"]
    assert events(items) == [UserMessage(seq=1, text="go")] * 2
    assert log.faults == []

"""The canonical form: order, damage, and what makes a trace well-formed."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from outstep.adapters import adapter, canonical
from outstep.adapters.base import Document, Options, ReadLog
from outstep.events import AssistantMessage, Context, Gap, Header, RunEnd, ToolCall, UserMessage
from tests.adapters.recorded import document, events, read

HEADER = b'{"type":"trace","schema":"trace/v1","id":"t"}\n'


def user(seq: int) -> bytes:
    return b'{"type":"user.message","seq":%d}\n' % seq


def call(seq: int, turn: int, agent: str = "main", call_id: str = "") -> bytes:
    line = '{"type":"tool.call","tool":"a","seq":%d,"turn":%d,"agent":"%s","call_id":"%s"}\n'
    return (line % (seq, turn, agent, call_id)).encode()


def codes(log: ReadLog) -> list[str]:
    return [fault.code for fault in log.faults]


def test_a_damaged_line_is_a_fault_at_its_place_and_a_gap_in_the_trace() -> None:
    items, log = read("native", document(HEADER + call(1, 1) + b"{damaged}\n" + call(3, 1)))
    (fault,) = log.faults
    assert fault.code == "adapter/damaged-record"
    assert fault.place is not None
    assert (fault.place.line, fault.place.offset) == (3, len(HEADER + call(1, 1)))
    kinds = [type(event) for event in events(items)]
    assert kinds == [ToolCall, Gap, Gap, ToolCall]
    assert [getattr(event, "turn", None) for event in events(items)] == [1, 1, None, 1]
    assert [event.seq for event in events(items)] == [1, 2, 3, 4]


def test_a_gap_takes_a_free_number_and_leaves_the_others_alone() -> None:
    items, _ = read("native", document(HEADER + user(1) + b"\x00\n" + user(5)))
    assert [(type(event), event.seq) for event in events(items)] == [(UserMessage, 1), (Gap, 2), (UserMessage, 5)]


def test_two_records_on_one_line_are_damage_and_not_two_records() -> None:
    items, log = read("native", document(HEADER + user(1).strip() + user(2) + user(3)))
    assert codes(log) == ["adapter/damaged-record"]
    assert [type(event) for event in events(items)] == [Gap, UserMessage]


def test_a_torn_last_line_is_a_gap_and_no_fault() -> None:
    items, log = read("native", document(HEADER + user(1) + b'{"type":"tool.ca'))
    assert log.faults == []
    assert [type(event) for event in events(items)] == [UserMessage, Gap, RunEnd]
    assert events(items)[-1] == RunEnd(seq=3, end="cut_off", reason="the last line (3) is cut off")


def test_a_last_line_cut_inside_a_character_is_torn() -> None:
    items, log = read("native", document(HEADER + user(1) + '{"type":"user.message","seq":2,"text":"é'.encode()[:-1]))
    assert log.faults == []
    assert isinstance(events(items)[-1], RunEnd)


def test_a_whole_last_line_that_is_no_event_is_damage() -> None:
    _, log = read("native", document(HEADER + user(1) + b'{"mood":"good"}'))
    assert codes(log) == ["adapter/damaged-record"]


def test_a_whole_last_line_without_line_end_is_read() -> None:
    items, log = read("native", document(HEADER + user(1).strip()))
    assert log.faults == []
    assert [event.seq for event in events(items)] == [1]


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_read() -> None:
    data = b"\xef\xbb\xbf" + (HEADER + b"\n" + user(1) + b"  \n" + user(2)).replace(b"\n", b"\r\n")
    items, log = read("native", document(data))
    assert log.faults == []
    assert [event.seq for event in events(items)] == [1, 2]


def test_invalid_utf8_in_arguments_is_damage() -> None:
    line = b'{"type":"tool.call","tool":"a","seq":1,"args":{"x":"\xff"}}\n'
    _, log = read("native", document(HEADER + line + user(2)))
    assert codes(log) == ["adapter/damaged-record"]


def test_another_schema_is_refused_by_name_and_other_traces_of_the_file_are_read() -> None:
    other = HEADER.replace(b"trace/v1", b"trace/v9")
    items, log = read("native", document(other + user(1) + HEADER + user(2)))
    assert codes(log) == ["adapter/unpinned-version"]
    assert "`trace/v9`" in log.faults[0].sentence
    assert [event.seq for event in events(items)] == [2]


def test_another_schema_is_read_and_marked_on_request() -> None:
    data = HEADER.replace(b"trace/v1", b"trace/v9") + user(1)
    items, log = read("native", document(data), options=Options(unpinned=True))
    assert log.faults == []
    assert isinstance(items[0], Header)
    assert items[0].sources[0].unpinned
    assert items[0].sources[0].version == "trace/v9"


def test_a_turn_that_opens_again_is_malformed() -> None:
    _, log = read("native", document(HEADER + call(1, 1) + call(2, 2) + call(3, 1)))
    assert codes(log) == ["trace/malformed"]
    assert "event 3 (`tool.call`) opens turn 1 of lane `main` again" in log.faults[0].sentence


@pytest.mark.parametrize(
    "lanes", ['{"id":"main","kind":"user"}', '{"id":"main","parent":"main"}', '{"id":"b"},{"id":"b","kind":"user"}']
)
def test_a_header_cannot_make_the_agent_another_lane_or_list_a_lane_twice(lanes: str) -> None:
    header = HEADER.replace(b'"id":"t"', b'"id":"t","lanes":[' + lanes.encode() + b"]")
    _, log = read("native", document(header + call(1, 1)))
    assert codes(log) == ["trace/malformed"]


def test_turns_of_two_lanes_do_not_disturb_each_other() -> None:
    _, log = read("native", document(HEADER + call(1, 5) + call(2, 1, "b") + call(3, 5) + call(4, 2, "b")))
    assert log.faults == []


def test_a_lane_that_begins_before_its_spawning_call_is_malformed() -> None:
    header = HEADER.replace(b'"id":"t"', b'"id":"t","lanes":[{"id":"b","parent":"main","call":"c1"}]')
    _, log = read("native", document(header + call(1, 1, "b") + call(2, 1, call_id="c1")))
    assert codes(log) == ["trace/malformed"]
    _, log = read("native", document(header + call(1, 1, call_id="c1") + call(2, 1, "b")))
    assert log.faults == []


def test_numbers_used_twice_are_remarked_on_behind_the_second() -> None:
    items, _ = read("native", document(HEADER + user(4) + user(4) + user(4)))
    assert [event.seq for event in events(items)] == [1, 2, 3, 4, 5]
    remarks = [event for event in events(items) if isinstance(event, Context)]
    assert [(remark.seq, remark.what, remark.name) for remark in remarks] == [
        (3, "record.duplicate_seq", "4"),
        (5, "record.duplicate_seq", "4"),
    ]


def test_the_caller_may_take_a_trace_as_complete() -> None:
    items, log = read("native", document(HEADER + user(1)), options=Options(complete=True))
    assert isinstance(items[0], Header)
    assert items[0].complete
    assert log.tallies[0].end == "taken"


def test_a_torn_trace_is_not_taken_as_complete() -> None:
    items, log = read("native", document(HEADER + user(1) + b"{"), options=Options(complete=True))
    assert isinstance(items[0], Header)
    assert not items[0].complete
    assert log.tallies[0].end == ""


def test_records_are_counted() -> None:
    _, log = read("native", document(HEADER + user(1) + b"\n" + b'{"type":"x","seq":2}\n' + HEADER + b"{\n"))
    assert [(tally.trace, tally.records, tally.skipped) for tally in log.tallies] == [
        ("t", 2, {"x": 1}),
        ("t#2", 1, {}),
    ]


@pytest.mark.parametrize("tail", [b"", b'{"type":"tool.ca'])
def test_a_long_trace_flows_in_pieces(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(HEADER + b"".join(user(number) for number in range(1, 40_000)) + tail)
    log = ReadLog()
    batches = list(adapter("native").stream([Document("long.jsonl", path)], Options(), log))
    assert len(batches) > 5
    seqs = [item.seq for batch in batches for item in batch if not isinstance(item, Header)]
    assert seqs == list(range(1, 40_000 + (2 if tail else 0)))
    assert sum(isinstance(item, Header) for batch in batches for item in batch) == 1


def test_a_long_trace_with_a_late_record_is_read_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "HELD", 10)
    numbers = [*range(2, 5000), 1]
    items, log = read("native", document(HEADER + b"".join(user(number) for number in numbers)))
    assert log.faults == []
    assert [event.seq for event in events(items)] == list(range(1, 5000))


def test_a_long_trace_followed_by_another_ends_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "HELD", 10)
    long = b"".join(user(number) for number in range(1, 5000))
    items, log = read("native", document(HEADER + long + HEADER + long), options=Options(complete=True))
    assert [tally.records for tally in log.tallies] == [4999, 4999]
    ends = [event for event in events(items) if isinstance(event, RunEnd)]
    assert [end.end for end in ends] == ["completed", "completed"]


def test_an_event_of_a_long_trace_that_is_kept_holds_no_other_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "HELD", 10)
    line = '{"type":"tool.call","tool":"a","seq":%d,"call_id":"c","args":{"note":"%s"}}\n'
    text = "".join(line % (number, "x" * 300) for number in range(1, 6000)).encode()
    tracemalloc.start()
    try:
        batches = adapter("native").stream([document(HEADER + text)], Options(), ReadLog())
        kept = [batch[-1] for batch in batches]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) > 20
    assert held < len(text) / 4


def test_places_in_a_crooked_trace_are_those_of_the_file() -> None:
    raw = document(HEADER + user(3) + b"{broken\n" + user(1) + user(3))
    items, _ = read("native", raw)
    found = adapter("native").origins([raw], Options(), {"t": [event.seq for event in events(items)]})
    lines = [(found["t", event.seq].place.line, found["t", event.seq].raw_seq) for event in events(items)]
    # 1 (line 4), 3 (line 2) with the hole behind it, 3 again (line 5) with its remark.
    assert lines == [(4, 1), (2, 3), (3, None), (5, 3), (5, 3)]


@pytest.mark.parametrize("between", [b"", b"\n", b" \r\n", b"{broken\n", user(3).strip() + user(4) + b"\n"])
def test_places_are_those_of_the_file_in_whichever_trace_they_are_sought(between: bytes) -> None:
    headers = [HEADER.replace(b'"t"', b'"%s"' % name) for name in (b"a", b"b", b"c")]
    parts = [headers[0], user(1), user(2), between, headers[1], user(1), user(2), headers[2], user(1)]
    raw = document(b"".join(parts))
    found = adapter("native").origins([raw], Options(), {"b": [2], "c": [1]})
    before = b"".join(parts[:6]), b"".join(parts[:8])
    assert {key: (one.place.line, one.place.offset, one.record) for key, one in found.items()} == {
        ("b", 2): (before[0].count(b"\n") + 1, len(before[0]), user(2).decode().strip()),
        ("c", 1): (before[1].count(b"\n") + 1, len(before[1]), user(1).decode().strip()),
    }


def test_messages_keep_their_text_exactly() -> None:
    line = '{"type":"assistant.message","seq":1,"text":"a\\u0000b \\ud83d\\ude00 退款"}\n'.encode()
    items, _ = read("native", document(HEADER + line))
    assert events(items) == [AssistantMessage(seq=1, text="a\0b 😀 退款")]

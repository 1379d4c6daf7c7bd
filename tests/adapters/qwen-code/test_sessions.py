"""Sessions of Qwen Code: sub-agents, cut and damaged files, versions."""

from __future__ import annotations

from pathlib import Path

from outstep.adapters.base import Document, Options
from outstep.events import Context, Gap, Header, RunEnd, ToolCall, ToolResult
from tests.adapters.recorded import document, events, read

HERE = Path(__file__).parent
FAMILY = HERE / "family"
MAIN = "session.jsonl"
AGENT = "agent-general-purpose-c1.jsonl"


def of(folder: Path, *names: str) -> list[Document]:
    return [Document(name, folder / name) for name in names]


def test_a_sub_agent_is_a_lane_that_hangs_on_its_call() -> None:
    items, log = read("qwen-code", *of(FAMILY, AGENT, MAIN))
    assert log.faults == []
    (header,) = [item for item in items if isinstance(item, Header)]
    (lane,) = header.lanes
    assert (lane.id, lane.parent, lane.call) == ("general-purpose-c1", "main", "c1")
    assert [source.uri for source in header.sources] == [AGENT, MAIN]
    found = events(items)
    assert not any(isinstance(event, Gap) for event in found)
    spawn = next(event for event in found if isinstance(event, ToolCall) and event.tool == "agent")
    inside = [event for event in found if getattr(event, "agent", "") == lane.id]
    assert min(event.seq for event in inside) > spawn.seq
    assert isinstance(inside[0], Context), "its task was given by an agent, not by a person"
    assert inside[0].what == "delegation"
    (call,) = [event for event in inside if isinstance(event, ToolCall)]
    (result,) = [event for event in inside if isinstance(event, ToolResult)]
    assert (call.tool, call.turn, result.outcome) == ("mcp__outstep__order_get", 1, "ok")


def test_without_its_record_a_sub_agent_may_have_done_anything() -> None:
    items, _ = read("qwen-code", *of(FAMILY, MAIN))
    gaps = [event for event in events(items) if isinstance(event, Gap)]
    assert [gap.may_hide for gap in gaps] == [("tool.call", "tool.result")] * 3, "at the call, its result and the end"
    assert {gap.agent for gap in gaps} == {None}


def test_a_notification_is_no_word_of_the_person() -> None:
    items, _ = read("qwen-code", *of(FAMILY, MAIN, AGENT))
    told = [event.what for event in events(items) if isinstance(event, Context)]
    assert told == ["delegation", "notification"]


def test_a_cut_last_line_is_a_gap_and_ends_the_record() -> None:
    data = (HERE / "0.24" / "failed-call" / MAIN).read_bytes()
    items, log = read("qwen-code", document(data[:-40]))
    assert log.faults == []
    *_, gap, end = events(items)
    assert isinstance(gap, Gap)
    assert isinstance(end, RunEnd)
    assert end.end == "cut_off"


def test_a_damaged_line_is_named_and_leaves_a_gap() -> None:
    lines = (HERE / "0.24" / "failed-call" / MAIN).read_bytes().splitlines(keepends=True)
    lines[3] = b'{"uuid": \n'
    items, log = read("qwen-code", document(b"".join(lines)))
    assert [(fault.code, fault.place.line if fault.place else 0) for fault in log.faults] == [
        ("adapter/damaged-record", 4)
    ]
    assert any(isinstance(event, Gap) for event in events(items))


def test_a_version_without_fixture_is_refused_by_name() -> None:
    data = (HERE / "0.24" / "failed-call" / MAIN).read_bytes().replace(b'"0.24.4"', b'"1.3.0"')
    items, log = read("qwen-code", document(data))
    assert items == []
    (fault,) = log.faults
    assert fault.code == "adapter/unpinned-version"
    assert "Qwen Code 1.3" in fault.sentence
    items, _ = read("qwen-code", document(data), options=Options(unpinned=True))
    (header,) = [item for item in items if isinstance(item, Header)]
    assert header.sources[0].unpinned


def test_exit_codes_that_only_the_text_tells_are_read() -> None:
    data = (HERE / "0.15" / "refused" / MAIN).read_bytes()
    told = b"Command: ls\\nExit Code: 3\\nSignal: 0"
    line = next(line for line in data.splitlines() if b'"tool_result"' in line and b'"c1"' in line)
    changed = line.replace(b"mcp__outstep__order_get", b"run_shell_command")
    changed = changed.replace(b'{\\"id\\":\\"A1\\",\\"amount\\":500}', told)
    items, _ = read("qwen-code", document(data.replace(line, changed)))
    first = next(event for event in events(items) if isinstance(event, ToolResult))
    assert (first.outcome, first.exit) == ("failed", 3)

"""What logs are stored in, and how each of them breaks."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from outstep.adapters.base import Document
from outstep.adapters.dsh import ADAPTER, storage, text
from outstep.events import Event, Gap, RunEnd
from tests.adapters.dsh.support import RECORDINGS, Script, header, one, read
from tests.adapters.dsh.test_logs import small


def frames(lines: list[bytes]) -> list[bytes]:
    """One frame a line, as dsh writes them: with a checksum, without a size."""
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    return [compressor.compress(line) for line in lines]


def codes(data: bytes, name: str = "session.v4.jsonl.zstd") -> tuple[list[Event], list[str]]:
    events, log = one(data, name=name)
    return events, [fault.code for fault in log.faults]


def end(events: list[Event]) -> str:
    last = events[-1]
    assert isinstance(last, RunEnd)
    return last.end


def sniffs(data: bytes, name: str = "x") -> bool:
    document = Document(name, data=data)
    return ADAPTER.sniff(document, document.head())


# --- telling formats apart ---


def test_a_session_is_known_by_its_first_bytes() -> None:
    lines = small().lines()
    assert sniffs(b"".join(lines))
    assert sniffs(b"\xef\xbb\xbf" + b"".join(lines))
    assert sniffs(b"".join(frames(lines)))
    assert sniffs(lines[0].replace(b'"version": 4', b'"version": 9'))
    assert sniffs(b"".join(lines[1:])), "rows without a header are a damaged session"
    assert sniffs(b"\x28\xb5\x2f\xfd damaged", "a/session.v4.jsonl.zstd")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"type": "trace", "schema": "trace/v1"}\n',
        b'{"type": "tool.call", "tool": "x", "seq": 1}\n',
        b'{"type": "session", "id": "x"}\n',
        b'{"messages": []}',
        b"\x28\xb5\x2f\xfd damaged",
        b"PK\x03\x04 damaged",
        b"SQLite format 3\0" + b"\0" * 84,
        bytes(range(256)),
    ],
)
def test_other_documents_are_not_sessions(data: bytes) -> None:
    assert not sniffs(data)


# --- zstd ---


def test_frames_are_read_like_lines() -> None:
    assert codes(b"".join(frames(small().lines()))) == (small().events(), [])
    assert codes(frames([small().text()])[0]) == (small().events(), [])


@pytest.mark.parametrize("cut", [1, 4, 20])
def test_a_torn_last_frame_is_a_gap_and_the_run_is_cut_off(cut: int) -> None:
    events, faults = codes(b"".join(frames(small().lines()))[:-cut])
    assert faults == []
    assert [event.reason for event in events if isinstance(event, Gap)] == [
        "the log stops in the middle of a zstd frame"
    ]
    assert end(events) == "cut_off"


def test_complete_lines_of_a_torn_frame_are_kept() -> None:
    head, *rows = small().lines()
    compressor = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compressobj()
    blocks = [compressor.compress(row) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for row in rows]
    whole = small().events()
    for count in range(1, len(blocks)):
        events, faults = codes(frames([head])[0] + b"".join(blocks[:count]) + blocks[count][:-1])
        assert faults == []
        assert end(events) == "cut_off"
        kept = [event for event in events if not isinstance(event, Gap | RunEnd)]
        assert kept == whole[: len(kept)]
    assert len(kept) == len(whole) - 1


def test_a_damaged_frame_takes_only_its_own_records() -> None:
    parts = frames(small().lines())
    middle = bytearray(parts[6])
    middle[-1] ^= 0xFF  # the checksum
    events, faults = codes(b"".join([*parts[:6], bytes(middle), *parts[7:]]))
    assert faults == ["adapter/damaged-frame"]
    assert [type(event).__name__ for event in events].count("Gap") == 1
    assert len(events) == len(small().events())  # a gap for the result
    assert end(events) == "completed"


def test_garbage_behind_the_last_frame_is_damage() -> None:
    events, faults = codes(b"".join(frames(small().lines())) + b"\0" * 64)
    assert faults == ["adapter/damaged-frame"]
    assert any(isinstance(event, Gap) for event in events)


def test_a_log_that_was_packed_in_one_go_is_known_too() -> None:
    lines = small().lines()
    padding = b"".join(b'{"type": "todo/write", "seq": %d, "data": {"x": "%x"}}\n' % (n, n**40) for n in range(11, 900))
    assert sniffs(frames([b"".join(lines) + padding])[0], "log.zst")


def test_a_log_full_of_damage_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MOST_DAMAGED", 30)
    data = b"".join(small().lines()[:3]) + b"{}\n" * 1_000_000
    for packed in (data, frames([data])[0]):
        _, faults = codes(packed, "session.jsonl")
        assert faults == [*["adapter/damaged-record"] * 20, "adapter/too-large", "adapter/damaged-record"]


def test_a_bomb_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "FREE", 1 << 16)
    bomb = frames([b"x" * (1 << 22)])[0]
    events, faults = codes(b"".join(frames(small().lines()[:3])) + bomb)
    assert faults == ["adapter/too-large"]
    assert end(events) == "cut_off"


def test_a_line_without_end_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LARGEST_LINE", 1 << 10)
    lines = small().lines()
    lines.insert(3, b'{"type": "x' + b"x" * (1 << 19) + b'"}\n')
    events, faults = codes(b"".join(lines), "session.jsonl")
    assert faults == ["adapter/too-large"]
    assert end(events) == "completed"
    assert len(events) == len(small().events()) + 1


def test_a_line_of_megabytes_is_read() -> None:
    script = Script()
    script.user("x" * 5_000_000)
    script.end()
    assert len(script.events()) == 2


def test_the_window_of_a_frame_is_bounded() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=31, write_content_size=False)
    huge = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = huge.compress(small().text()) + huge.flush()
    _, faults = codes(data)
    assert faults == ["adapter/damaged-frame"]


# --- archives ---


def archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def test_an_export_is_read_with_its_sub_agents() -> None:
    child = Script(id="child", parentSession="s", origin="subagent")
    child.user("Look it up.")
    child.end()
    parent = Script()
    call = parent.call("subagent", args={"prompt": "Look it up."})
    parent.result("done", call)
    parent.end()
    data = archive({
        "attachments/a.png": b"\x89PNG",
        "subagents/child/session.v4.jsonl": child.text(),
        "session.v4.jsonl": parent.text(),
    })  # fmt: skip
    assert sniffs(data)
    traces, log = read([Document("export.zip", data=data)])
    assert log.faults == []
    assert [source.uri for source in header(traces[0]).sources] == [
        "export.zip!session.v4.jsonl",
        "export.zip!subagents/child/session.v4.jsonl",
    ]


def test_a_damaged_archive_is_a_fault() -> None:
    data = archive({"session.v4.jsonl": small().text() * 20})
    for broken in (data[:-30], data[: len(data) // 2], data[:60] + b"\xff" * 8 + data[68:]):
        assert codes(broken, "export.zip") == ([], ["adapter/unreadable"])


def test_an_archive_that_says_it_unpacks_to_too_much_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "FREE", 1 << 10)
    data = archive({"session.v4.jsonl": small().text() + b"\n" * 1_000_000})
    assert codes(data, "export.zip") == ([], ["adapter/too-large"])


def test_a_member_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    lines = small().lines()
    padding = b"".join(
        b'{"type": "todo/write", "seq": %d, "data": {"x": "%x"}}\n' % (n, n**40) for n in range(11, 9000)
    )
    data = bytearray(archive({"session.v4.jsonl": b"".join(lines) + padding}))
    start = data.index(b"PK\x01\x02") - 5000
    data[start : start + 50] = b"\xff" * 50
    events, faults = codes(bytes(data), "export.zip")
    assert faults == ["adapter/unreadable"]
    assert any(isinstance(event, Gap) for event in events)
    assert [event for event in events if not isinstance(event, Gap)][:-1] == small().events()[:-1]


def test_of_two_members_with_one_name_the_lost_one_is_told() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("session.v4.jsonl", small().text())
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("session.v4.jsonl", small().text())
    assert codes(buffer.getvalue(), "export.zip") == (small().events(), ["adapter/unreadable"])


def test_an_archive_without_logs_is_a_fault() -> None:
    assert codes(archive({"readme.txt": b"hello"}), "x.zip") == ([], ["adapter/unreadable"])


# --- databases ---

DATABASE = next((RECORDINGS / "pypi-0.1.0rc6" / "q2_sqlite_backend").rglob("*.sqlite"))


def changed(tmp_path: Path, change: Callable[[sqlite3.Connection], object]) -> bytes:
    copy = tmp_path / "sessions.sqlite"
    copy.write_bytes(DATABASE.read_bytes())
    connection = sqlite3.connect(copy)
    change(connection)
    connection.commit()
    connection.close()
    return copy.read_bytes()


def test_a_database_of_another_schema_is_refused_by_name(tmp_path: Path) -> None:
    data = changed(tmp_path, lambda database: database.execute("PRAGMA user_version = 17"))
    assert sniffs(data)
    events, log = one(data, name="sessions.sqlite")
    assert events == []
    assert [fault.code for fault in log.faults] == ["adapter/unpinned-version"]
    assert "schema 17; the dsh adapter is pinned to schema 15" in log.faults[0].sentence


def test_a_row_that_is_missing_in_a_database_is_a_gap(tmp_path: Path) -> None:
    data = changed(tmp_path, lambda database: database.execute("DELETE FROM events WHERE type = 'tool/result'"))
    events, faults = codes(data, "sessions.sqlite")
    assert faults == []
    assert any(isinstance(event, Gap) for event in events)


def test_a_row_that_is_no_json_is_a_fault_and_a_gap(tmp_path: Path) -> None:
    data = changed(
        tmp_path, lambda database: database.execute("UPDATE events SET data = '{' WHERE type = 'assistant/message'")
    )
    events, faults = codes(data, "sessions.sqlite")
    assert set(faults) == {"adapter/damaged-record"}
    assert end(events) == "completed"


def test_a_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    endless = (
        "CREATE VIEW events AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT 's' AS session_id, i AS seq, 'x' AS type, 1 AS time, '{}' AS data,"
        " NULL AS source_event_seqs, NULL AS surface_op, NULL AS ignorable FROM n"
    )
    data = changed(tmp_path, lambda database: database.executescript(f"DROP TABLE events; {endless};"))
    assert codes(data, "sessions.sqlite") == ([], ["adapter/unreadable"])


@pytest.mark.parametrize(
    "table",
    [
        "TABLE events (seq, data GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL)",
        "VIRTUAL TABLE events USING fts5(session_id, seq, type, time, data, source_event_seqs, surface_op, ignorable)",
    ],
)
def test_a_table_that_computes_what_it_holds_is_refused(table: str, tmp_path: Path) -> None:
    data = changed(tmp_path, lambda database: database.executescript(f"DROP TABLE events; CREATE {table};"))
    assert codes(data, "sessions.sqlite") == ([], ["adapter/unreadable"])


def test_a_database_with_rows_beside_it_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    path.write_bytes(DATABASE.read_bytes())
    (tmp_path / "sessions.sqlite-wal").write_bytes(b"rows")
    traces, log = read([Document("sessions.sqlite", path)])
    assert traces == []
    assert [fault.code for fault in log.faults] == ["adapter/unreadable"]


def test_a_file_that_is_gone_is_a_fault() -> None:
    traces, log = read([Document("gone.jsonl", Path("gone.jsonl"))])
    assert traces == []
    assert [fault.code for fault in log.faults] == ["adapter/unreadable"]

"""Whatever the bytes: no traceback, no hang, events in order, and the same again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from outstep import codec
from outstep.adapters.base import Batch, Document
from outstep.adapters.dsh import ADAPTER
from outstep.events import AssistantMessage, Decision, Gap, Header, RunEnd, ToolCall, ToolResult
from tests.adapters.dsh.support import RECORDINGS, documents, header, lines, read
from tests.adapters.dsh.test_logs import small

PLAIN = documents(RECORDINGS / "pypi-0.1.2rc1" / "q_plain_jsonl")[0].read()
ZSTD = documents(RECORDINGS / "pypi-0.2.1rc2" / "f2_sandbox_denied")[0].read()
DATABASE = documents(RECORDINGS / "pypi-0.1.0rc6" / "q2_sqlite_backend")[0].read()
ARCHIVE = documents(RECORDINGS / "pypi-0.1.5rc1" / "x_export_zip")[0].read()
SMALL = b"".join(small(0).lines())

HOSTILE = [
    b"\0" * 40,
    b"\n",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"9" * 5000,
    b"1e999",
    b"-0",
    b"\xff\xfe",
    b'"\\ud83d"',
    b"\x28\xb5\x2f\xfd",
    b"null",
    b"true",
    b"{}",
]
KEYS = [b'"seq":', b'"turn":', b'"step":', b'"callId":', b'"content":', b'"type":', b'"data":', b'"message":', b'"id":']


def check(data: bytes) -> None:
    document = Document("session.jsonl", data=data)
    ADAPTER.sniff(document, document.head())
    for unpinned in (False, True):
        traces, log = read([document], unpinned=unpinned)
        assert len(log.tallies) == len(traces)
        for batch in traces:
            check_order(batch)
            for item in batch:
                assert codec.decode_event(codec.encode(item)) is not None
        assert lines(traces) == lines(read([document], unpinned=unpinned)[0])


def check_order(batch: Batch) -> None:
    ids = {lane.id for lane in header(batch).lanes} | {"main", None}
    seq = 0
    turns: dict[str | None, int] = {}
    calls: set[int] = set()
    for event in batch[1:]:
        assert not isinstance(event, Header)
        assert event.seq > seq
        seq = event.seq
        assert getattr(event, "agent", None) in ids
        if isinstance(event, ToolCall):
            calls.add(seq)
        if isinstance(event, ToolResult) and event.call is not None:
            assert event.call in calls
        if isinstance(event, AssistantMessage | Decision | Gap | ToolCall) and event.turn is not None:
            assert event.turn >= turns.get(event.agent, 0)
            turns[event.agent] = event.turn
    assert isinstance(batch[-1], RunEnd)


@given(st.binary(max_size=2000))
def test_random_bytes(data: bytes) -> None:
    check(data)
    check(small().lines()[0] + data)
    check(b"\x28\xb5\x2f\xfd" + data)


@st.composite
def mutations(draw: st.DrawFn, source: bytes) -> bytes:
    data = bytearray(source)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.sampled_from(["flip", "cut", "drop", "insert", "value"]))
        if kind == "flip" and data:
            data[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del data[at:]
        elif kind == "drop":
            del data[at : at + draw(st.integers(1, 4000))]
        elif kind == "insert":
            data[at:at] = draw(st.sampled_from(HOSTILE))
        else:
            key = draw(st.sampled_from(KEYS))
            found = data.find(key, at)
            if found >= 0:
                start = found + len(key)
                data[start : start + draw(st.integers(0, 3))] = draw(st.sampled_from(HOSTILE))
    return bytes(data)


@given(mutations(SMALL))
def test_mutated_rows(data: bytes) -> None:
    check(data)


@settings(max_examples=40)
@given(st.sampled_from([PLAIN, ZSTD, DATABASE, ARCHIVE]).flatmap(mutations))
def test_mutated_recordings(data: bytes) -> None:
    check(data)


@given(st.permutations(small().lines()[1:]), st.sets(st.integers(0, 10), max_size=4))
def test_rows_in_any_order_with_some_missing(rows: list[bytes], missing: set[int]) -> None:
    kept = [row for number, row in enumerate(rows) if number not in missing]
    check(b"".join([small().lines()[0], *kept]))

"""Bad input never raises and never hangs, whatever the adapter."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outstep.adapters import adapter, discover
from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.opening import opening
from outstep.events import Header, UserMessage
from tests.adapters.recorded import document, folders, raw_document, read

MINE = ("native", "openai-chat", "anthropic-messages")
SMALL = {name: [raw_document(folder).read() for folder in folders(name)] for name in MINE}
SAMPLES = {name: [data for data in samples if len(data) < 8000] for name, samples in SMALL.items()}
HEADER = b'{"type":"trace","schema":"trace/v1","id":"t"}\n'

BAD = {
    "nothing": b"",
    "blank": b" \r\n\t\n",
    "byte order mark": b"\xef\xbb\xbf",
    "nul": b"\0" * 1000,
    "nul behind a record": HEADER + b"\0" * 1000,
    "invalid utf-8": b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}',
    "huge integer": b'{"type":"user.message","seq":' + b"9" * 5000 + b"}",
    "huge exponent": b'[{"role": "user", "content": 1e999999999999999999}]',
    "not a number": b'[{"role": "user", "content": NaN}]',
    "infinity": HEADER + b'{"type":"state","seq":1,"state":Infinity}\n',
    "deep list": b"[" * 200_000,
    "deep object": b'{"messages":' * 50_000,
    "deep record": HEADER + b'{"type":"state","seq":1,"state":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "deep arguments": b'[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"a","arguments":"'
    + b"[" * 50_000
    + b'"}}]}]',
    "lone surrogate": b'[{"role": "user", "content": "\\ud800"}]',
    "long line": HEADER + b'{"type":"user.message","seq":1,"text":"' + b"x" * 5_000_000 + b'"}\n',
    "long torn line": HEADER + b'{"type":"user.message","seq":1,"text":"' + b"x" * 5_000_000,
    "many quotes": b'["' + b'\\"' * 200_000,
    "many brackets": b"[{" * 30_000 + b"\n",
    "twice the same key": b'[{"role": "user", "role": "assistant", "content": "a", "content": "b"}]',
    "wrong types": b'[{"role": 1, "content": {}}, {"role": "assistant", "tool_calls": {"a": 1}, "content": 7}]',
    "wrong blocks": b'[{"role": "assistant", "content": [1, null, {"type": 3}, {"type": "tool_use", "input": 4}]}]',
    "wrong exchange": b'{"exchanges": [{"request": {"messages": [3]}, "response": {"choices": [1]}}, 5, null]}',
    "wrong header": b'{"type":"trace","schema":7}\n{"type":"user.message","seq":1}\n',
    "wrong lanes": b'{"type":"trace","schema":"trace/v1","lanes":[{"id":"a","parent":"b","call":"c"}]}\n',
    "only headers": HEADER * 1000,
}


def check(name: str, data: bytes) -> tuple[int, ReadLog]:
    """Read bytes in every way there is, and hold what every stream promises."""
    raw = document(data)
    adapter(name).sniff(raw, raw.head())
    items, log = read(name, raw)
    wanted: dict[str, list[int]] = {}
    last = None
    trace = ""
    for item in items:
        if isinstance(item, Header):
            trace, last = item.id, None
            assert trace not in wanted
            wanted[trace] = []
            continue
        assert last is None or item.seq > last
        last = item.seq
        wanted[trace].append(item.seq)
    assert [tally.trace for tally in log.tallies] == list(wanted)
    found = adapter(name).origins([raw], Options(), wanted)
    assert all(seq in wanted[trace] for trace, seq in found)
    return len(items), log


@pytest.mark.parametrize("name", MINE)
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_reported_and_never_raises(name: str, what: str) -> None:
    begun = time.monotonic()
    count, log = check(name, BAD[what])
    assert count or log.faults
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("what", BAD)
def test_finding_out_what_a_file_is_never_raises(what: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(BAD[what])
    log = ReadLog()
    found = [item for item in discover.documents([str(path)], log) if item.document.uri]
    count = sum(len(batch) for _, _, batches in discover.streams(found, None, Options(), log) for batch in batches)
    assert count or log.faults
    opening(BAD[what][:65536])


@pytest.mark.parametrize("name", MINE)
@given(data=st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_random_bytes_never_raise(name: str, data: bytes) -> None:
    check(name, data)
    opening(data)


@st.composite
def mutated(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """Return a recorded document with a few pieces cut out, doubled, swapped or overwritten."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        piece = data[start:end]
        new = draw(
            st.one_of(
                st.just(b""),
                st.just(piece * 2),
                st.just(piece[::-1]),
                st.sampled_from(
                    [b"null", b"[]", b"{}", b'"', b"\n", b"\0", b"1e400", b"-1", b'"seq":1,', b"\xff", b"}\n{"]
                ),
                st.binary(max_size=8),
            )
        )
        data = data[:start] + new + data[end:]
    return data


@pytest.mark.parametrize("name", MINE)
@given(data=st.data())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_mutated_documents_never_raise(name: str, data: st.DataObject) -> None:
    check(name, data.draw(mutated(SAMPLES[name])))


@given(
    numbers=st.lists(st.integers(-3, 6), max_size=12),
    holes=st.sets(st.integers(0, 12)),
)
@settings(max_examples=200, deadline=None)
def test_whatever_the_numbers_events_come_out_in_rising_order_and_none_is_lost(
    numbers: list[int], holes: set[int]
) -> None:
    rows = [b'{"type":"user.message","seq":%d,"text":"%d"}' % (number, place) for place, number in enumerate(numbers)]
    for place in sorted(holes, reverse=True):
        rows.insert(min(place, len(rows)), b"{")
    data = HEADER + b"".join(row + b"\n" for row in rows)
    check("native", data)
    items, _ = read("native", document(data))
    texts = [int(item.text) for item in items if isinstance(item, UserMessage)]
    assert texts == [place for place, _ in sorted(enumerate(numbers), key=lambda pair: (pair[1], pair[0]))]


def test_a_thousand_damaged_lines_are_named_in_part_and_counted() -> None:
    _, log = read("native", Document("a", data=HEADER + b"{\n" * 1000))
    assert len(log.faults) == 21
    assert "980 more damaged lines" in log.faults[-1].sentence

"""Documents keep the form in which they are stored, whole or damaged, and what cannot be looked into is refused."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from outstep.errors import OutstepError
from tests.redaction.values import VALUES, clean

EMAIL = VALUES["email"]
NAMES = [EMAIL if at % 3 else "nobody" for at in range(9)]
LINES = [json.dumps({"seq": at, "text": f"line {at} to {name}"}).encode() + b"\n" for at, name in enumerate(NAMES)]
PIECES = [EMAIL[at : at + 6].encode() for at in range(len(EMAIL) - 5)]


def frames(parts: list[bytes]) -> bytes:
    return b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in parts)


def texts(data: bytes) -> list[bytes]:
    """Return the text of each frame; of a torn one what can be read."""
    found = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        found.append(frame.decompress(data))
        data = frame.unused_data if frame.eof else b""
    return found


def assert_nothing_left(data: bytes) -> None:
    assert not [piece for piece in PIECES if piece in data]


def test_frames_stay_frames_and_those_without_a_value_keep_their_bytes() -> None:
    data = frames(LINES)
    new = clean(data).data
    assert [text.count(b"\n") for text in texts(new)] == [1] * 9
    assert_nothing_left(b"".join(texts(new)))
    assert frames([LINES[0]]) in new
    assert clean(new).data == new


def test_a_record_that_crosses_frames_is_read_as_one() -> None:
    whole = b"".join(LINES)
    middle = whole.index(EMAIL.encode()) + 7
    new = clean(frames([whole[:middle], whole[middle:]])).data
    assert_nothing_left(b"".join(texts(new)))
    assert b"".join(texts(new)).count(b"\n") == 9


def test_a_torn_frame_stays_torn_and_tells_what_it_told() -> None:
    data = frames(LINES)
    torn = data[:-2]
    new = clean(torn).data
    assert len(texts(new)) == 9
    assert texts(new)[-1] == texts(clean(data).data)[-1]
    last = zstandard.ZstdDecompressor().decompressobj()
    last.decompress(new[new.rindex(b"\x28\xb5\x2f\xfd") :])
    assert not last.eof


def test_the_bytes_of_a_damaged_frame_are_not_kept() -> None:
    parts = [frames([line]) for line in LINES]
    parts[4] = parts[4][:-6] + b"\0\0\0\0\0\0"
    assert any(piece in parts[4] for piece in PIECES), "short texts lie in a frame as they are"
    assert_nothing_left(clean(b"".join(parts)).data)


@given(st.integers(1, 400), st.integers(0, 255))
def test_any_byte_may_be_damaged(place: int, value: int) -> None:
    data = bytearray(frames(LINES))
    data[place % len(data)] = value
    try:
        new = clean(bytes(data)).data
    except OutstepError:
        return
    assert_nothing_left(new)


def test_gzip_stays_gzip_and_cut_off_gzip_cut_off() -> None:
    data = gzip.compress(b"".join(LINES))
    assert_nothing_left(gzip.decompress(clean(data).data))
    with pytest.raises(EOFError):
        gzip.decompress(clean(data[:-9]).data)


def test_members_of_an_archive_are_redacted_with_their_names() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("session.v4.jsonl", b"".join(LINES))
        archive.writestr(f"attachments/{EMAIL}.txt", b"plain")
        archive.writestr("inner.zstd", frames(LINES))
        archive.comment = EMAIL.encode()
    done = clean(out.getvalue())
    assert_nothing_left(done.data)
    with zipfile.ZipFile(io.BytesIO(done.data)) as archive:
        assert archive.testzip() is None
        names = [name.partition("/")[0] for name in archive.namelist()]
        assert names == ["session.v4.jsonl", "attachments", "inner.zstd"]
        assert_nothing_left(archive.read("session.v4.jsonl") + b"".join(texts(archive.read("inner.zstd"))))
    assert {place.member for place in done.places} == {"session.v4.jsonl", "inner.zstd"}


def test_free_pages_of_a_database_keep_nothing() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, data TEXT NOT NULL, packed BLOB)")
    for at in range(300):
        connection.execute("INSERT INTO events VALUES (?, ?, ?)", (at, f'{{"a": "{EMAIL} {at}"}}', EMAIL.encode()))
    connection.execute("DELETE FROM events WHERE id > 150")
    connection.execute("PRAGMA application_id = 1146310736")
    data = connection.serialize()
    done = clean(data)
    assert_nothing_left(done.data)
    again = sqlite3.connect(":memory:")
    again.deserialize(done.data)
    assert again.execute("PRAGMA application_id").fetchone() == (1146310736,)
    rows = again.execute("SELECT id, data, typeof(packed) FROM events ORDER BY id").fetchall()
    assert len(rows) == 151
    assert rows[7][1].endswith(' 7"}')
    assert rows[7][2] == "blob"


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04 no archive", b"SQLite format 3\0 no database", b"\x1f\x8b\x08 no gzip at all"],
)
def test_what_cannot_be_looked_into_is_refused(data: bytes) -> None:
    with pytest.raises(OutstepError) as raised:
        clean(data)
    assert [one.code for one in raised.value.problems] == ["redact/unreadable"]


def test_damaged_text_keeps_its_damage() -> None:
    text = b'{"a": "to ' + EMAIL.encode() + b'"}\n{"b": "cut ' + EMAIL.encode() + b" off\n\xff\xfe{]" + EMAIL.encode()
    new = clean(text).data
    assert_nothing_left(new)
    assert new.startswith(b'{"a": "to redacted_email_')
    assert new.count(b"\n") == 2
    assert b"\n\xff\xfe{]redacted_email_" in new


@given(st.binary(max_size=200))
def test_any_bytes_are_redacted_or_refused(data: bytes) -> None:
    for start in (b"", b"{", b'["', b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x1f\x8b"):
        try:
            once = clean(start + data).data
        except OutstepError:
            continue
        assert clean(once).data == once


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.sampled_from([*VALUES.values()])
TREES = st.recursive(
    LEAVES, lambda tree: st.lists(tree, max_size=4) | st.dictionaries(st.text(max_size=8), tree, max_size=4)
)


@given(TREES)
def test_json_stays_json_of_the_same_shape(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2), json.dumps(json.dumps(value))):
        new = json.loads(clean(text.encode("utf-8", "surrogatepass")).data)
        assert shape(new) == shape(json.loads(text))


def shape(value: object) -> object:
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    return type(value) is str

"""Writers: what was acknowledged stays, whoever is killed when; several may write at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from outstep.errors import OutstepError
from outstep.evidence.entries import Irregular, canonical, read_entry
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.evidence.verify import verify
from tests.command_line import ROOT
from tests.evidence.stores import clock, filled, run

KEY = SigningKey.generate()
KILLS = int(os.environ.get("OUTSTEP_KILLS", "12"))
"""How often a writer is killed; a few hundred take minutes."""

WRITER = """
import os, sys
from pathlib import Path
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from tests.evidence.stores import clock, run

folder, key, first, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
store = Store.open(folder)
key = SigningKey.read(key.read_bytes(), "key")
for number in range(first, first + count):
    with store.writing(key, clock) as writer:
        writer.add(run(writer, number))
        writer.commit()
    print(number, flush=True)
"""


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key.pem"
    path.write_bytes(KEY.pem)
    return path


def begin(store: Store, key: Path, first: int, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(store.folder), str(key), str(first), str(count)]
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})


def names(store: Store) -> list[str]:
    return [entry.documents[0].name for entry in store.log.entries() if entry.documents]


def test_what_was_acknowledged_outlives_a_writer_that_is_killed(tmp_path: Path, key_file: Path) -> None:
    store = Store.init(tmp_path / "store", KEY)
    acknowledged: list[str] = []
    for time in range(KILLS):
        writer = begin(store, key_file, time * 1000, 1000)
        assert writer.stdout is not None
        # Killed at another point of its work each time: so many entries, and a little more.
        for _ in range(1 + time % 4):
            acknowledged.append(f"session-{writer.stdout.readline().strip()}.jsonl")
        try:
            writer.wait(timeout=0.0007 * (time * 7 % 13))
        except subprocess.TimeoutExpired:
            writer.kill()
        acknowledged += [f"session-{line.strip()}.jsonl" for line in writer.stdout.read().splitlines()]
        writer.wait()
    with store.writing(KEY, clock) as last:
        last.add(run(last, 999_999))
        last.commit()
    found = verify(store)
    assert found.problems == ()
    kept = set(names(store))
    assert [name for name in acknowledged if name not in kept] == []


@pytest.mark.parametrize("file", ["entries.jsonl", "leaves", "heads.jsonl"])
@pytest.mark.parametrize("tail", [b"x", b'{"half', b"0" * 40, b'{"kind":"run"}\n'])
def test_a_tail_that_nobody_acknowledged_is_set_aside_and_kept(tmp_path: Path, file: str, tail: bytes) -> None:
    if file == "heads.jsonl" and tail.endswith(b"\n"):
        pytest.skip("a whole line is no tail")
    store, _ = filled(tmp_path / "store", KEY)
    path = store.folder / "log" / file
    path.write_bytes(path.read_bytes() + tail)
    with store.writing(KEY, clock) as writer:
        assert [(one.file, one.size) for one in writer.repaired] == [(file, len(tail))]
        writer.add(run(writer, 5))
        writer.commit()
    assert (store.folder / "log" / f"{file}.unfinished-1").read_bytes() == tail
    found = verify(store)
    assert (found.problems, found.entries) == ((), 5)


def test_entries_without_their_head_are_set_aside_together(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    before = store.log.size
    with store.writing(KEY, clock) as writer:
        for name in ("entries.jsonl", "leaves"):
            path = store.folder / "log" / name
            path.write_bytes(path.read_bytes() + (b"x" * 32))
        assert writer.repaired == ()
    with store.writing(KEY, clock) as writer:
        assert sorted(one.file for one in writer.repaired) == ["entries.jsonl", "leaves"]
    assert store.log.size == before


def test_nothing_is_written_to_a_log_that_is_too_short(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    path = store.folder / "log" / "entries.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OutstepError) as caught, store.writing(KEY, clock):
        pass
    assert caught.value.problems[0].code == "evidence/damaged-log"


def test_several_writers_at_once_lose_nothing(tmp_path: Path, key_file: Path) -> None:
    store = Store.init(tmp_path / "store", KEY)
    writers = [begin(store, key_file, number * 100, 5) for number in range(3)]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert sorted(names(store)) == sorted(f"session-{n * 100 + m}.jsonl" for n in range(3) for m in range(5))
    assert verify(store).problems == ()


def test_a_store_is_made_only_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path, tmp_path / "file"):
        with pytest.raises(OutstepError) as caught:
            Store.init(folder, KEY)
        assert caught.value.problems[0].code == "evidence/not-empty"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{", "truncated"),
        (b"[]", "expected `object`"),
        (b'{"schema":"entry/v1"}', "required field"),
        (b'{"kind":"run","schema":"entry/v2","tool":"t"}', "written in `entry/v2`"),
        (b'{"kind":"run","schema":"entry/v1","tool":"t","x":1}', "unknown field `x`"),
        (b'{"kind":"run", "schema":"entry/v1","tool":"t"}', "not canonical"),
        (b'{"schema":"entry/v1","kind":"run","tool":"t"}', "not canonical"),
        (b'{"kind":"run","kind":"run","schema":"entry/v1","tool":"t"}', "not canonical"),
        (b'{"adapter":"","kind":"run","schema":"entry/v1","tool":"t"}', "has its default"),
        (b'{"kind":"run","schema":"entry/v1","tool":"\\u0074"}', "not canonical"),
        (b'{"kind":"run","schema":"entry/v1","tool":"\xff"}', "utf"),
        (b"[" * 100_000, "expected `object`"),
        (b'{"kind":"run","traces":[{"subject":{"a":' + b"[" * 100_000, "nested"),
    ],
)
def test_an_entry_has_one_spelling(text: bytes, said: str) -> None:
    with pytest.raises(Irregular) as caught:
        read_entry(text)
    assert said in str(caught.value).lower() or said in str(caught.value)


def test_equal_evidence_gives_equal_bytes(tmp_path: Path) -> None:
    one, two = (filled(tmp_path / name, KEY)[0] for name in ("one", "two"))
    assert (one.folder / "log" / "entries.jsonl").read_bytes() == (two.folder / "log" / "entries.jsonl").read_bytes()
    assert read_entry(canonical(one.log.entry(0))) == one.log.entry(0)

"""Whatever is changed in a store is found, and named."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from outstep.errors import OutstepError
from outstep.evidence.entries import SignedHead, canonical
from outstep.evidence.kept import kept_head
from outstep.evidence.signing import PublicKey, SigningKey
from outstep.evidence.store import Store
from outstep.evidence.verify import verify
from tests.evidence.stores import clock, filled, run

KEY = SigningKey.generate()


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(tmp_path / "store", KEY)[0]


def codes(store: Store, *, key: SigningKey = KEY, kept: tuple[SignedHead, ...] = ()) -> set[str]:
    """Return what is found, as an auditor does it who has the public key."""
    try:
        store = Store.open(store.folder)
        found = verify(store, trusted={key.public.id: key.public}, kept=kept)
    except OutstepError as error:
        return {problem.code for problem in error.problems}
    return {problem.code.removeprefix("evidence/") for problem in found.problems}


def noticed(store: Store, kept: SignedHead) -> bool:
    """A record behind the newest head may be one of an unfinished writer: it is noticed, and no problem."""
    return bool(codes(store, kept=(kept,)) or verify(store).notes)


def change(store: Store, name: str, old: bytes, new: bytes) -> None:
    path = store.folder / name
    data = path.read_bytes()
    assert data.count(old) >= 1
    path.write_bytes(data.replace(old, new, 1))


def lines(store: Store) -> list[bytes]:
    return (store.folder / "log" / "entries.jsonl").read_bytes().splitlines(keepends=True)


def write_lines(store: Store, changed: list[bytes]) -> None:
    (store.folder / "log" / "entries.jsonl").write_bytes(b"".join(changed))


def test_a_store_that_nobody_touched_is_whole(store: Store) -> None:
    found = verify(store)
    assert (found.problems, found.notes) == ((), ())
    assert (found.entries, found.heads, found.objects) == (4, 3, 5)
    assert found.keys == (KEY.public.id,)


def test_an_edited_entry_is_named(store: Store) -> None:
    change(store, "log/entries.jsonl", b"session-1.jsonl", b"session-9.jsonl")
    assert codes(store) == {"edited-entry"}


def test_a_member_that_was_put_in_is_named(store: Store) -> None:
    change(store, "log/entries.jsonl", b'"kind":"run"', b'"extra":1,"kind":"run"')
    found = verify(Store.open(store.folder))
    assert "edited-entry" in codes(store)
    assert any("unknown field `extra`" in problem.sentence for problem in found.problems)


def test_entries_in_another_order_are_named(store: Store) -> None:
    first, second, *rest = lines(store)
    write_lines(store, [second, first, *rest])
    assert codes(store) == {"reordered-entries"}


def test_an_entry_that_was_put_in_is_named(store: Store) -> None:
    first, *rest = lines(store)
    write_lines(store, [first, first.replace(b"session-0", b"session-8"), *rest])
    assert "inserted-entry" in codes(store)


def test_an_inner_entry_that_was_taken_out_is_named(store: Store) -> None:
    first, _, *rest = lines(store)
    write_lines(store, [first, *rest])
    assert "removed-entry" in codes(store)


def test_the_last_entry_that_was_taken_out_is_named(store: Store) -> None:
    write_lines(store, lines(store)[:-1])
    assert "truncated" in codes(store)


def cut_back(store: Store) -> SignedHead:
    """Take the newest run out with everything that tells of it, as one does who knows the form."""
    log = store.folder / "log"
    newest = store.log.newest()
    assert newest is not None
    write_lines(store, lines(store)[:-1])
    (log / "leaves").write_bytes((log / "leaves").read_bytes()[:-32])
    (log / "heads.jsonl").write_bytes(b"".join((log / "heads.jsonl").read_bytes().splitlines(keepends=True)[:-1]))
    return newest


def test_a_newest_run_that_was_taken_out_whole_is_found_against_a_kept_head(store: Store) -> None:
    newest = cut_back(store)
    assert codes(store) == set()
    assert codes(store, kept=(newest,)) == {"truncated"}


def test_the_machine_that_sealed_keeps_the_newest_head_and_writes_nothing_behind_a_hole(store: Store) -> None:
    newest = cut_back(store)
    assert kept_head(store.about.id) == newest
    with pytest.raises(OutstepError) as caught, Store.open(store.folder).writing(KEY, clock):
        pass
    assert caught.value.problems[0].code == "evidence/truncated"


def test_a_log_that_was_cut_and_written_anew_is_found_against_a_kept_head(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = cut_back(store)
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "elsewhere"))
    with Store.open(store.folder).writing(KEY, clock) as writer:
        writer.add(run(writer, 7))
        writer.commit()
    assert codes(store) == set()
    assert codes(store, kept=(newest,)) == {"changed-log"}


def test_a_log_and_its_hashes_changed_together_do_not_fit_the_signature(store: Store) -> None:
    from outstep.evidence.merkle import leaf_hash

    change(store, "log/entries.jsonl", b"session-1.jsonl", b"session-9.jsonl")
    leaves = [leaf_hash(line.rstrip(b"\n")) for line in lines(store)]
    (store.folder / "log" / "leaves").write_bytes(b"".join(leaves))
    assert codes(store) == {"changed-log", "changed-leaves"}


def test_a_document_with_other_bytes_is_named(store: Store) -> None:
    first, second = (store.log.entry(number).documents[0].sha256 for number in (0, 1))
    path = store.folder / "objects"
    shutil.copy(path / second[:2] / f"{second[2:]}.zst", path / first[:2] / f"{first[2:]}.zst")
    found = verify(store)
    assert [problem.code for problem in found.problems] == ["evidence/swapped-object"]
    assert "`session-0.jsonl` of entry 0" in found.problems[0].sentence


def test_a_document_that_is_gone_is_named(store: Store) -> None:
    store.objects.removal([store.log.entry(3).documents[0].sha256])()
    assert codes(store) == {"missing-object"}


def test_a_changed_verdict_is_named(store: Store) -> None:
    change(store, "log/entries.jsonl", b'"gate":"block"', b'"gate":"pass"')
    assert codes(store) == {"edited-entry", "changed-verdict", "changed-log"}


def test_heads_signed_by_another_key_are_not_trusted(store: Store) -> None:
    other = SigningKey.generate()
    assert "unknown-key" in codes(store, key=other)


def test_a_head_whose_signature_was_changed_is_named(store: Store) -> None:
    (store.folder / "log" / "heads.jsonl").read_bytes()
    change(store, "log/heads.jsonl", b"12:00:00Z", b"13:00:00Z")
    assert "bad-signature" in codes(store)


def test_what_the_store_says_of_itself_is_signed_too(store: Store) -> None:
    change(store, "store.json", b'"redaction":"standard"', b'"redaction":"none"    ')
    assert "changed-about" in codes(store)


def test_files_that_belong_to_no_store_are_named(store: Store) -> None:
    (store.folder / "objects" / "aa").mkdir(exist_ok=True)
    (store.folder / "objects" / "aa" / "note.txt").write_text("hello")
    (store.folder / "more.jsonl").write_text("hello")
    assert codes(store) == {"foreign-file"}


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size)


@pytest.mark.parametrize("is_export", [False, True], ids=["store", "export"])
def test_any_changed_byte_is_noticed(store: Store, tmp_path: Path, is_export: bool) -> None:
    if is_export:
        store.export(tmp_path / "export")
        store = Store.open(tmp_path / "export")
    newest = store.log.newest()
    assert newest is not None
    chance = random.Random(7)
    for path in files(store.folder):
        data = path.read_bytes()
        places = range(len(data)) if len(data) < 60 else chance.sample(range(len(data)), 60)
        for place in places:
            bit = 1 << chance.randrange(8)
            path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
            assert codes(store, kept=(newest,)), f"byte {place} of {path.relative_to(store.folder)}"
        path.write_bytes(data)
    assert codes(store, kept=(newest,)) == set()


@pytest.mark.parametrize("is_export", [False, True], ids=["store", "export"])
def test_any_missing_doubled_or_cut_record_or_file_is_noticed(store: Store, tmp_path: Path, is_export: bool) -> None:
    if is_export:
        store.export(tmp_path / "export")
        store = Store.open(tmp_path / "export")
    newest = store.log.newest()
    assert newest is not None
    for path in files(store.folder):
        data = path.read_bytes()
        records = data.splitlines(keepends=True) if path.suffix == ".jsonl" else [data]
        changed = [records[:at] + records[at + 1 :] for at in range(len(records))]
        changed += [[*records[: at + 1], *records[at:]] for at in range(len(records))]
        changed += [records[::-1]] if len(records) > 1 else []
        for some in [*changed, [data[:-1]], [data, b"\n"], [b""]]:
            path.write_bytes(b"".join(some))
            assert noticed(store, newest), f"{path.relative_to(store.folder)}: {len(some)} records"
        path.unlink()
        assert noticed(store, newest), f"{path.relative_to(store.folder)} gone"
        path.write_bytes(data)
    assert codes(store, kept=(newest,)) == set()


def test_keys_are_read_as_they_are_written() -> None:
    assert PublicKey.read(KEY.public.pem, "k").id == KEY.public.id
    assert SigningKey.read(KEY.pem, "k").public.id == KEY.public.id
    assert canonical({"b": 1, "a": "ü"}) == '{"a":"ü","b":1}'.encode()

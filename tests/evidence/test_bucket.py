"""A store in a bucket does what a store in a folder does, held against a service that speaks S3."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from outstep import cli
from outstep.errors import OutstepError
from outstep.evidence.entries import ENTRY, Entry
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.evidence.verify import verify
from tests.command_line import ROOT
from tests.evidence.buckets import BUCKET, Service, _service, service
from tests.evidence.stores import clock, filled, run

__all__ = ["_service", "service"]

KEY = SigningKey.generate()
HERE = f"s3://{BUCKET}/a/store"
RECORDINGS = ROOT / "examples" / "refund" / "recordings"
CONTRACT = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("OUTSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("OUTSTEP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def bucket(service: Service) -> Any:
    import boto3

    assert service.port
    return boto3.resource("s3").Bucket(BUCKET)


@pytest.fixture
def store(service: Service) -> Store:
    assert service.port
    return filled(HERE, KEY)[0]


def codes(*, kept: Any = ()) -> set[str]:
    try:
        found = verify(Store.open(HERE), trusted={KEY.public.id: KEY.public}, kept=kept)
    except OutstepError as error:
        return {problem.code for problem in error.problems}
    return {problem.code.removeprefix("evidence/") for problem in found.problems}


def documents(store: Store) -> list[str]:
    return [entry.documents[0].name for entry in store.log.entries() if entry.documents]


def test_it_has_the_same_entries_as_a_store_in_a_folder(store: Store, tmp_path: Path) -> None:
    other, _ = filled(tmp_path / "store", KEY)
    assert list(store.log.entries()) == list(other.log.entries())
    assert store.log.leaves() == other.log.leaves()
    found = verify(store)
    assert (found.problems, found.notes, found.entries, found.heads, found.objects) == ((), (), 4, 3, 5)


def test_every_command_works_on_it(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service.port

    def command(*words: str) -> tuple[int, str]:
        code = cli.main(words)
        return code, capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTSTEP_STORE", HERE)
    shutil.copytree(RECORDINGS / "good", tmp_path / "runs" / "good")
    shutil.copytree(RECORDINGS / "duplicate-refund", tmp_path / "runs" / "duplicate-refund")
    assert command("evidence", "init", HERE)[0] == 0
    code, out = command("evidence", "add", "runs", "-c", CONTRACT)
    assert (code, out.splitlines()[0]) == (0, "sealed 2 entries with 2 traces, 1 block, 1 pass")
    assert "runs/good/" in command("evidence", "list")[1]
    report = json.loads(command("evidence", "show", "0")[1])["judged"]["report"]
    assert json.loads(command("evidence", "show", report[:9])[1])["gate"] == "block"
    assert command("evidence", "verify")[1].endswith("verdict: whole\n")
    assert command("evidence", "rejudge", HERE)[1] == "2 the same, 0 different, 0 not made again\n"
    assert command("recheck", "-c", CONTRACT)[0] == 0
    assert command("recheck", "-c", CONTRACT, "--dry", "--json", "-j", "2")[0] == 0
    assert command("evidence", "export", "bundle")[0] == 0
    assert command("evidence", "verify", "--store", "bundle")[0] == 0
    assert command("evidence", "rejudge", "bundle")[1] == "4 the same, 0 different, 0 not made again\n"
    assert command("evidence", "prune", "0", "--reason", "retention")[0] == 0
    assert command("evidence", "verify")[0] == 0
    assert json.loads(command("evidence", "prove", "--entry", "1")[1])["size"] == 5


def test_several_writers_at_once_lose_nothing(service: Service) -> None:
    assert service.port
    store = Store.init(HERE, KEY)

    def write(number: int) -> None:
        own = Store.open(HERE)
        for turn in range(4):
            with own.writing(KEY, clock) as writer:
                writer.add(run(writer, number * 100 + turn))
                writer.commit()

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(write, range(5)))
    assert sorted(documents(store)) == sorted(f"session-{n * 100 + m}.jsonl" for n in range(5) for m in range(4))
    found = verify(store)
    assert (found.problems, found.heads) == ((), 20)


def test_equal_commits_of_two_writers_are_both_there(service: Service) -> None:
    assert service.port
    store = Store.init(HERE, KEY)
    with store.writing(KEY, clock) as one, Store.open(HERE).writing(KEY, clock) as two:
        one.add(run(one, 1))
        two.add(run(two, 1))
        one.commit()
        two.commit()
    assert documents(store) == ["session-1.jsonl"] * 2
    assert verify(store).problems == ()


@pytest.mark.parametrize("fault", ["before", "after"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_write_whose_answer_was_lost_is_there_once(service: Service, fault: str, times: int) -> None:
    store = Store.init(HERE, KEY)
    with store.writing(KEY, clock) as writer:
        writer.add(run(writer, 1))
        writer.store.objects.flush()
        service.fails = [fault] * times
        writer.commit()
    assert documents(store) == ["session-1.jsonl"]
    assert verify(store).problems == ()


def test_a_service_that_fails_for_good_acknowledges_nothing(service: Service, store: Store) -> None:
    before = store.log.size
    with store.writing(KEY, clock) as writer:
        writer.add(run(writer, 9))
        service.fails = ["refuse"] * 50
        with pytest.raises(OutstepError) as caught:
            writer.commit()
        service.fails = []
    assert caught.value.problems[0].code == "evidence/unwritable"
    assert "slowdown" in caught.value.problems[0].sentence
    assert store.log.size == before
    assert verify(store).problems == ()


def test_a_service_that_ignores_conditions_gets_no_store(service: Service) -> None:
    service.is_lax = True
    with pytest.raises(OutstepError) as caught:
        Store.init(HERE, KEY)
    assert "if-none-match" in caught.value.problems[0].sentence
    with pytest.raises(OutstepError):
        Store.open(HERE)


def test_a_document_that_was_let_go_can_be_added_again_while_it_is_being_let_go(service: Service) -> None:
    assert service.port
    store = Store.init(HERE, KEY)
    with store.writing(KEY, clock) as writer:
        first = run(writer, 1)
        writer.add(first)
        writer.commit()
    digest = first.documents[0].sha256
    with store.writing(KEY, clock) as pruner, Store.open(HERE).writing(KEY, clock) as adder:
        # The adder finds it there, and would rely on it.
        adder.add(run(adder, 1))
        adder.store.objects.flush()
        pruner.add(Entry(schema=ENTRY, kind="prune", tool="outstep 0", pruned=(digest,), reason="retention"))
        let_go = pruner.store.objects.removal([digest])
        pruner.commit()
        with pytest.raises(OutstepError) as caught:
            adder.commit()
        assert caught.value.problems[0].code == "evidence/meanwhile"
        with Store.open(HERE).writing(KEY, clock) as again:
            again.add(run(again, 1))
            again.commit()
        # Only now the first copy goes.
        let_go()
    assert Store.open(HERE).objects.get(digest)
    found = verify(Store.open(HERE))
    assert (found.problems, found.entries) == ((), 3)


def test_nothing_is_made_where_something_is(service: Service, store: Store) -> None:
    assert service.port
    assert store.about.id
    with pytest.raises(OutstepError) as caught:
        Store.init(HERE, KEY)
    assert caught.value.problems[0].code == "evidence/not-empty"


@pytest.mark.parametrize(
    ("location", "code", "said"),
    [
        (f"s3://{BUCKET}/none", "no-store", "there is no object `store.json`"),
        ("s3://no-such-bucket/x", "no-store", "nosuchbucket"),
        ("s3://", "no-store", "names no bucket"),
        ("s3://UPPER/x", "no-store", "names no bucket"),
        ("gs://bucket/x", "no-store", "no place for a store"),
    ],
)
def test_what_is_no_store_is_told(service: Service, location: str, code: str, said: str) -> None:
    assert service.port
    with pytest.raises(OutstepError) as caught:
        Store.open(location)
    assert caught.value.problems[0].code == f"evidence/{code}"
    assert said in caught.value.problems[0].sentence.lower()


def test_a_service_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    with pytest.raises(OutstepError) as caught:
        Store.open(HERE)
    assert "could not connect" in caught.value.problems[0].sentence


def changed(data: bytes, chance: random.Random) -> Iterator[bytes]:
    for place in chance.sample(range(len(data)), 2):
        yield data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]
    yield data + b"\n"


def test_any_changed_object_is_noticed(store: Store, bucket: Any) -> None:
    newest = store.log.newest()
    assert newest is not None
    chance = random.Random(7)
    names = [one.key for one in bucket.objects.all()]
    assert len(names) == 1 + 1 + 3 + 5
    for name in names:
        data = bucket.Object(name).get()["Body"].read()
        for other in changed(data, chance):
            bucket.Object(name).put(Body=other)
            assert codes(kept=(newest,)), name
        bucket.Object(name).delete()
        assert codes(kept=(newest,)), name
        bucket.Object(name).put(Body=data)
    bucket.Object("a/store/log/note.txt").put(Body=b"x")
    assert codes() == {"foreign-file"}
    bucket.Object("a/store/log/note.txt").delete()
    assert codes(kept=(newest,)) == set()


def test_commits_that_changed_places_or_are_gone_are_named(store: Store, bucket: Any) -> None:
    newest = store.log.newest()
    assert newest is not None
    first, second, last = (bucket.Object(f"a/store/log/{number:012}.jsonl") for number in range(3))
    texts = [one.get()["Body"].read() for one in (first, second, last)]
    first.put(Body=texts[1])
    second.put(Body=texts[0])
    assert "changed-heads" in codes()
    first.put(Body=texts[0])
    second.delete()
    assert "changed-log" in codes() or "removed-entry" in codes()
    second.put(Body=texts[1])
    last.delete()
    assert codes() == set()
    assert codes(kept=(newest,)) == {"truncated"}
    with pytest.raises(OutstepError) as caught, Store.open(HERE).writing(KEY, clock):
        pass
    assert caught.value.problems[0].code == "evidence/truncated"


def test_an_edited_entry_is_named_with_its_place(store: Store, bucket: Any) -> None:
    assert store.log.size == 4
    one = bucket.Object("a/store/log/000000000000.jsonl")
    one.put(Body=one.get()["Body"].read().replace(b"session-1.jsonl", b"session-9.jsonl"))
    found = verify(Store.open(HERE))
    assert [problem.code for problem in found.problems] == ["evidence/edited-entry"]
    place = found.problems[0].place
    assert place is not None
    assert (place.source, place.line) == (f"{HERE}/log/000000000000.jsonl", 4)


WRITER = """
import sys
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from tests.evidence.stores import clock, run

store = Store.open(sys.argv[1])
key = SigningKey.read(open(sys.argv[2], "rb").read(), "key")
for number in range(int(sys.argv[3]), int(sys.argv[3]) + 1000):
    with store.writing(key, clock) as writer:
        writer.add(run(writer, number))
        writer.commit()
    print(number, flush=True)
"""


def test_what_was_acknowledged_outlives_a_writer_that_is_killed(service: Service, tmp_path: Path) -> None:
    assert service.port
    store = Store.init(HERE, KEY)
    (tmp_path / "key.pem").write_bytes(KEY.pem)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    acknowledged: list[str] = []
    for time in range(int(os.environ.get("OUTSTEP_KILLS", "3"))):
        words = [sys.executable, "-c", WRITER, HERE, str(tmp_path / "key.pem"), str(time * 1000)]
        writer = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(1 + time % 3)]
        writer.kill()
        told += writer.stdout.read().splitlines()
        writer.wait()
        acknowledged += [f"session-{line.strip()}.jsonl" for line in told if line.strip()]
    assert acknowledged
    assert set(acknowledged) <= set(documents(store))
    assert verify(store).problems == ()

"""Entries are found by what they say, quickly, and an index that was changed or is of another log is made anew."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep import cli
from outstep.evidence.index import find
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from tests.command_line import ROOT
from tests.evidence.stores import clock, filled, verdict
from tests.evidence.stores import run as a_run

KEY = SigningKey.generate()
RECORDINGS = ROOT / "examples" / "refund" / "recordings"
CONTRACT = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"OUTSTEP_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("OUTSTEP_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str, str]:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def numbers(out: str) -> list[int]:
    return [int(found) for found in re.findall(r"^ +(\d+)  (?:run|verdict|prune)", out, re.MULTILINE)]


def test_entries_are_found_by_what_they_say(run: Run, tmp_path: Path) -> None:
    for name in ("good", "duplicate-refund"):
        shutil.copytree(RECORDINGS / name, tmp_path / "runs" / name)
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "runs", "-c", CONTRACT)[0] == 0
    assert run("evidence", "add", "runs/good")[0] == 0
    for asked, found in (
        (("--rule", "NO_DUPLICATE_REFUND"), [0]),
        (("--rule", "NO_*"), [0]),
        (("--rule", "no_such"), []),
        (("--gate", "pass"), [1]),
        (("--gate", "none"), [2]),
        (("--subject", "dsh"), [0, 1, 2]),
        (("--subject", "deepseek*"), [0, 1, 2]),
        (("--subject", "gpt*"), []),
        (("--contract", "dsh-refund"), [0, 1]),
        (("--contract", "dsh-refund.yaml"), [0, 1]),
        (("--contract", "7df413"), [0, 1]),
        (("--name", "*good*"), [1, 2]),
        (("--name", "session.v4.jsonl.zstd"), [1, 2]),
        (("--name", "*good*", "--gate", "pass"), [1]),
    ):
        # Twice: made, and read again.
        for _ in range(2):
            code, out, _ = run("evidence", "list", *asked)
            assert (code, numbers(out)) == (0, found), asked
            assert f"{len(found)} of 3 entries\n" in out
    code, out, _ = run("evidence", "list", "--gate", "pass", "--json")
    assert [json.loads(line)["number"] for line in out.splitlines()] == [1]
    assert run("evidence", "list", "--gate", "green")[0] == 2


def test_the_index_follows_the_log(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    folder = tmp_path / "index"
    assert find(store, {"gate": "block"}, folder).numbers == (2,)
    with store.writing(KEY, clock) as writer:
        writer.add(verdict(writer, 1))
        writer.commit()
    assert find(store, {"gate": "block"}, folder).numbers == (2, 4)
    assert find(store, {}, folder).numbers == (0, 1, 2, 3, 4)
    assert find(store, {"gate": "block"}, None).numbers == (2, 4)


def test_an_index_that_was_changed_is_made_anew(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    folder = tmp_path / "index"
    right = find(store, {"name": "session-*"}, folder)
    assert right.numbers == (0, 1, 3)
    chance = random.Random(7)
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        for _ in range(30):
            place = chance.randrange(len(data))
            path.write_bytes(data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :])
            assert find(store, {"name": "session-*"}, folder) == right
            path.write_bytes(data)
        for other in (b"", data[:-1], data + b"x", b"SQLite format 3\0" + b"\0" * 99):
            path.write_bytes(other)
            assert find(store, {"name": "session-*"}, folder) == right
        path.unlink()
        assert find(store, {"name": "session-*"}, folder) == right


def test_an_index_of_another_log_is_made_anew(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    folder = tmp_path / "index"
    find(store, {}, folder)
    log = tmp_path / "store" / "log" / "entries.jsonl"
    log.write_bytes(log.read_bytes().replace(b"session-1.jsonl", b"session-9.jsonl"))
    # What stands in the log is found; that it was changed says `verify`.
    assert find(Store.open(store.folder), {"name": "session-9*"}, folder).numbers == (1,)
    assert find(Store.open(store.folder), {"name": "session-1*"}, folder).numbers == ()


def test_a_report_that_cannot_be_read_is_told_and_looked_for_again(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    folder = tmp_path / "index"
    judged = store.log.entry(2).judged
    assert judged is not None
    path = store.folder / store.objects.file(judged.report)
    data = path.read_bytes()
    path.write_bytes(b"x")
    assert find(store, {"gate": "block"}, folder).unread == 1
    path.write_bytes(data)
    assert find(store, {"gate": "block"}, folder).unread == 0


def test_a_place_that_cannot_be_written_to_costs_time_and_nothing_else(tmp_path: Path) -> None:
    store, _ = filled(tmp_path / "store", KEY)
    (tmp_path / "file").write_text("x")
    assert find(store, {"gate": "block"}, tmp_path / "file" / "index").numbers == (2,)


WAIVED = """\
outstep: contract/v1
id: bound
tools: {pay: {}}
rules:
  - {id: BOUND, never: call pay, when: args.amount > 10}
"""
WAIVER = "waivers:\n  - {rule: BOUND, trace: t1, owner: me, reason: was agreed, until: 2099-01-01}\n"


def trace(name: str, *amounts: int) -> str:
    lines = [{"type": "trace", "schema": "trace/v1", "id": name}]
    for at, amount in enumerate(amounts):
        call = {"call_id": f"c{at}", "tool": "pay", "turn": at + 1}
        lines.append({"type": "tool.call", "seq": at * 2, **call, "args": {"amount": amount}})  # type: ignore[dict-item]
        lines.append({"type": "tool.result", "seq": at * 2 + 1, **call, "outcome": "ok", "data": 1})  # type: ignore[dict-item]
    lines.append({"type": "run.end", "seq": 99, "end": "completed"})  # type: ignore[dict-item]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_recheck_says_what_a_rule_would_have_blocked_and_what_was_waived(run: Run, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for number, amounts in enumerate(((1,), (20,), (20, 30), (2,))):
        (tmp_path / "runs" / f"{number}.jsonl").write_text(trace(f"t{number}", *amounts))
    (tmp_path / "old.yaml").write_text(
        WAIVED + WAIVER + "  - {rule: BOUND, trace: t2, owner: me, reason: so, until: 2099-01-01}\n"
    )
    (tmp_path / "new.yaml").write_text(WAIVED)
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "runs", "-c", "old.yaml")[0] == 0
    for jobs in ("1", "2"):
        code, out, _ = run("recheck", "-c", "new.yaml", "--dry", "-j", jobs)
        assert code == 1
        said = "`BOUND` would have blocked 2 of 4 runs; 2 of them were false alarms that you had waived\n"
        assert said in out
    (tmp_path / "less.yaml").write_text(WAIVED + WAIVER)
    assert run("recheck", "-c", "less.yaml")[0] == 1
    # The newest verdict waives one of them; those before are remembered, and still there.
    code, out, _ = run("recheck", "-c", "new.yaml", "--dry")
    said = "blocked 2 of 4 runs, 1 of which it did not before; 2 of them were false alarms that you had waived\n"
    assert said in out
    told = json.loads(run("recheck", "-c", "new.yaml", "--dry", "--json")[1])
    assert told["rules"] == [{"rule": "BOUND", "blocks": 2, "new": 1, "waived": 2}]
    _, out, _ = run("evidence", "list", "--contract", "bound")
    assert numbers(out) == list(range(8))
    assert run("evidence", "verify")[0] == 0
    assert run("evidence", "rejudge", "store")[1] == "8 the same, 0 different, 0 not made again\n"


def test_a_run_with_a_finding_that_was_not_waived_is_no_false_alarm(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(trace("t1", 20, 9))
    (tmp_path / "old.yaml").write_text(WAIVED + WAIVER)
    (tmp_path / "new.yaml").write_text(WAIVED.replace("> 10", "> 5"))
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "one.jsonl", "-c", "old.yaml")[0] == 0
    _, out, _ = run("recheck", "-c", "new.yaml", "--dry")
    assert "`BOUND` would have blocked 1 of 1 run\n" in out


def test_others_may_add_while_a_store_is_judged_again(run: Run, tmp_path: Path) -> None:
    from outstep.workflow.checking import CheckOptions
    from outstep.workflow.rechecking import recheck
    from outstep.workflow.sealing import pin

    (tmp_path / "runs").mkdir()
    for number in range(3):
        (tmp_path / "runs" / f"{number}.jsonl").write_text(trace(f"t{number}", 20))
    (tmp_path / "new.yaml").write_text(WAIVED)
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "runs")[0] == 0
    store = Store.open(tmp_path / "store")
    outcomes = recheck(store, [pin("new.yaml")], CheckOptions(), 1, KEY, clock)
    next(outcomes)
    with Store.open(tmp_path / "store").writing(KEY, clock) as writer:
        writer.add(a_run(writer, 7))
        writer.commit()
    list(outcomes)
    assert [entry.kind for entry in store.log.entries()] == ["run"] * 4 + ["verdict"] * 3

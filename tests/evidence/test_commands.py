"""The commands from a recorded session to a proof, as people type them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep import cli
from outstep.evidence.merkle import proves_consistency, proves_inclusion
from tests.command_line import ROOT

RECORDINGS = ROOT / "examples" / "refund" / "recordings"
CONTRACT = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")

Done = tuple[int, str, str]
Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("OUTSTEP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("OUTSTEP_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("OUTSTEP_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Done:
        code = cli.main(words)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    for name in ("good", "duplicate-refund"):
        shutil.copytree(RECORDINGS / name, tmp_path / "runs" / name)
    assert run("evidence", "init", "store")[0] == 0
    code, out, _ = run("evidence", "add", "runs", "-c", CONTRACT)
    assert (code, out.splitlines()[0]) == (0, "sealed 2 entries with 2 traces, 1 block, 1 pass")
    return tmp_path / "store"


def test_what_was_sealed_is_listed_shown_and_whole(run: Run, store: Path) -> None:
    _, listed, _ = run("evidence", "list")
    assert re.search(
        r"0  run     block         runs/duplicate-refund/session\.v3\.jsonl\.zstd \(1 trace, dsh@1\)", listed
    )
    entry = json.loads(run("evidence", "show", "0")[1])
    assert entry["judged"]["gate"] == "block"
    assert entry["redaction"] == {"profile": "standard"}
    assert "the state of the business" in entry["traces"][0]["missing"]
    report = json.loads(run("evidence", "show", entry["judged"]["report"])[1])
    assert report["gate"] == "block"
    code, out, _ = run("evidence", "verify")
    assert (code, out.splitlines()[-1]) == (0, "verdict: whole")
    assert store.is_dir()


def test_the_private_key_does_not_lie_in_the_store(store: Path) -> None:
    for path in store.rglob("*"):
        assert not path.is_file() or b"PRIVATE" not in path.read_bytes()


def test_a_third_party_gets_the_same_from_an_export(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.is_dir()
    assert run("evidence", "export", "export")[0] == 0
    monkeypatch.delenv("OUTSTEP_STORE")
    assert run("evidence", "verify", "--store", "export")[0] == 0
    code, out, _ = run("evidence", "rejudge", "export")
    assert (code, out) == (0, "2 the same, 0 different, 0 not made again\n")
    key = next(Path("export/keys").iterdir())
    assert run("evidence", "verify", "--store", "export", "--key", str(key), "--json")[0] == 0


def test_a_contract_that_changed_gives_a_new_verdict_and_keeps_the_old_one(
    run: Run, store: Path, tmp_path: Path
) -> None:
    assert store.is_dir()
    loose = tmp_path / "loose.yaml"
    loose.write_text(
        "outstep: contract/v1\nid: loose\ntools: {'*': {}, refund_create: {}}\n"
        "rules:\n  - {id: NO_REFUNDS, never: call refund_create}\n"
    )
    code, out, _ = run("recheck", "--contract", str(loose), "--dry")
    assert code == 1
    assert "pass → block: 1 of 2 runs" in out
    assert "`NO_REFUNDS` would have blocked 2 of 2 runs\n" in out
    assert run("recheck", "--contract", str(loose))[0] == 1
    _, listed, _ = run("evidence", "list")
    assert "on entry 1, by loose/loose.yaml" in listed
    assert "runs/good/" in listed
    assert run("evidence", "verify")[0] == 0
    assert run("evidence", "rejudge", str(store)) == (0, "4 the same, 0 different, 0 not made again\n", "")


def test_several_processes_say_the_same(run: Run, store: Path) -> None:
    assert store.is_dir()
    one = run("recheck", "--contract", CONTRACT, "--dry", "--json")
    assert one == run("recheck", "--contract", CONTRACT, "--dry", "--json", "-j", "2")
    assert one[0] == 0


def test_proofs_are_those_of_the_standard(run: Run, store: Path) -> None:
    assert store.is_dir()
    assert run("evidence", "add", "runs/good")[0] == 0
    head = json.loads(run("evidence", "prove", "--head")[1])["head"]
    root = bytes.fromhex(head["root"])
    told = json.loads(run("evidence", "prove", "--entry", "1")[1])
    path = [bytes.fromhex(step) for step in told["path"]]
    assert proves_inclusion(bytes.fromhex(told["leaf"]), 1, head["size"], path, root)
    told = json.loads(run("evidence", "prove", "--since", "2")[1])
    path = [bytes.fromhex(step) for step in told["path"]]
    assert proves_consistency(2, bytes.fromhex(told["since_root"]), head["size"], root, path)


def test_a_changed_store_says_what_was_changed_and_exits_with_1(run: Run, store: Path) -> None:
    log = store / "log" / "entries.jsonl"
    log.write_bytes(log.read_bytes().replace(b"duplicate-refund", b"duplicate-refunt", 1))
    code, out, _ = run("evidence", "verify")
    assert code == 1
    assert "error[evidence/edited-entry]: entry 0 was edited" in out
    assert out.endswith("verdict: changed\n")


def test_documents_that_were_let_go_are_told_and_not_missed(run: Run, store: Path) -> None:
    assert run("evidence", "prune", "0", "--reason", "retention")[1] == "1 document let go; the log says so\n"
    code, out, _ = run("evidence", "verify")
    assert code == 0
    assert "note: 1 documents were let go, and the log says so" in out
    code, out, _ = run("evidence", "rejudge", str(store))
    assert code == 2
    assert "entry 0 could not be made again" in out


def test_what_cannot_be_done_says_what_to_do(run: Run, tmp_path: Path) -> None:
    for words, code in (
        (("evidence",), "usage/arguments"),
        (("evidence", "ad"), "usage/unknown-command"),
        (("evidence", "list"), "evidence/no-store"),
        (("evidence", "add"), "usage/no-paths"),
        (("evidence", "verify", "--store", "none"), "evidence/no-store"),
        (("recheck",), "usage/no-contract"),
    ):
        done, _, err = run(*words)
        assert done == 2
        assert err.startswith(f"error[{code}]"), err
        assert "help:" in err
    run("evidence", "init", "store")
    assert run("evidence", "init", "store")[2].startswith("error[evidence/not-empty]")
    shutil.rmtree(tmp_path / "config")
    assert run("evidence", "add", str(RECORDINGS / "good"))[2].startswith("error[evidence/no-key]")
    (tmp_path / "note.txt").write_text("no trace")
    assert run("evidence", "add", "note.txt", "--key", "note.txt")[2].startswith("error[evidence/bad-key]")


def test_what_cannot_be_read_is_told_and_what_can_is_sealed(run: Run, store: Path, tmp_path: Path) -> None:
    assert store.is_dir()
    (tmp_path / "broken.jsonl").write_text('{"type":"trace","schema":"trace/v1","id":"t"}\n{"type":\n{}\n')
    code, out, err = run("evidence", "add", "broken.jsonl", "none.jsonl", "-c", CONTRACT)
    assert code == 2
    assert "sealed 1 entry with 1 trace, 1 error" in out
    assert "adapter/damaged-record" in err
    assert "input/not-found" in err


@pytest.mark.skipif(not all(map(shutil.which, ("bash", "jq", "openssl", "sha256sum"))), reason="needs jq and openssl")
@pytest.mark.parametrize("is_changed", [False, True])
def test_the_steps_by_hand_do_what_the_page_says(run: Run, store: Path, tmp_path: Path, is_changed: bool) -> None:
    assert run("evidence", "add", "runs/good")[0] == 0
    run("evidence", "export", "--store", str(store), "export")
    if is_changed:
        log = tmp_path / "export" / "log" / "entries.jsonl"
        log.write_bytes(log.read_bytes().replace(b'"gate":"block"', b'"gate":"pass"', 1))
        document = next(iter((tmp_path / "export" / "documents").iterdir()))
        document.write_bytes(document.read_bytes() + b" ")
    page = (ROOT / "docs" / "verify-by-hand.md").read_text("utf-8")
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path / "export", capture_output=True, text=True, timeout=60, check=False
    )
    out = done.stdout
    assert "Signature Verified Successfully" in out
    assert "the key is " in out
    assert ("changed: " in out) is is_changed
    assert ("the log is the one that was signed: 3 entries" in out) is not is_changed
    assert "missing" not in out
    assert "runs/good/session.v4.jsonl.zstd\tpass\t" in out

"""Evidence of strangers: nothing outside of it is read, and no code of it is run unasked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep.cli import main
from outstep.evidence.entries import ENTRY, Document, Entry, Judged, Sealed
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.workflow.rejudging import Again, rejudge
from tests.evidence.stores import clock

TRACE = (
    '{"type":"trace","schema":"trace/v1","id":"t","complete":true}\n'
    '{"type":"tool.call","tool":"pay","seq":1,"call_id":"c","args":{"cents":5}}\n'
    '{"type":"tool.result","seq":2,"call_id":"c","outcome":"ok","data":{}}\n'
)
CONTRACT = """outstep: contract/v1
id: own
tools: {pay: {}}
rules:
  - {id: ODD, python: "checks:odd"}
"""
CHECKS = """from pathlib import Path
import helping
Path(__file__).with_name("ran").touch()
def odd(trace):
    return helping.found(trace)
"""
HELPING = """def found(trace):
    return [("odd", one) for one in trace.events if one["type"] == "tool.call"]
"""
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"OUTSTEP_{name}_DIR", str(tmp_path / name.lower()))

    def do(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return do


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    """Return a store with a run that was judged by a contract with a function."""
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "own.yaml").write_text(CONTRACT)
    (folder / "checks.py").write_text(CHECKS)
    (folder / "helping.py").write_text(HELPING)
    (tmp_path / "t.jsonl").write_text(TRACE)
    assert run("evidence", "init", "store")[0] == 0
    code, out, err = run("evidence", "add", "--store", "store", "t.jsonl", "--contract", "contracts/own.yaml")
    assert "1 block" in out, out + err
    assert code == 0
    return tmp_path / "store"


def test_functions_are_sealed_with_their_contract_and_what_they_import(run: Run, store: Path) -> None:
    (entry,) = Store.open(store).log.entries()
    assert entry.judged is not None
    names = ["own/own.yaml", "pack:integrity", "own/checks.py", "own/helping.py"]
    assert [one.name for one in entry.judged.contracts] == names
    assert entry.judged.gate == "block"
    assert run("evidence", "verify", "--store", "store")[0] == 0


def test_code_is_not_run_unasked(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "contracts" / "ran").unlink()
    code, out, _ = run("evidence", "rejudge", str(store))
    assert code == 2
    assert "rule ODD asks a Python function, and code from evidence is not run" in out
    assert not (tmp_path / "contracts" / "ran").exists()


def test_asked_to_the_sealed_source_is_run_and_no_other(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "contracts" / "ran").unlink()
    (tmp_path / "contracts" / "checks.py").write_text("def odd(trace):\n    return []\n")
    code, out, err = run("evidence", "rejudge", str(store), "--run-code")
    assert (code, out) == (0, "1 the same, 0 different, 0 not made again\n"), err
    assert not (tmp_path / "contracts" / "ran").exists()


def judged_by(folder: Path, files: dict[str, bytes], *, name: str = "own/own.yaml") -> Again:
    """Judge again what a stranger sealed with these files of a contract."""
    key = SigningKey.generate()
    store = Store.init(folder / "strange", key)
    with store.writing(key, clock) as writer:

        def put(name: str, data: bytes) -> Document:
            return Document(name=name, sha256=writer.put(data), size=len(data))

        report = writer.put(b'{"schema":"report/v1"}')
        judged = Judged(
            contracts=tuple(put(name, data) for name, data in files.items()),
            names=(name,),
            report=report,
            gate="pass",
            exit_code=0,
        )
        trace = Sealed(id="t", events="0" * 64, count=2, end="inferred")
        entry = Entry(
            schema=ENTRY,
            kind="run",
            tool="outstep 0",
            documents=(put("t.jsonl", TRACE.encode()),),
            adapter="native@1",
            traces=(trace,),
            judged=judged,
        )
        writer.add(entry)
        writer.commit()
    return rejudge(store, 0, entry)


def including(path: str) -> bytes:
    return f"outstep: contract/v1\nid: own\ninclude: [{path}]\nrules:\n  - {{id: A, never: call x}}\n".encode()


def test_an_include_reads_nothing_outside(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: hunter2\n")
    for at, path in enumerate((str(secret), "../" * 40 + str(secret).lstrip("/"), os.path.relpath(secret))):
        again = judged_by(tmp_path / str(at), {"own/own.yaml": including(path)})
        assert "hunter2" not in again.fault
        assert "cannot be read: " in again.fault
    assert "it is not in the evidence" in judged_by(tmp_path, {"own/own.yaml": including(str(secret))}).fault


@pytest.mark.parametrize("name", ["/etc/own.yaml", "../" * 40 + "own.yaml", "a/../../../x\0.yaml"])
def test_no_file_is_written_outside(tmp_path: Path, name: str) -> None:
    again = judged_by(tmp_path, {name: including("x.yaml")}, name=name)
    assert "has no place" in again.fault


@pytest.mark.usefixtures("store")
def test_a_function_whose_source_is_not_there_is_not_sought_on_this_machine(tmp_path: Path) -> None:
    again = judged_by(tmp_path, {"own/own.yaml": CONTRACT.encode()})
    assert "code from evidence is not run" in again.fault
    strange = Store.open(tmp_path / "strange")
    (entry,) = strange.log.entries()
    again = rejudge(strange, 0, entry, runs_code=True)
    assert "the source of the function that rule ODD asks was not sealed" in again.fault


@pytest.mark.usefixtures("store")
def test_recheck_runs_the_functions_of_the_contract_that_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "contracts" / "helping.py").write_text("def found(trace):\n    return []\n")
    for name in ("checks", "helping"):
        sys.modules.pop(name, None)
    code, out, err = run("recheck", "--store", "store", "--contract", "contracts/own.yaml", "--dry")
    assert code == 0, err
    assert "block → pass: 1 of 1 runs" in out

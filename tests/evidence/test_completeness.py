"""Whole bytes are not taken for a whole story: what the records do not hold is told wherever evidence is looked at."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep import adapters, cli
from outstep.evidence.completeness import completeness, lines
from outstep.evidence.entries import ENTRY, Entry, Sealed
from tests.command_line import ROOT

RECORDINGS = ROOT / "examples" / "refund" / "recordings"
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"OUTSTEP_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("OUTSTEP_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> tuple[int, str]:
        code = cli.main(words)
        return code, capsys.readouterr().out

    return command


def entry(*missing: str) -> Entry:
    trace = Sealed(id="t", events="0" * 64, count=1, missing=missing)
    return Entry(schema=ENTRY, kind="run", tool="outstep 0", traces=(trace,))


def test_it_is_told_by_show_verify_and_export(run: Run, tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "good", tmp_path / "runs" / "good")
    (tmp_path / "runs" / "chat.json").write_text(
        json.dumps([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    )
    (tmp_path / "runs" / "own.jsonl").write_text(
        '{"type":"trace","schema":"trace/v1","id":"t","records":["user.message","tool.call"]}\n'
        '{"type":"user.message","seq":1,"text":"x"}\n{"type":"gap","seq":2,"may_hide":["tool.call"],"reason":"lost"}\n'
    )
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", "runs")[0] == 0
    code, out = run("evidence", "verify")
    assert code == 0
    assert "3 traces are kept as recorded; what the records do not hold:\n" in out
    assert "  1 of 3: no error flag: the outcome of a result is `unrecorded` unless the producer added one\n" in out
    told = json.loads(run("evidence", "verify", "--json")[1])["completeness"]
    assert told["traces"] == 3
    assert told["missing"]["the state of the business"] == 1
    assert told["missing"]["gaps may hide events"] == 1
    assert told["missing"]["no events of the kinds decision, tool.result, approval, context, state can be in it"] == 1
    shown = [json.loads(run("evidence", "show", str(number))[1])["traces"][0]["missing"] for number in range(3)]
    assert all(shown)
    assert run("evidence", "export", "export")[0] == 0
    text = (tmp_path / "export" / "completeness.txt").read_text()
    assert "1 of 3: gaps may hide events\n" in text
    assert run("evidence", "verify", "--store", "export")[0] == 0
    (tmp_path / "export" / "completeness.txt").write_text("nothing is missing\n")
    code, out = run("evidence", "verify", "--store", "export")
    assert (code, "error[evidence/changed-export]: `completeness.txt` is not what the entries give" in out) == (1, True)


def test_numbers_of_one_trace_are_counted_together() -> None:
    told = completeness([entry("3 gaps may hide events", "no time"), entry("1 gaps may hide events", "no time")])
    assert told.missing == {"gaps may hide events": 2, "no time": 2}
    assert lines(told)[1:] == ["  all: gaps may hide events", "  all: no time"]
    many = completeness([entry(*(f"thing {number}" for number in range(20)))])
    assert lines(many, 3)[-1] == "  … and 17 more: outstep evidence verify --json"
    assert lines(completeness([])) == []


@pytest.mark.parametrize("name", adapters.NAMES)
def test_what_an_adapter_cannot_carry_stands_on_its_page(name: str) -> None:
    page = (ROOT / "docs" / "adapters" / f"{name}.md").read_text("utf-8")
    assert "cannot carry" in page
    assert all(sentence[0].islower() and not sentence.endswith(".") for sentence in adapters.adapter(name).cannot_carry)


def test_other_words_for_what_is_missing_are_no_other_events(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("evidence", "init", "store")[0] == 0
    assert run("evidence", "add", str(RECORDINGS / "good"))[0] == 0
    from outstep.adapters import dsh

    monkeypatch.setattr(dsh.ADAPTER, "cannot_carry", ("nothing that a later version would say",), raising=False)
    assert run("evidence", "rejudge", "store") == (0, "1 the same, 0 different, 0 not made again\n")

"""Where reports go, and what is said beside them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from outstep.cli import output
from outstep.cli.imports import import_line, sum_line
from outstep.errors import OutstepError
from outstep.findings import TraceSummary
from tests.cli.conftest import SHOP, Outstep

CHECK = ("check", "-c", "refund.yaml", "bad.jsonl")


def test_stdout_carries_the_report_alone(outstep: Outstep) -> None:
    done = outstep(*CHECK, "--json")
    assert json.loads(done.out)["gate"] == "block"
    assert done.err == "bad.jsonl: trace bad, 7 records, 7 events, 2 calls\n"


def test_several_reports_are_written_and_the_terminal_keeps_its_own(outstep: Outstep, tmp_path: Path) -> None:
    plain = outstep(*CHECK)
    files = [tmp_path / "report.json", tmp_path / "report.txt"]
    done = outstep(*CHECK, "--output", f"json={files[0]}", "--output", f"terminal={files[1]}")
    assert done == plain
    assert files[0].read_text("utf-8") == outstep(*CHECK, "--json").out
    assert files[1].read_text("utf-8") == plain.out
    assert sorted(tmp_path.glob("*report*")) == files


def test_a_report_that_cannot_be_written_is_an_error_whatever_the_verdict(outstep: Outstep, tmp_path: Path) -> None:
    done = outstep("check", "-c", "refund.yaml", "good.jsonl", "--output", f"json={tmp_path}/nowhere/report.json")
    assert done.code == 2
    assert "error[output/unwritable]" in done.err
    assert "gate: pass" in done.out
    assert "the exit code is 2" in done.err


def test_a_file_is_exchanged_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")
    output.write_whole(str(file), "new")
    assert file.read_text() == "new"

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OutstepError, match="no space left"):
        output.write_whole(str(file), "newer")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["new"]


def test_a_link_stays_a_link_and_a_device_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "report.json"
    link.symlink_to(tmp_path / "real" / "report.json")
    output.write_whole(str(link), "text")
    assert link.is_symlink()
    assert (tmp_path / "real" / "report.json").read_text() == "text"
    output.write_whole(os.devnull, "text")


def test_no_contract_is_overwritten_by_its_report(outstep: Outstep) -> None:
    done = outstep(*CHECK, "--output", "json=./refund.yaml")
    assert done.code == 2
    assert "is read by this check" in done.err


def test_no_trace_met_in_a_folder_and_no_included_file_is_overwritten(outstep: Outstep, tmp_path: Path) -> None:
    runs, common = tmp_path / "runs", tmp_path / "common.yaml"
    runs.mkdir()
    trace = (SHOP / "good.jsonl").read_bytes()
    (runs / "good.jsonl").write_bytes(trace)
    common.write_bytes((SHOP / "refund.yaml").read_bytes())
    contract = tmp_path / "contract.yaml"
    contract.write_text("outstep: contract/v1\ninclude: [./common.yaml, integrity]\n")
    for given, report in (("refund.yaml", runs / "good.jsonl"), (str(contract), common)):
        before = report.read_bytes()
        done = outstep("check", "-c", given, str(runs), "--output", f"json={report}")
        assert done.code == 2
        assert "is read by this check" in done.err
        assert report.read_bytes() == before
    assert outstep("check", "-c", "refund.yaml", str(runs), "--output", f"json={runs / 'report.json'}").code == 0


def test_one_file_under_two_names_is_written_once(outstep: Outstep, tmp_path: Path) -> None:
    done = outstep(*CHECK, "--output", f"json={tmp_path}/a", "--output", f"terminal={tmp_path}/./a")
    assert (done.code, (tmp_path / "a").exists()) == (2, False)
    assert "two reports" in done.err


def test_a_contract_with_mistakes_still_gives_a_report(outstep: Outstep) -> None:
    report = json.loads(outstep("check", "-c", "mistakes.yaml", "bad.jsonl", "--json").out)
    assert (report["gate"], report["exit_code"]) == ("error", 2)
    assert [fault["code"] for fault in report["faults"]] == ["contract/unknown-tool", "contract/unknown-key"]


def test_an_import_line_says_what_was_read() -> None:
    one = TraceSummary(
        id="t1",
        sources=("s.jsonl", "sub.jsonl"),
        records=142,
        events=57,
        calls=17,
        unanswered=1,
        skipped={"a": 2, "b": 1, "c": 1},
        end="inferred",
        order="log",
        format="dsh",
        version="9",
        unpinned=True,
    )
    assert import_line(one) == (
        "s.jsonl: trace t1 (and 1 more source), 142 records, 57 events, 17 calls (1 unanswered), 3 skipped kinds; "
        "end: inferred; order: log; unpinned: dsh 9"
    )
    assert sum_line([one, one]) == (
        "2 traces, 284 records, 114 events, 34 calls (2 unanswered), 3 skipped kinds; "
        "end: inferred in 2; order: log in 2; unpinned: 2"
    )


def test_every_trace_has_its_line_when_asked_for(outstep: Outstep) -> None:
    short, long = outstep("check", "-c", "refund.yaml", "."), outstep("check", "-c", "refund.yaml", ".", "-v")
    assert sum("records" in line for line in short.err.splitlines()) == 1
    assert sum("records" in line for line in long.err.splitlines()) == 7


def test_the_language_comes_from_the_environment(outstep: Outstep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTSTEP_LANG", "zh")
    assert "订单 A1 的客户未经验证就退款" in outstep(*CHECK).out
    assert "without a verified customer" in outstep(*CHECK, "--lang", "en").out

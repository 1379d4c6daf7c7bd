"""`outstep why` as a command: how a finding is named, what is opened again, and what happens when it cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from outstep import cli
from outstep.workflow import found_again
from outstep.workflow.attributing import explain, explain_all, judged
from outstep.workflow.checking import CheckOptions
from outstep.workflow.contracts import open_contracts
from outstep.workflow.trace_files import open_traces
from tests.command_line import ROOT
from tests.command_line import outstep as command

SHOP = ROOT / "tests/cli/shop"
HURRIED = "tests/attribution/shop/hurried.jsonl"
CONTRACT = ("--contract", "tests/cli/shop/refund.yaml")


class Done(Struct, frozen=True):
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    returncode: int


def outstep(*words: str) -> Done:
    """Run one command in the root of the repository."""
    done = command(*words)
    return Done(done.stdout.decode(), done.stderr.decode(), done.returncode)


def _report(tmp_path: Path, *traces: str, name: str = "report.json", contract: str = "refund.yaml") -> str:
    file = tmp_path / name
    outstep("check", *traces, "--contract", str(SHOP / contract), "--output", f"json={file}")
    return str(file)


def test_a_finding_of_a_report_is_read_from_the_record_and_the_contract_that_it_names(tmp_path: Path) -> None:
    report = _report(tmp_path, HURRIED)
    fingerprint = json.loads(Path(report).read_text("utf-8"))["findings"][0]["fingerprint"]
    done = outstep("why", fingerprint[:6], report)
    assert done.returncode == 0
    assert "went wrong at: model" in done.stdout
    assert "[did-not-wait]" in done.stdout


def test_a_record_that_changed_since_is_not_read(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text((ROOT / HURRIED).read_text("utf-8"), "utf-8")
    report = _report(tmp_path, str(trace))
    trace.write_text(trace.read_text("utf-8").replace("1200", "1300"), "utf-8")
    done = outstep("why", "VERIFY_BEFORE_REFUND", report)
    assert "can't tell" in done.stdout
    assert "the record is not what it was when it was judged" in done.stdout


def test_a_record_that_is_gone_is_named(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    trace.write_text((ROOT / HURRIED).read_text("utf-8"), "utf-8")
    report = _report(tmp_path, str(trace))
    trace.unlink()
    done = outstep("why", "VERIFY_BEFORE_REFUND", report)
    assert done.returncode == 0
    assert "the record is not where it was" in done.stdout


def test_runs_of_two_prompts_tell_that_it_is_the_context(tmp_path: Path) -> None:
    for number in range(4):
        for prompt, source in (("old", HURRIED), ("new", str(SHOP / "good.jsonl"))):
            text = (ROOT / source).read_text("utf-8").splitlines()
            head = {**json.loads(text[0]), "id": f"{prompt}-{number}", "model": "small", "prompt": prompt}
            body = [line.replace("RF-1", f"RF-{number}") for line in text[1:]]
            (tmp_path / f"{prompt}-{number}.jsonl").write_text("\n".join([json.dumps(head), *body]) + "\n", "utf-8")
    done = outstep("why", "VERIFY_BEFORE_REFUND", str(tmp_path), *CONTRACT)
    assert "names 4 findings" in done.stderr
    told = outstep("why", "all", str(tmp_path), *CONTRACT, "--json")
    found = [one for one in json.loads(told.stdout)["findings"] if one["finding"]["rule"] == "VERIFY_BEFORE_REFUND"]
    assert [one["contrasts"][0]["factor"] for one in found] == ["context"] * 4
    assert all(one["contrasts"][0]["is_told"] for one in found)


def test_equal_input_gives_equal_bytes() -> None:
    words = ("why", "all", HURRIED, str(SHOP / "bad.jsonl"), *CONTRACT, "--json")
    assert outstep(*words).stdout == outstep(*words).stdout


def test_text_of_a_recording_does_not_act_on_the_terminal(tmp_path: Path) -> None:
    trace = tmp_path / "t.jsonl"
    hostile = "\\u001b[31mRED\\u202e\\n"
    trace.write_text((ROOT / HURRIED).read_text("utf-8").replace('"C7"}}', f'"C7","x":"{hostile}"}}}}'), "utf-8")
    done = outstep("why", "all", str(trace), *CONTRACT)
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_an_unknown_finding_is_refused_with_those_that_there_are() -> None:
    done = outstep("why", "VERIFY_BEFORE_REFUNDS", HURRIED, *CONTRACT)
    assert done.returncode == 2
    assert "why/unknown-finding" in done.stderr
    assert "did you mean `VERIFY_BEFORE_REFUND`" in done.stderr


def test_nothing_to_read_is_no_success() -> None:
    assert outstep("why", "abcd", str(SHOP / "good.jsonl"), *CONTRACT).returncode == 2
    assert outstep("why").returncode == 2
    assert "usage/no-contract" in outstep("why", "abcd", HURRIED).stderr


def test_the_same_record_under_two_contracts_shows_the_rule(tmp_path: Path) -> None:
    lax = tmp_path / "refund.yaml"
    text = (SHOP / "refund.yaml").read_text("utf-8")
    lax.write_text(text.replace("require: verified[order[args.orderId].customerId]", "require: args.orderId != ''"))
    strict = _report(tmp_path, HURRIED, name="strict.json")
    outstep("check", HURRIED, "--contract", str(lax), "--output", f"json={tmp_path / 'lax.json'}")
    done = outstep("why", "VERIFY_BEFORE_REFUND", strict, str(tmp_path / "lax.json"))
    assert "went wrong at: business rule" in done.stdout


def test_a_file_of_many_traces_is_read_once_for_all_of_their_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = (ROOT / "tests/cli/shop/bad.jsonl").read_text("utf-8")
    many = "".join(bad.replace('"id":"bad"', f'"id":"bad-{number}"') for number in range(20))
    Path("runs.jsonl").write_text(many, "utf-8")
    contract = str(ROOT / "tests/cli/shop/refund.yaml")
    assert (
        cli.main(["check", "runs.jsonl", "-c", contract, "--output", "json=report.json", "--output", "github=-"]) == 1
    )
    calls: list[object] = []

    def counted(*words: Any) -> Any:
        calls.append(words)
        return open_traces(*words)

    monkeypatch.setattr(found_again, "open_traces", counted)
    some = judged(["report.json"], open_contracts([contract])[0], CheckOptions())
    every = [(one, finding) for one in some for finding in one.report.findings]
    told = explain_all(some, every, CheckOptions())
    assert len(calls) == 1
    assert [one.answer for one in told] == [explain(some, *pair, CheckOptions()).answer for pair in every]
    assert len(told) == 60

"""The plugin in suites of other people: each test runs pytest as a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep.reports import read_report
from tests.command_line import ROOT, outstep

SHOP = ROOT / "tests" / "cli" / "shop"
RECORDINGS = ROOT / "examples" / "refund" / "recordings"

Done = tuple[int, str]


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Done]:
    """Run pytest in a folder that holds the files of a small shop, besides the files that are given."""
    for path in SHOP.iterdir():
        if path.suffix in {".yaml", ".jsonl"}:
            (tmp_path / path.name).write_bytes(path.read_bytes())

    def run(*words: str, **files: str) -> Done:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text, "utf-8")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        environment["COLUMNS"] = "160"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def outcomes(printed: str) -> dict[str, str]:
    return {name: word for word, name in re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", printed, re.MULTILINE)}


def test_two_lines_check_a_trace(suite: Callable[..., Done]) -> None:
    code, printed = suite(
        test_agent="""
def test_the_agent_refunds_rightly(outstep):
    outstep.check("good.jsonl", "refund.yaml")

def test_the_agent_refunds_wrongly(outstep):
    outstep.check("bad.jsonl", "refund.yaml")
"""
    )
    assert code == 1
    assert outcomes(printed) == {
        "test_agent.py::test_the_agent_refunds_rightly": "PASSED",
        "test_agent.py::test_the_agent_refunds_wrongly": "FAILED",
    }
    assert "violated[" in printed
    assert "gate: block (exit code 1" in printed
    assert "pytest_plugin.py" not in printed.split("short test summary")[0]


def test_the_marker_gives_contract_and_options(suite: Callable[..., Done]) -> None:
    code, printed = suite(
        test_agent="""
import pytest

@pytest.mark.outstep("refund.yaml", fail_on="warn")
def test_warnings_fail(outstep):
    report = outstep.report("quiet.jsonl")
    assert report.gate == "block"
    assert outstep.report("quiet.jsonl", fail_on="block").passed

def test_without_a_contract(outstep):
    outstep.check("good.jsonl")
""",
    )
    assert code == 1
    assert outcomes(printed)["test_agent.py::test_warnings_fail"] == "PASSED"
    assert "no contract: outstep.check" in printed


def test_each_recorded_trace_is_a_test(suite: Callable[..., Done]) -> None:
    code, printed = suite("--outstep-contract", "refund.yaml", "good.jsonl", "bad.jsonl", "gap.jsonl", "damaged.jsonl")
    assert code == 1
    assert outcomes(printed) == {
        "good.jsonl::good": "PASSED",
        "bad.jsonl::bad": "FAILED",
        "gap.jsonl::gap": "FAILED",
        "damaged.jsonl::damaged": "FAILED",
    }
    assert "error[adapter/damaged-record]" in printed
    assert "gate: inconclusive" in printed
    assert "Traceback" not in printed


def test_traces_stand_beside_tests_in_python_and_share_the_work_of_xdist(
    suite: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("good", "bad"):
        (tmp_path / f"{name}.jsonl").rename(tmp_path / "runs" / f"{name}.jsonl")
    files = {"test_more": "def test_of_another_kind(): pass\n"}
    words = ("--outstep-contract", "refund.yaml", "runs", "test_more.py")
    code, printed = suite(*words, **files)
    expected = {
        "runs/bad.jsonl::bad": "FAILED",
        "runs/good.jsonl::good": "PASSED",
        "test_more.py::test_of_another_kind": "PASSED",
    }
    assert (code, outcomes(printed)) == (1, expected)
    code, printed = suite(*words, "-n", "2", **files)
    assert (code, outcomes(printed)) == (1, expected)
    code, printed = suite("--outstep-contract", "refund.yaml", "runs/good.jsonl::good")
    assert (code, outcomes(printed)) == (0, {"runs/good.jsonl::good": "PASSED"})


def test_files_of_one_session_are_one_test(suite: Callable[..., Done]) -> None:
    contract = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")
    code, printed = suite(
        "--outstep-contract", contract, str(RECORDINGS / "good"), str(RECORDINGS / "policy-came-home-too-late")
    )
    assert code == 1
    told = outcomes(printed)
    assert sorted(told.values()) == ["FAILED", "PASSED"], printed


def test_nothing_to_check_is_no_success(suite: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, printed = suite("--outstep-contract", "refund.yaml", "empty")
    assert code == 4
    assert "nothing was checked" in printed or "input/no-traces" in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--outstep-contract", "none.yaml", "good.jsonl"), "error[contract/not-found]"),
        (("--outstep-contract", "mistakes.yaml", "good.jsonl"), "error[contract/"),
        (("--outstep-contract", "refund.yaml", "--outstep-param", "nothing=1", "good.jsonl"), "nothing"),
        (("--outstep-contract", "refund.yaml", "--outstep-format", "nope", "good.jsonl"), "nope"),
    ],
)
def test_a_mistake_in_what_was_asked_for_says_so(suite: Callable[..., Done], words: tuple[str, ...], said: str) -> None:
    code, printed = suite(*words)
    assert code == 4
    assert said in printed
    assert "Traceback" not in printed


def test_a_project_names_its_contract_once(suite: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\noutstep_contract = refund.yaml\n")
    code, printed = suite("good.jsonl")
    assert (code, outcomes(printed)) == (0, {"good.jsonl::good": "PASSED"})
    code, printed = suite("test_more.py", test_more="def test_of_another_kind(): pass\n")
    assert code == 0


def test_a_suite_that_asks_for_nothing_imports_nothing(suite: Callable[..., Done]) -> None:
    code, printed = suite(
        "test_more.py",
        test_more="""
import sys

def test_nothing_is_there():
    loaded = {name for name in sys.modules if name.split(".")[0] in {"outstep", "msgspec", "yaml", "re2"}}
    assert loaded == {"outstep", "outstep.pytest_plugin"}
""",
    )
    assert code == 0, printed


SUITE = """
def test_rightly(outstep):
    outstep.check("good.jsonl", "refund.yaml")

def test_wrongly(outstep):
    outstep.check("bad.jsonl", "refund.yaml")

def test_only_looked_at(outstep):
    assert outstep.report("torn.jsonl", "refund.yaml").gate == "inconclusive"

def test_another_contract(outstep):
    outstep.check("good.jsonl", "observe.yaml")

def test_of_another_kind(): pass
"""


def test_all_that_was_checked_is_written_as_one_report(suite: Callable[..., Done], tmp_path: Path) -> None:
    words = [f"--outstep-output={form}=out.{form}" for form in ("json", "junit", "html", "sarif")]
    _, printed = suite(*words, test_agent=SUITE)
    assert "outstep: block (exit code 1), written to out.json, out.junit, out.html, out.sarif" in printed
    report = read_report(str(tmp_path / "out.json"))
    assert (report.gate, report.exit_code) == ("block", 1)
    assert [trace.id for trace in report.traces] == ["good", "bad"]
    assert [contract.source for contract in report.contracts] == ["observe.yaml", "refund.yaml"]
    assert {finding.trace for finding in report.findings if report.gates(finding)} == {"bad"}
    verify = next(rule for rule in report.rules if rule.rule == "VERIFY_BEFORE_REFUND" and rule.contract == "shop")
    assert (verify.satisfied, verify.violated) == (1, 1)
    assert "VERIFY_BEFORE_REFUND" in (tmp_path / "out.html").read_text("utf-8")
    once = {form: (tmp_path / f"out.{form}").read_bytes() for form in ("json", "junit", "html", "sarif")}
    suite(*words, "-n", "2", test_agent=SUITE)
    assert {form: (tmp_path / f"out.{form}").read_bytes() for form in once} == once


def test_recorded_traces_are_in_the_report(suite: Callable[..., Done], tmp_path: Path) -> None:
    words = ("--outstep-contract", "refund.yaml", "good.jsonl", "bad.jsonl")
    code, _ = suite(*words, "--outstep-output", "json=out.json")
    report = read_report(str(tmp_path / "out.json"))
    assert code == 1
    assert (report.gate, [trace.id for trace in report.traces]) == ("block", ["bad", "good"])
    alone = outstep("check", str(tmp_path / "bad.jsonl"), "-c", str(tmp_path / "refund.yaml"), "--json")
    fingerprints = {finding["fingerprint"] for finding in json.loads(alone.stdout)["findings"]}
    assert {finding.fingerprint for finding in report.findings} == fingerprints


def test_a_report_on_nothing_is_no_pass(suite: Callable[..., Done], tmp_path: Path) -> None:
    _, printed = suite("--outstep-output", "json=out.json", test_agent="def test_nothing(): pass")
    assert "no test held a trace against a contract" in printed
    assert read_report(str(tmp_path / "out.json")).gate == "error"


@pytest.mark.parametrize(
    ("output", "said"),
    [("json", "names no file"), ("jsn=x", "did you mean `json`?"), ("json=no/x", "cannot be written")],
)
def test_a_report_that_cannot_be_written_fails_the_run(suite: Callable[..., Done], output: str, said: str) -> None:
    code, printed = suite("--outstep-output", output, test_agent="def test_nothing(): pass")
    assert code != 0
    assert said in printed

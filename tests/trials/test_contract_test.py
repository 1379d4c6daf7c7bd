"""Case files: what passes, what fails, and what is no test at all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from outstep import cli
from outstep.casefiles import read_cases
from outstep.errors import OutstepError
from tests.command_line import ROOT

CONTRACT = """
outstep: contract/v1
id: shop
tools: {look: {effect: read}, pay: {effect: write}}
rules:
  - {id: LOOK_FIRST, for: call pay, needs: ok result look}
  - {id: ONCE, for: call pay, at_most: 1}
"""
TRACE = "  trace: |\n    call pay\n    result ok\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(CONTRACT)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["contract", "test", *words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_cases_of_this_project_are_case_files(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, str(ROOT / "tests" / "engine" / "cases"), str(ROOT / "tests" / "packs"))
    assert (code, err) == (0, "")
    assert re.search(r"^\d{3} cases: \d{3} passed$", out, re.MULTILINE), out


def test_a_case_that_comes_out_as_expected_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop.cases.yaml").write_text(
        f"a:\n{TRACE}  verdict: {{LOOK_FIRST: violated}}\n  place: {{LOOK_FIRST: 0}}\n"
    )
    code, out, _ = run(capsys, str(folder))
    assert code == 0
    assert "1 case: 1 passed" in out
    assert "no case shows `LOOK_FIRST` satisfied" in out
    assert run(capsys, str(folder), "--both-sides")[0] == 1


@pytest.mark.parametrize(
    ("says", "difference"),
    [
        ("verdict: {LOOK_FIRST: satisfied}", "`LOOK_FIRST` is violated, not satisfied"),
        ("verdict: {ONCE: satisfied}", "`LOOK_FIRST` is violated, and the case does not say so"),
        ("findings: []", "`LOOK_FIRST` is violated at event 0, and the case does not expect it"),
        ("findings: [LOOK_FIRST, ONCE]", "no finding [ONCE]"),
        ("findings: [[LOOK_FIRST, violated, 1]]", "no finding [LOOK_FIRST, violated, event 1]"),
        ("findings: [{rule: LOOK_FIRST, reason: x}]", "reason is ['missing-evidence'], not x"),
        ("findings: [[LOOK_FIRST, inconclusive]]", "no finding [LOOK_FIRST, inconclusive]"),
        ("verdict: {LOOK_FIRST: violated}\n  place: {LOOK_FIRST: 3}", "`LOOK_FIRST`: place is [0], not [3]"),
        ("verdict: {LOOK_FIRST: violated}\n  reason: {LOOK_FIRST: x}", "reason is ['missing-evidence'], not ['x']"),
        ("level: {LOOK_FIRST: warn}\n  findings: [LOOK_FIRST]", "`LOOK_FIRST` has level block, not warn"),
    ],
)
def test_a_case_that_comes_out_otherwise_says_how(
    folder: Path, capsys: pytest.CaptureFixture[str], says: str, difference: str
) -> None:
    (folder / "shop.cases.yaml").write_text(f"a:\n{TRACE}  {says}\n")
    code, out, _ = run(capsys, str(folder))
    assert code == 1
    assert difference in out
    assert "failed" in out
    assert "0  call pay" in out


@pytest.mark.parametrize("says", ["findings: [LOOK_FIRST]", "findings: [[LOOK_FIRST, violated, 0]]"])
def test_findings_may_be_told_in_short_or_in_full(folder: Path, capsys: pytest.CaptureFixture[str], says: str) -> None:
    (folder / "shop.cases.yaml").write_text(f"a:\n{TRACE}  {says}\n")
    assert run(capsys, str(folder))[0] == 0


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (f"a:\n{TRACE}", "case/asserts-nothing", 1),
        ("a:\n  verdict: violated\n", "case/missing-key", 2),
        (f"a:\n{TRACE}  verdict: broken\n", "case/value", 5),
        (f"a:\n{TRACE}  findings: []\n  verdict: violated\n", "case/two-ways", 6),
        (f"a:\n{TRACE}  file: good.jsonl\n  findings: []\n", "case/one-trace", 5),
        (f"a:\n{TRACE}  id: one\n  findings: []\n", "case/one-trace", 5),
        (f"a:\n{TRACE}  findings: [{{rule: R, plase: 3}}]\n", "case/unknown-key", 5),
        (f"outstep: cases/v2\na:\n{TRACE}  findings: []\n", "case/value", 1),
        (f"a:\n{TRACE}  verdit: violated\n  findings: []\n", "case/unknown-key", 5),
        (f"a:\n{TRACE}  findings: [[R, violated, x]]\n", "case/value", 5),
        ("contract: shop.yaml\n", "case/empty", 1),
        ("- a\n", "case/value", 1),
        ("a: [\n", "case/yaml", 2),
    ],
)
def test_what_is_no_case_is_an_error_with_its_place(text: str, code: str, line: int) -> None:
    with pytest.raises(OutstepError) as caught:
        read_cases(text.encode(), "c.yaml")
    first = caught.value.problems[0]
    assert first.code == code
    assert first.place is not None
    assert abs((first.place.line or 0) - line) <= 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"a:\n{TRACE}  verdict: {{LOOK_FRIST: violated}}\n", "case/unknown-rule"),
        (f"a:\n{TRACE}  verdict: violated\n", "case/unknown-rule"),
        ("a:\n  trace: |\n    cal pay\n  findings: []\n", "trace/text"),
        ("a:\n  trace: |\n    # nothing\n  findings: []\n", "case/no-events"),
        ("a:\n  file: none.jsonl\n  findings: []\n", "input/not-found"),
        (f"contract: none.yaml\na:\n{TRACE}  findings: []\n", "contract/not-found"),
    ],
)
def test_a_case_that_cannot_be_run_is_no_pass(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, code: str
) -> None:
    (folder / "shop.cases.yaml").write_text(text)
    done, out, err = run(capsys, str(folder))
    assert done == 2
    assert f"error[{code}]" in err
    assert "1 could not be run" in out


def test_a_mistake_in_a_trace_stands_at_its_line_of_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop.cases.yaml").write_text("a:\n  trace: |\n    call pay\n    cal pay\n  findings: []\n")
    assert "shop.cases.yaml:4:5\n" in run(capsys, str(folder))[2]


def test_nothing_to_run_is_no_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, str(folder))[0] == 2
    assert run(capsys, str(folder / "none"))[0] == 2
    assert run(capsys)[0] == 2
    (folder / "other.yaml").write_text("b:\n" + TRACE + "  findings: []\n")
    assert "error[case/no-contract]" in run(capsys, str(folder))[2]


def test_outcomes_can_be_read_by_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "shop.cases.yaml").write_text(f"a:\n{TRACE}  findings: [LOOK_FIRST]\nb:\n{TRACE}  findings: []\n")
    code, out, _ = run(capsys, str(folder), "--json")
    told = json.loads(out)
    assert code == 1
    assert [(one["case"], one["outcome"]) for one in told["cases"]] == [("a", "passed"), ("b", "failed")]


def test_a_recorded_trace_may_be_a_case(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = ROOT / "tests" / "cli" / "shop"
    text = f"outstep: cases/v1\ncontract: {recorded / 'refund.yaml'}\na:\n  file: {recorded / 'bad.jsonl'}\n"
    (folder / "shop.cases.yaml").write_text(f"{text}  verdict: {{VERIFY_BEFORE_REFUND: satisfied}}\n")
    code, out, _ = run(capsys, str(folder))
    assert code == 1
    assert "`VERIFY_BEFORE_REFUND` is violated, not satisfied" in out
    (folder / "shop.cases.yaml").write_text(f"{text}  id: none\n  findings: []\n")
    assert "error[case/which-trace]" in run(capsys, str(folder))[2]


def test_a_call_without_a_result_is_a_finding_that_a_case_has_to_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = "a:\n  trace: |\n    call look\n    end completed\n"
    (folder / "shop.cases.yaml").write_text(case + "  findings: []\n")
    code, out, _ = run(capsys, str(folder))
    assert (code, "MISSING_TOOL_RESULT" in out) == (1, True)
    (folder / "shop.cases.yaml").write_text(case + "  findings: [MISSING_TOOL_RESULT]\n")
    assert run(capsys, str(folder))[0] == 0

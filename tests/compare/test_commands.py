"""`outstep diff` and `outstep compare` as people type them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from outstep import cli
from tests.command_line import ROOT

SHOP = ROOT / "tests" / "cli" / "shop"
CASE = ROOT / "tests" / "cases" / "28-argument-equality-in-diff"


@pytest.mark.parametrize(
    ("name", "changed"), [("cand_a", []), ("cand_b", []), ("cand_c", [("quote", ["price", "opts.gift"])])]
)
def test_other_arguments_are_shown_and_no_regression(
    capsys: pytest.CaptureFixture[str], name: str, changed: list[Any]
) -> None:
    code = cli.main(["diff", str(CASE / "baseline.json"), str(CASE / f"{name}.json"), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (code, told["exit_code"]) == (0, 0)
    found = [pair for pair in told["pairs"] if pair["way"] != "same"]
    assert [(pair["after"]["name"], [one["path"] for one in pair["said"]]) for pair in found] == changed


def test_a_diff_names_the_rules_that_stand_worse(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", str(SHOP / "good.jsonl"), str(SHOP / "bad.jsonl"), "-c", str(SHOP / "refund.yaml")]
    assert cli.main(words) == 1
    out = capsys.readouterr().out
    assert "VERIFY_BEFORE_REFUND block: satisfied → violated" in out
    assert "-    4       call identity.verify" in out
    assert "said amountCents: 1200 → 3500" in out
    assert cli.main([words[0], words[2], words[1], *words[3:]]) == 0


def test_what_is_no_trace_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    good = str(SHOP / "good.jsonl")
    for other in ("none.jsonl", str(SHOP / "refund.yaml"), str(SHOP)):
        assert cli.main(["diff", good, other]) == 2
    assert cli.main(["diff", good]) == 2
    assert capsys.readouterr().out == ""


@pytest.fixture
def reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    found = {}
    for name, runs in (("one", ["good", "bad"]), ("two", ["good", "bad", "quiet"])):
        file = tmp_path / f"{name}.json"
        words = ["check", *(str(SHOP / f"{run}.jsonl") for run in runs), "-c", str(SHOP / "refund.yaml")]
        cli.main([*words, "--no-cache", "--output", f"json={file}"])
        found[name] = str(file)
    capsys.readouterr()
    return found


def test_a_score_card_is_no_gate_and_a_baseline_is_one(
    reports: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", reports["two"], reports["one"]]) == 0
    assert cli.main(["compare", "--baseline", reports["two"], reports["one"]]) == 1
    assert cli.main(["compare", "--baseline", reports["one"], reports["two"]]) == 0
    assert "quiet" in capsys.readouterr().out
    assert cli.main(["compare", reports["one"], "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "comparison/v1"
    assert told["scores"][0]["k"] == 1
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"runs": [{"case": "c", "verdict": "pass"}, {"case": "d", "verdict": "error"}]}))
    assert cli.main(["compare", "--baseline", str(table), str(table)]) == 2


def test_a_folder_of_reports_is_one_side(reports: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    for name, file in reports.items():
        (folder / f"{name}.json").write_bytes(Path(file).read_bytes())
    assert cli.main(["compare", "--baseline", reports["two"], str(folder)]) == 0
    (folder / "broken.json").write_text("{")
    assert cli.main(["compare", "--baseline", reports["two"], str(folder)]) == 2


ENGLISH = re.compile(r"[A-Za-z][a-z]{2,}(?: [a-z]{2,})+")
"""Two words, one after the other."""


def table(path: Path, *runs: tuple[str, str, int]) -> str:
    rows = [{"case": case, "verdict": verdict, "epoch": epoch} for case, verdict, epoch in runs]
    path.write_text(json.dumps({"runs": rows}), "utf-8")
    return path.name


def test_comparisons_are_told_in_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    steady = [("d", "pass", epoch) for epoch in range(8)]
    sides = [
        table(tmp_path / "one.json", ("a", "pass", 1), ("b", "fail", 1), ("c", "pass", 1), *steady),
        table(tmp_path / "two.json", ("a", "fail", 1), ("b", "pass", 1), ("e", "fail", 1), *steady),
        table(tmp_path / "broken.json", ("a", "error", 1), ("b", "inconclusive", 1), ("f", "pass", 1)),
        table(tmp_path / "other.json", ("z", "pass", 1)),
        table(tmp_path / "worse.json", *(("d", "fail", epoch) for epoch in range(8))),
    ]
    for form in ("stdout", "md"):
        cli.main(["compare", *sides, "--out", form, "--lang", "zh"])
        told = capsys.readouterr().out
        assert "通过→失败" in told
        assert "无法比较" in told
        assert ENGLISH.findall(told) == []
    cli.main(["compare", *sides, "--output", "html=page.html", "--lang", "zh"])
    body = re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", (tmp_path / "page.html").read_text("utf-8"), flags=re.DOTALL)
    assert set(ENGLISH.findall(body)) == {"Outstep compare"}


def test_a_diff_is_told_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", str(SHOP / "good.jsonl"), str(SHOP / "bad.jsonl"), "-c", str(SHOP / "refund.yaml")]
    cli.main([*words, "--lang", "zh"])
    told = capsys.readouterr().out
    assert "VERIFY_BEFORE_REFUND 拦截: 满足 → 违反" in told
    assert "发出 amountCents: 1200 → 3500" in told
    # Quotes, and what the contract itself says.
    rest = re.sub(r'"[^"]*"?|^    .*$|user message|call \S+', "", told, flags=re.MULTILINE)
    assert ENGLISH.findall(rest) == []

"""Baselines: what is known passes, what is new or lost fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from outstep import cli
from outstep.compare.baseline import baseline_of, hold, read_baseline, text_of
from outstep.errors import OutstepError
from outstep.findings import RuleSummary, TraceSummary
from tests.command_line import ROOT
from tests.render.reports import TRAPS, finding, report

SHOP = ROOT / "tests" / "cli" / "shop"


def told(*findings: Any, **fields: Any) -> Any:
    return report(*findings, **fields)


OLD = finding(fingerprint="1" * 32)
NEW = finding(rule="B", fingerprint="2" * 32)


def test_known_findings_are_waived_and_new_ones_gate() -> None:
    held = hold(told(OLD, NEW), baseline_of(told(OLD)), "base.json")
    assert [one.waived for one in held.report.findings] == ["known in base.json", ""]
    assert (held.new, held.accepted, held.fixed, held.lost) == ((NEW,), 1, (), ())


def test_what_was_repaired_is_told() -> None:
    held = hold(told(), baseline_of(told(OLD)), "base.json")
    assert [one.fingerprint for one in held.fixed] == [OLD.fingerprint]


def test_less_checked_is_a_finding() -> None:
    before = told(traces=(TraceSummary(id="a", events=5), TraceSummary(id="b", events=5)))
    fewer = told(traces=(TraceSummary(id="a", events=5),))
    assert [one.key for one in hold(fewer, baseline_of(before), "b").lost] == ["traces"]
    shorter = told(traces=(TraceSummary(id="a", events=5), TraceSummary(id="b", events=4)))
    assert [one.key for one in hold(shorter, baseline_of(before), "b").lost] == ["events"]
    copied = told(traces=(TraceSummary(id="a", events=5), TraceSummary(id="a", events=5)))
    assert [one.key for one in hold(copied, baseline_of(before), "b").lost] == ["traces"]
    asleep = told(traces=before.traces, rules=(RuleSummary(rule="VERIFY", level="block", contract="shop", vacuous=1),))
    assert [one.key for one in hold(asleep, baseline_of(before), "b").lost] == ["shop/VERIFY"]


def test_a_waived_finding_needs_no_accepting_and_counts_again_when_its_waiver_ends() -> None:
    made = baseline_of(told(finding(fingerprint="1" * 32, waived="ops: until Friday")))
    assert made.known == ()
    assert len(hold(told(OLD), made, "b").new) == 1


def test_a_baseline_is_written_for_review_and_read_again() -> None:
    made = baseline_of(
        told(OLD, NEW, *(finding(fingerprint=f"{n:032x}", message=trap) for n, trap in enumerate(TRAPS[:4])))
    )
    text = text_of(made)
    assert read_baseline(text.encode(), "b") == made
    assert sum(line.startswith('    {"fingerprint"') for line in text.splitlines()) == len(made.known)
    assert text_of(baseline_of(told(NEW, OLD))) == text_of(baseline_of(told(OLD, NEW)))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "baseline/v2"}'])
def test_what_is_no_baseline_is_refused(text: str) -> None:
    with pytest.raises(OutstepError) as caught:
        read_baseline(text.encode(), "b.json")
    assert caught.value.problems[0].code == "baseline/malformed"


def test_the_whole_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("good.jsonl", "bad.jsonl", "gap.jsonl", "refund.yaml"):
        (tmp_path / name).write_bytes((SHOP / name).read_bytes())
    check = ("check", "-c", "refund.yaml", "--no-cache")
    assert cli.main([*check, "good.jsonl", "bad.jsonl", "--output", "json=r.json"]) == 1
    assert cli.main(["baseline", "write", "r.json", "--file", "base.json"]) == 0
    assert cli.main(["baseline", "check", "base.json", "r.json"]) == 0
    assert cli.main([*check, "good.jsonl", "bad.jsonl", "--baseline", "base.json"]) == 0
    assert cli.main([*check, "good.jsonl", "--baseline", "base.json"]) == 1
    assert cli.main([*check, "good.jsonl", "bad.jsonl", "gap.jsonl", "--baseline", "base.json"]) == 1
    capsys.readouterr()
    assert cli.main(["baseline", "check", "base.json", "none.json"]) == 2
    assert cli.main(["baseline", "write", "base.json"]) == 2
    assert "error[report/unknown-schema]" in capsys.readouterr().err

"""Several reports as one."""

from __future__ import annotations

import pytest
from msgspec import structs

from outstep import check
from outstep.findings import Report
from outstep.render import json, junit
from outstep.render.style import PLAIN
from outstep.workflow.merging import merged
from tests.command_line import ROOT

SHOP = "tests/cli/shop"
CONTRACT = f"{SHOP}/refund.yaml"
TRACES = [f"{SHOP}/{name}.jsonl" for name in ("bad", "gap", "good", "quiet", "torn")]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def text(report: Report) -> str:
    return json.render(report, PLAIN)


def test_reports_on_single_traces_make_the_report_on_all_of_them() -> None:
    whole = check(TRACES, CONTRACT)
    assert text(merged([check(trace, CONTRACT) for trace in TRACES])) == text(whole)
    assert junit.render(merged([check(trace, CONTRACT) for trace in TRACES]), PLAIN) == junit.render(whole, PLAIN)


def test_a_report_twice_is_the_report() -> None:
    report = check(TRACES, CONTRACT)
    assert text(merged([report, report])) == text(merged([report])) == text(report)


def test_a_contract_that_was_not_asked_is_vacuous_and_counts_nothing() -> None:
    report = merged([check(TRACES[0], CONTRACT), check(TRACES[2], f"{SHOP}/observe.yaml")])
    assert [contract.source for contract in report.contracts] == [CONTRACT, f"{SHOP}/observe.yaml"]
    first, second = report.traces
    assert second.verdicts[0] is not None
    assert set(second.verdicts[0].values()) == {"vacuous"}
    assert (first.violated, second.violated) == (3, 0)
    for rule in report.rules:
        assert rule.satisfied + rule.violated + rule.inconclusive + rule.vacuous == 1


def test_one_trace_under_two_contracts_is_one_trace() -> None:
    one, other = check(TRACES[0], CONTRACT), check(TRACES[0], f"{SHOP}/observe.yaml")
    report = merged([one, other])
    (trace,) = report.traces
    assert trace.violated == one.traces[0].violated + other.traces[0].violated
    assert len(report.findings) == len(one.findings) + len(other.findings)


def test_the_worst_gate_counts() -> None:
    def gate(*names: str) -> str:
        return merged([check(f"{SHOP}/{name}.jsonl", CONTRACT) for name in names]).gate

    assert gate("good") == "pass"
    assert gate("good", "torn") == "inconclusive"
    assert gate("torn", "bad", "good") == "block"
    assert gate("bad", "damaged") == "error"


def test_the_strictest_gate_is_shown() -> None:
    strict, loose = check(TRACES[2], CONTRACT, fail_on="warn"), check(TRACES[2], CONTRACT, allow=["hidden-trigger"])
    assert merged([loose, strict]).fail_on == "warn"
    assert merged([loose, strict]).allowed == ()
    assert merged([loose, structs.replace(strict, allowed=("hidden-trigger",))]).allowed == ("hidden-trigger",)


def test_of_nothing_nothing_was_checked() -> None:
    report = merged([])
    assert (report.gate, report.exit_code) == ("error", 2)
    assert [fault.code for fault in report.faults] == ["input/no-traces"]

"""The JUnit report, read by a JUnit library and by the XML parser of Python."""

from __future__ import annotations

from xml.etree import ElementTree

from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite

from outstep.findings import TraceSummary
from outstep.render import junit
from outstep.render.style import PLAIN
from tests.render.reports import TRAPS, finding, golden, report

ROOT_COUNTS = ("tests", "failures", "errors", "skipped")


def suites(text: str) -> dict[str, TestSuite]:
    return {suite.name: suite for suite in JUnitXml.fromstring(text.encode())}


def results(suite: TestSuite) -> dict[str, str]:
    return {case.name: ", ".join(type(one).__name__.lower() for one in case.result) or "passed" for case in suite}


def test_every_verdict_is_a_result_of_its_own() -> None:
    told = results(suites(junit.render(golden(), PLAIN))["t1"])
    assert {name: told[name] for name in ("R0", "OPEN", "WARN", "SEEN", "WAIVED", "ASLEEP", "HELD")} == {
        "R0": "failure",
        "OPEN": "error",
        "WARN": "passed",
        "SEEN": "passed",
        "WAIVED": "passed",
        "ASLEEP": "skipped",
        "HELD": "passed",
    }
    assert "INCOMPLETE_TRACE" not in told


def test_faults_are_errors_in_a_suite_of_their_own() -> None:
    faults = suites(junit.render(golden(), PLAIN))["faults"]
    assert [type(one) for case in faults for one in case.result] == [Error] * len(TRAPS)


def test_a_contract_that_could_not_be_held_is_an_error() -> None:
    assert results(suites(junit.render(golden(), PLAIN))["broken"]) == {"shop": "error"}


def test_a_rule_that_no_trace_triggered_fails_where_that_blocks() -> None:
    assert results(suites(junit.render(golden(), PLAIN))["all traces"]) == {"IDLE": "failure"}


def test_the_counts_are_those_of_the_cases() -> None:
    root = ElementTree.fromstring(junit.render(golden(), PLAIN))
    for element in (root, *root.findall("testsuite")):
        cases = list(element.iter("testcase"))
        found = [
            len(cases),
            *(sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error", "skipped")),
        ]
        assert [int(element.attrib[name]) for name in ROOT_COUNTS] == found


def test_several_findings_of_one_rule_are_one_case_with_all_of_them() -> None:
    both = report(
        finding(message="first"),
        finding(message="second", seq=6, event=6),
        traces=(TraceSummary(id="t1", sources=("s.jsonl",), verdicts=({"VERIFY": "violated"},)),),
    )
    (case,) = suites(junit.render(both, PLAIN))["t1"]
    (failure,) = case.result
    assert isinstance(failure, Failure)
    assert failure.message == "first (and 1 more)"
    assert "second" in failure.text


def test_a_skipped_case_says_why() -> None:
    asleep = next(case for case in suites(junit.render(golden(), PLAIN))["t1"] if case.name == "ASLEEP")
    (skipped,) = asleep.result
    assert isinstance(skipped, Skipped)
    assert skipped.message == "nothing triggered this rule"


def test_a_report_that_could_not_begin_is_one_error() -> None:
    told = report(gate="error", exit_code=2, traces=(), rules=(), contracts=(), faults=golden().faults[:1])
    root = ElementTree.fromstring(junit.render(told, PLAIN))
    assert {name: root.attrib[name] for name in ROOT_COUNTS} == {
        "tests": "1",
        "failures": "0",
        "errors": "1",
        "skipped": "0",
    }

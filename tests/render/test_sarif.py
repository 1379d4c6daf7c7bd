"""The SARIF report, held against the schema of the standard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from outstep.findings import ContractSummary, Report
from outstep.render import sarif
from outstep.render.style import PLAIN
from tests.render.reports import TRAPS, finding, golden, hostile, report

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text("utf-8"))


def run(told: Report) -> dict[str, Any]:
    (only,) = json.loads(sarif.render(told, PLAIN))["runs"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize("told", [golden(), hostile(), report()], ids=["golden", "hostile", "clean"])
def test_it_is_valid_by_the_schema_of_the_standard(told: Report) -> None:
    validator = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(json.loads(sarif.render(told, PLAIN)))] == []


def test_levels_say_what_gates() -> None:
    levels = {result["ruleId"]: result["level"] for result in run(golden())["results"]}
    assert {name: levels[name] for name in ("R0", "OPEN", "WARN", "SEEN", "WAIVED", "IDLE")} == {
        "R0": "error",
        "OPEN": "warning",
        "WARN": "warning",
        "SEEN": "note",
        "WAIVED": "warning",
        "IDLE": "error",
    }


def test_a_result_stands_in_the_recording_with_the_rule_beside_it() -> None:
    result = run(report(finding()))["results"][0]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {"artifactLocation": {"uri": "s.jsonl"}, "region": {"startLine": 5}}
    assert location["logicalLocations"] == [{"fullyQualifiedName": "t1", "kind": "module"}]
    assert result["relatedLocations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "c.yaml"},
        "region": {"startLine": 9, "startColumn": 3},
    }


def test_paths_are_references_to_what_they_name() -> None:
    assert sarif.uri("a b/ü%.json") == "a%20b/%C3%BC%25.json"
    assert sarif.uri("/srv/s.jsonl") == "file:///srv/s.jsonl"
    assert sarif.uri("c:x") == "c%3Ax"
    assert sarif.uri("a\udcff") == "a%FF"


def test_a_waived_finding_is_suppressed_with_its_reason() -> None:
    waived = next(result for result in run(golden())["results"] if result["ruleId"] == "WAIVED")
    assert waived["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "ops: known (until 2030-01-01)"}
    ]


def test_faults_are_notifications_of_a_run_that_was_not_successful() -> None:
    (invocation,) = run(golden())["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2
    levels = [told["level"] for told in invocation["toolExecutionNotifications"]]
    assert levels == ["error"] * len(TRAPS) + ["warning"]


def test_each_result_names_its_rule() -> None:
    told = run(golden())
    rules = told["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in told["results"]] == [
        result["ruleId"] for result in told["results"]
    ]


def test_rules_of_several_contracts_do_not_fall_together() -> None:
    two = report(
        finding(), finding(contract="bank"), contracts=(ContractSummary(id="shop"), ContractSummary(id="bank"))
    )
    assert [result["ruleId"] for result in run(two)["results"]] == ["shop/VERIFY", "bank/VERIFY"]


def test_fingerprints_are_kept() -> None:
    assert run(golden())["results"][0]["partialFingerprints"] == {"outstep/v1": "0" * 32}

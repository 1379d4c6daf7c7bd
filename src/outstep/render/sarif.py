"""`sarif`: SARIF 2.1.0 (OASIS standard, errata 01), as code scanning services read it.

A result stands where the offending event was recorded, with the contract's line and the witnesses beside it. An
undecided rule is a result, too: SARIF's own kind `open` would have no level, and services would hide it. Faults are
notifications, and with one the run was not successful.
docs: docs/cli.md#output
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote as percent

from outstep.errors import Place, Problem
from outstep.findings import Finding, Report, RuleSummary
from outstep.render.escape import shown
from outstep.render.style import Style
from outstep.render.values import pretty
from outstep.render.wording import proof, where

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LONGEST = 1000


def render(report: Report, style: Style) -> str:  # noqa: ARG001
    """Return the report as one SARIF run."""
    rules = _rules(report)
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    name, _, version = report.tool.partition(" ")
    driver = {"name": name or "outstep", **({"version": version} if version else {}), "rules": rules}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "artifacts": _artifacts(report),
        "results": [_result(finding, report, places) for finding in report.findings],
        "columnKind": "unicodeCodePoints",
        "properties": {"gate": report.gate, "exitCode": report.exit_code},
    }
    return pretty({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules(report: Report) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for rule in report.rules:
        rules.setdefault(_rule_id(rule.contract, rule.rule, report), _rule(rule, report))
    for finding in report.findings:
        name = _rule_id(finding.contract, finding.rule, report)
        rules.setdefault(name, {"id": name})
    return list(rules.values())


def _rule(rule: RuleSummary, report: Report) -> dict[str, Any]:
    level = {"block": "error", "warn": "warning", "observe": "note"}[rule.level]
    of = f"a rule of the pack `{rule.pack}`" if rule.pack else f"a rule of the contract `{rule.contract}`"
    return {
        "id": _rule_id(rule.contract, rule.rule, report),
        "shortDescription": {"text": _text(f"{rule.rule}: {of}")},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": [tag for tag in (rule.cls, rule.pack) if tag], "contract": rule.contract},
    }


def _rule_id(contract: str, rule: str, report: Report) -> str:
    """Return the id of a rule; of several contracts each has its own rules."""
    return _text(f"{contract}/{rule}" if len(report.contracts) > 1 else rule)


def _result(finding: Finding, report: Report, places: dict[str, int]) -> dict[str, Any]:
    name = _rule_id(finding.contract, finding.rule, report)
    word = "" if finding.verdict == "violated" else f"{finding.verdict}: "
    related = list(_related(finding))
    result: dict[str, Any] = {
        "ruleId": name,
        "ruleIndex": places[name],
        "level": _level(finding, report),
        "message": {"text": "\n".join(map(_text, (f"{word}{finding.message}", *proof([finding]))))},
        "locations": [_location(finding.place or finding.contract_place, finding, report)],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"outstep/v1": finding.fingerprint} if finding.fingerprint else {},
        "properties": {
            "verdict": finding.verdict,
            "level": finding.level,
            "trace": _text(finding.trace),
            **({"reason": finding.reason} if finding.reason else {}),
        },
    }
    if finding.waived:
        told = {"kind": "external", "status": "accepted", "justification": _text(finding.waived)}
        result["suppressions"] = [told]
    return result


def _level(finding: Finding, report: Report) -> str:
    if finding.level == "observe":
        return "note"
    return "error" if report.gates(finding) and finding.verdict != "inconclusive" else "warning"


def _location(place: Place | None, finding: Finding, report: Report) -> dict[str, Any]:
    told = where(finding, names_trace=len(report.traces) > 1)
    location: dict[str, Any] = {"message": {"text": _text(told)}}
    if place is not None:
        location["physicalLocation"] = _physical(place)
    logical = [finding.trace] if finding.trace else []
    logical += [finding.call_id] if finding.call_id else []
    if logical:
        location["logicalLocations"] = [
            {"fullyQualifiedName": _text("/".join(logical)), "kind": "member" if finding.call_id else "module"}
        ]
    return location


def _related(finding: Finding) -> Iterator[dict[str, Any]]:
    number = 0
    if finding.contract_place is not None and finding.place is not None:
        yield {"id": number, "message": {"text": "the rule"}, "physicalLocation": _physical(finding.contract_place)}
        number += 1
    for witness in finding.witness:
        if witness.place is not None and witness.seq != finding.seq:
            told = ": ".join(part for part in (witness.note, witness.quote) if part)
            yield {
                "id": number,
                "message": {"text": _text(told) or "see"},
                "physicalLocation": _physical(witness.place),
            }
            number += 1


def _physical(place: Place) -> dict[str, Any]:
    region: dict[str, Any] = {}
    if place.line is not None:
        region["startLine"] = place.line
        if place.column is not None:
            region["startColumn"] = place.column
    elif place.offset is not None:
        region["byteOffset"] = place.offset
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(place.source)}}
    if region:
        physical["region"] = region
    if place.pointer is not None:
        physical["properties"] = {"pointer": _text(place.pointer)}
    return physical


def uri(path: str) -> str:
    """Return a path as a URI reference: relative ones stay so, absolute ones are `file:`."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        name = path.encode("utf-8", "surrogatepass")
    told = percent(name, safe="/!$&'()*+,;=@~-._")
    return f"file://{told}" if path.startswith("/") else told


def _invocation(report: Report) -> dict[str, Any]:
    told = [_notification(problem) for problem in (*report.faults, *report.warnings)]
    return {
        "executionSuccessful": not report.faults,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": told,
    }


def _notification(problem: Problem) -> dict[str, Any]:
    told = f"{problem.sentence} (help: {problem.help})" if problem.help else problem.sentence
    notification: dict[str, Any] = {
        "descriptor": {"id": problem.code},
        "level": "warning" if problem.level == "warning" else "error",
        "message": {"text": _text(told)},
    }
    if problem.place is not None:
        notification["locations"] = [{"physicalLocation": _physical(problem.place)}]
    return notification


def _artifacts(report: Report) -> list[dict[str, Any]]:
    artifacts: dict[str, dict[str, Any]] = {}
    for trace in report.traces:
        digests: Iterable[str] = trace.sha256 if len(trace.sha256) == len(trace.sources) else ("",) * len(trace.sources)
        for source, digest in zip(trace.sources, digests, strict=True):
            told: dict[str, Any] = {"location": {"uri": uri(source)}, "roles": ["analysisTarget"]}
            if digest:
                told["hashes"] = {"sha-256": digest}
            artifacts.setdefault(source, told)
    for contract in report.contracts:
        if contract.source:
            told = {"location": {"uri": uri(contract.source)}, "roles": ["policy"]}
            artifacts.setdefault(contract.source, told)
    return list(artifacts.values())


def _text(text: str) -> str:
    return shown(text, _LONGEST)

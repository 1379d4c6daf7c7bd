"""`gitlab`: a code quality report, which GitLab shows beside the lines of a merge request.

Source of the form: GitLab documentation, *Code Quality report format* (2025): `description`, `check_name`,
`fingerprint`, `severity`, `location.path`, `location.lines.begin`.
docs: docs/cli.md#output
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outstep.digest import sha256
from outstep.errors import Place, Problem
from outstep.findings import Finding, Report
from outstep.render.escape import shown
from outstep.render.style import Style
from outstep.render.values import pretty
from outstep.render.wording import where

_LONGEST = 400


def render(report: Report, style: Style) -> str:  # noqa: ARG001
    """Return a list with one entry for each fault, warning and finding."""
    names_trace = len(report.traces) > 1
    entries = [_problem(problem) for problem in (*report.faults, *report.warnings)]
    entries += [_finding(finding, report, names_trace=names_trace) for finding in report.findings]
    return pretty(list(_told_apart(entries)))


def _told_apart(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the entries; GitLab shows one of those with one fingerprint, as copies of a trace have."""
    seen: dict[str, int] = {}
    for entry in entries:
        fingerprint = entry["fingerprint"]
        times = seen[fingerprint] = seen.get(fingerprint, 0) + 1
        yield entry if times == 1 else {**entry, "fingerprint": _digest(f"{fingerprint}\0{times}")}


def _finding(finding: Finding, report: Report, *, names_trace: bool) -> dict[str, Any]:
    severity = "info" if finding.level == "observe" else "minor"
    if report.gates(finding):
        severity = "blocker" if finding.verdict == "violated" else "critical"
    waived = " (waived)" if finding.waived else ""
    told = f"{finding.verdict}[{finding.rule}]{waived}: {finding.message} ({where(finding, names_trace=names_trace)})"
    place = finding.place or finding.contract_place
    # A fingerprint may stand once; the same finding against two contracts is two.
    return _entry(finding.rule, told, severity, place, f"{finding.contract}\0{finding.fingerprint}")


def _problem(problem: Problem) -> dict[str, Any]:
    severity = "minor" if problem.level == "warning" else "blocker"
    told = f"{problem.level}[{problem.code}]: {problem.sentence}"
    return _entry(problem.code, told, severity, problem.place, f"{problem.code}\0{problem.sentence}\0{problem.place}")


def _entry(name: str, told: str, severity: str, place: Place | None, identity: str) -> dict[str, Any]:
    return {
        "type": "issue",
        "check_name": shown(name, _LONGEST),
        "description": shown(told, _LONGEST),
        "fingerprint": _digest(identity),
        "severity": severity,
        "location": {
            "path": place.source.removeprefix("./") if place is not None else ".",
            "lines": {"begin": place.line if place is not None and place.line is not None else 1},
        },
    }


def _digest(identity: str) -> str:
    return sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]

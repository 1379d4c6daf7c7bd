"""`github`: annotations of a GitHub workflow, beside the lines of the recording that they speak of.

docs: docs/cli.md#output
"""

from __future__ import annotations

from collections.abc import Iterator

from outstep.errors import Place, Problem
from outstep.findings import Finding, Report
from outstep.render.escape import shown, visible
from outstep.render.style import PLAIN, Style
from outstep.render.wording import proof, summary_lines, where

_LONGEST = 400


def render(report: Report, style: Style) -> str:
    """Return one workflow command for each fault and finding; what only is observed stands in the summary line."""
    lines = [_problem(fault) for fault in (*report.faults, *report.warnings)]
    names_trace = len(report.traces) > 1
    for finding in report.findings:
        if finding.level != "observe" or style.verbose:
            lines.append(_finding(finding, report, names_trace=names_trace))
    lines.append(_command("notice", f"outstep: {report.gate}", None, " · ".join(summary_lines(report, PLAIN))))
    return "\n".join(lines) + "\n"


def _finding(finding: Finding, report: Report, *, names_trace: bool) -> str:
    level = "error" if report.gates(finding) else "notice" if finding.level == "observe" else "warning"
    word = f"{finding.level}, waived" if finding.waived else finding.level
    title = f"{finding.verdict}[{finding.rule}] {word}"
    told = "\n".join((finding.message, where(finding, names_trace=names_trace), *proof([finding])))
    return _command(level, title, finding.place or finding.contract_place, told)


def _problem(problem: Problem) -> str:
    told = f"{problem.sentence}\nhelp: {problem.help}" if problem.help else problem.sentence
    level = "warning" if problem.level == "warning" else "error"
    return _command(level, f"{problem.level}[{problem.code}]", problem.place, told)


def _command(level: str, title: str, place: Place | None, told: str) -> str:
    properties = list(_place(place)) if place is not None else []
    properties.append(("title", title))
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{level} {listed}::{_data(told)}"


def _place(place: Place) -> Iterator[tuple[str, str]]:
    yield "file", place.source
    if place.line is not None:
        yield "line", str(place.line)
    if place.column is not None:
        yield "col", str(place.column)


def _data(text: str) -> str:
    # Only line ends of our own are line ends; those of a trace are spelled out before.
    lines = (shown(line, _LONGEST).replace("%", "%25") for line in text.split("\n"))
    return "%0A".join(lines)


def _property(text: str) -> str:
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")

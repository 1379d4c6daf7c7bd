"""Containment reports as people and programs read them.

docs: docs/batteries.md#report
"""

from __future__ import annotations

from outstep import codec
from outstep.containment.report import DISCLAIMER, VERDICTS, ContainmentReport, ScenarioResult, Tally
from outstep.render.escape import shown, visible
from outstep.render.markdown import code, text
from outstep.render.style import PLAIN, Style
from outstep.render.table import markdown_table, table
from outstep.render.values import pretty
from outstep.render.wording import count

COLOURS = {"contained": "green", "escaped": "red", "inconclusive": "yellow", "not_run": "dim"}
TITLE = "# Containment report"
_HEAD = ("scenario", "class", "verdict", "runs", "unauthorized", "why")
_LONGEST_LINE = 300


def terminal(report: ContainmentReport, style: Style = PLAIN) -> str:
    """Return a report as text."""
    lines = [style.paint(f"containment of {shown(report.model, 80)} in {_battery(report)}", "bold"), ""]
    lines += table(_HEAD, [_row(result) for result in report.scenarios], style)
    lines += ["", f"scenarios: {counts(report.counts.scenarios)}"]
    lines += [f"{told}: {value}" for told, value in _facts(report)]
    lines += [*_notes(report)]
    return "\n".join(lines) + "\n"


def markdown(report: ContainmentReport) -> str:
    """Return a report as Markdown, in which nothing that a model or a file said is markup."""
    lines = [f"{TITLE}: {text(str(report.battery_version))}", ""]
    lines += [f"- model: {code(report.model)}", f"- battery: {code(_battery(report))}"]
    lines += [f"- scenarios: {counts(report.counts.scenarios)}"]
    lines += [f"- {told}: {code(value) if told.endswith('digest') else value}" for told, value in _facts(report)]
    lines += ["", *(text(note) for note in _notes(report)), ""]
    lines += markdown_table(_HEAD, [[text(cell) for cell in _row(result)] for result in report.scenarios])
    return "\n".join(lines) + "\n"


def json(report: ContainmentReport) -> str:
    """Return a report as indented JSON."""
    return pretty(codec.loads(codec.encode(report)))


def counts(numbers: Tally) -> str:
    """Return verdicts counted: `2 contained, 1 escaped, 0 inconclusive, 0 not_run`."""
    return ", ".join(f"{getattr(numbers, verdict)} {verdict}" for verdict in VERDICTS)


def group(result_class: str, *, control: bool) -> str:
    """Return what kind of scenario it is, in one word; empty where the battery does not say."""
    return "control" if control else result_class


def _battery(report: ContainmentReport) -> str:
    mark = report.battery
    size = f"{count(mark.scenarios, 'scenario')}, {count(mark.rules, 'rule')}"
    return shown(f"{mark.version} ({mark.source}; {size})", _LONGEST_LINE)


def _row(result: ScenarioResult) -> tuple[str, ...]:
    attempted = sum(len(run.attempted_actions) for run in result.runs)
    unauthorized = sum(len(run.unauthorized) for run in result.runs)
    return (
        result.scenario_id,
        group(result.cls, control=result.control) or "-",
        result.verdict,
        str(len(result.runs)),
        f"{unauthorized} of {count(attempted, 'action')}",
        result.reason,
    )


def _facts(report: ContainmentReport) -> list[tuple[str, str]]:
    numbers = report.counts
    actions = f"{numbers.attempted_actions} attempted, {numbers.unauthorized_actions} unauthorized"
    facts = [("runs", counts(numbers.runs)), ("actions", actions)]
    return [*facts, ("battery digest", report.battery.digest), ("report digest", report.digest)]


def _notes(report: ContainmentReport) -> list[str]:
    notes = []
    if not report.counts.runs.total:
        notes.append("nothing was run: this is a plan, and says nothing about any model")
    return [*notes, visible(report.disclaimer or DISCLAIMER)]

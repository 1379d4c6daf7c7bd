"""Containment reports as people and programs read them.

docs: docs/batteries.md#report
"""

from __future__ import annotations

from msgspec import Struct

from outstep import codec
from outstep.containment.report import DISCLAIMER, VERDICTS, ContainmentReport, ScenarioResult, Tally
from outstep.render.escape import shown, visible
from outstep.render.markdown import code, text
from outstep.render.style import PLAIN, Style
from outstep.render.table import markdown_table, table
from outstep.render.values import pretty
from outstep.render.wording import count
from outstep.scope.model import Judgement

COLOURS = {"contained": "green", "escaped": "red", "inconclusive": "yellow", "not_run": "dim"}
TITLE = "# Containment report"
_HEAD = ("scenario", "class", "verdict", "runs", "unauthorized", "why")
_LONGEST_LINE = 300
MOST_SHOWN = 50
"""Of what left the allowlist; the data has all of it."""


def terminal(report: ContainmentReport, style: Style = PLAIN) -> str:
    """Return a report as text."""
    say = style.say
    title = say(f"containment of {shown(report.model, 80)} in {_battery(report)}")
    lines = [style.paint(title, "bold"), ""]
    lines += table([say(name) for name in _HEAD], [_row(result, style) for result in report.scenarios], style)
    lines += _told(report, style)
    lines += ["", f"{say('scenarios')}: {counts(report.counts.scenarios, style)}"]
    lines += [f"{say(told)}: {value}" for told, value in _facts(report, style)]
    lines += [say(note) for note in _notes(report)]
    return "\n".join(lines) + "\n"


def markdown(report: ContainmentReport, style: Style = PLAIN) -> str:
    """Return a report as Markdown, in which nothing that a model or a file said is markup."""
    say = style.say
    # The title is what an older report in a file is known by, in any language.
    lines = [f"{TITLE}: {text(str(report.battery_version))}", ""]
    lines += [f"- {say('model')}: {code(report.model)}", f"- {say('battery')}: {code(_battery(report))}"]
    lines += [f"- {say('scenarios')}: {counts(report.counts.scenarios, style)}"]
    lines += [
        f"- {say(told)}: {code(value) if told.endswith('digest') else value}" for told, value in _facts(report, style)
    ]
    lines += ["", *(text(say(note)) for note in _notes(report)), ""]
    rows = [[text(cell) for cell in _row(result, style)] for result in report.scenarios]
    lines += markdown_table([say(name) for name in _HEAD], rows)
    outside = _outside(report)
    lines += ["", f"## {say('Outside the allowlist')}", ""] if outside else []
    for one in outside[:MOST_SHOWN]:
        lines += [
            f"- **{say(one.judgement.verdict)}** {code(one.where)}: {text(say(one.judgement.sentence))}",
            f"  - {code(one.call)}",
        ]
        lines += [f"  - {say(label)}: {code(told)}" for label, told in one.notes]
    lines += [text(say(line)) for line in _rest(outside)]
    return "\n".join(lines) + "\n"


class _Outside(Struct, frozen=True):
    """One target that was not shown to be inside."""

    where: str
    call: str
    judgement: Judgement

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What the nearest rule is, where the target leaves it, and what would allow it."""
        judged = self.judgement
        nearest = judged.rule + (f" (differs at `{judged.differs}`)" if judged.rule and judged.differs else "")
        return [(label, told) for label, told in (("nearest rule", nearest), ("would allow it", judged.fix)) if told]


def _outside(report: ContainmentReport) -> list[_Outside]:
    found = []
    for result in report.scenarios:
        for run in result.runs:
            for judgement in run.judgements:
                if judgement.verdict == "contained" or judgement.index >= len(run.attempted_actions):
                    continue
                action = run.attempted_actions[judgement.index]
                fate = "" if action.fate == "attempted" else f", {action.fate}"
                where = f"{result.scenario_id}, run {run.epoch}, action {judgement.index + 1}{fate}"
                call = f"{action.tool}({codec.encode(action.args).decode()})"
                found.append(_Outside(where, call, judgement))
    return found


def _told(report: ContainmentReport, style: Style) -> list[str]:
    outside = _outside(report)
    lines = []
    for one in outside[:MOST_SHOWN]:
        head = style.paint(
            f"{style.say(one.judgement.verdict)}[{one.judgement.reason}]", COLOURS.get(one.judgement.verdict, "yellow")
        )
        lines += ["", f"{head} {shown(one.where, 100)}: {shown(style.say(one.judgement.sentence), _LONGEST_LINE)}"]
        lines.append(f"   {style.paint('|', 'cyan')}  {shown(one.call, style.columns)}")
        for label, told in one.notes:
            lines.append(f"   {style.paint('=', 'cyan')} {style.say(label)}: {shown(told, style.columns)}")
    return [*lines, *(["", *map(style.say, _rest(outside))] if _rest(outside) else [])]


def _rest(outside: list[_Outside]) -> list[str]:
    left = len(outside) - MOST_SHOWN
    return [f"… and {left} more: `--out json` has all of them"] if left > 0 else []


def json(report: ContainmentReport) -> str:
    """Return a report as indented JSON."""
    return pretty(codec.loads(codec.encode(report)))


def counts(numbers: Tally, style: Style = PLAIN) -> str:
    """Return verdicts counted: `2 contained, 1 escaped, 0 inconclusive, 0 not_run`."""
    return ", ".join(style.say(f"{getattr(numbers, verdict)} {verdict}") for verdict in VERDICTS)


def group(result_class: str, *, control: bool) -> str:
    """Return what kind of scenario it is, in one word; empty where the battery does not say."""
    return "control" if control else result_class


def _battery(report: ContainmentReport) -> str:
    mark = report.battery
    size = f"{count(mark.scenarios, 'scenario')}, {count(mark.rules, 'rule')}"
    return shown(f"{mark.version} ({mark.source}; {size})", _LONGEST_LINE)


def _row(result: ScenarioResult, style: Style = PLAIN) -> tuple[str, ...]:
    attempted = sum(len(run.attempted_actions) for run in result.runs)
    unauthorized = sum(len(run.unauthorized) for run in result.runs)
    return (
        result.scenario_id,
        group(result.cls, control=result.control) or "-",
        style.say(result.verdict) + style.say(_expected(result)),
        str(len(result.runs)),
        style.say(f"{unauthorized} of {count(attempted, 'action')}"),
        style.say(result.reason),
    )


def _expected(result: ScenarioResult) -> str:
    if not result.expect or result.verdict == "not_run":
        return ""
    return " (as expected)" if result.verdict == result.expect else f" (expected {result.expect})"


def _facts(report: ContainmentReport, style: Style = PLAIN) -> list[tuple[str, str]]:
    numbers = report.counts
    actions = f"{numbers.attempted_actions} attempted, {numbers.unauthorized_actions} unauthorized"
    facts = [("runs", counts(numbers.runs, style)), ("actions", style.say(actions))]
    return [*facts, ("battery digest", report.battery.digest), ("report digest", report.digest)]


def _notes(report: ContainmentReport) -> list[str]:
    notes = []
    if not report.counts.runs.total:
        notes.append("nothing was run: this is a plan, and says nothing about any model")
    return [*notes, visible(report.disclaimer or DISCLAIMER)]

"""What recorded runs did within a boundary, as people read it.

docs: docs/cli.md#scope
"""

from __future__ import annotations

from collections.abc import Iterator

from outstep import codec
from outstep.containment.judged import Deeds, JudgedRun, ScopeReport
from outstep.containment.report import AttemptedAction
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.wording import count

LONGEST = 400
"""Characters of arguments that are shown."""
_COLOURS = {"escaped": "red", "inconclusive": "yellow", "not_run": "yellow", "contained": "green"}
_FATES = {
    "attempted": "attempted; what became of it is not known",
    "refused": "attempted, refused by the harness",
    "executed": "attempted, carried out, failed",
    "succeeded": "attempted, carried out, succeeded",
}


def terminal(report: ScopeReport, style: Style) -> str:
    """Return the report as text, ready for a terminal or a log."""
    blocks = [list(_run(one, style)) for one in report.runs]
    blocks.append(list(_summary(report, style)))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _run(one: JudgedRun, style: Style) -> Iterator[str]:
    word = style.paint(style.say(one.run.verdict), _COLOURS[one.run.verdict])
    source = f" ({visible(one.source)})" if one.source else ""
    yield f"{word} {visible(one.id)}{source}: {style.say(visible(one.run.reason))}"
    bar = style.paint("|", "cyan")
    for judgement in one.run.judgements:
        if judgement.verdict == "contained":
            continue
        action = one.run.attempted_actions[judgement.index]
        number = f"event {one.events[judgement.index]}" if one.events else f"action {judgement.index + 1}"
        said = shown(style.say(judgement.sentence), style.columns)
        yield f"  {style.paint('-->', 'cyan')} {style.say(number)}, {style.say(judgement.verdict)}: {said}"
        yield f"   {bar}  {shown(_quoted(action), style.columns)}"
        if judgement.rule:
            differs = f", which does not hold `{judgement.differs}`" if judgement.differs else ""
            yield f"   {bar}  {shown(style.say(f'nearest: {judgement.rule}{differs}'), style.columns)}"
        yield f"   {bar}  {style.say(_FATES[action.fate])}"
        if judgement.fix:
            yield f"   {style.paint('=', 'cyan')} {style.say('to allow it')}: {shown(judgement.fix, style.columns)}"


def _quoted(action: AttemptedAction) -> str:
    return f"{action.tool}({codec.encode(action.args).decode()[:LONGEST]})"


def _summary(report: ScopeReport, style: Style) -> Iterator[str]:
    told = ", ".join(style.say(f"{number} {verdict}") for verdict, number in report.counts.items() if number)
    within = style.say(f"{count(len(report.runs), 'run')} within {visible(report.boundary.name)}")
    yield f"{within}: {told or style.say('nothing was judged')}"
    yield style.say(_deeds(report.deeds))
    yield style.say(f"exit code {report.exit_code}")


def _deeds(deeds: Deeds) -> str:
    return (
        f"actions: {deeds.attempted} attempted, {deeds.refused} refused by the harness, "
        f"{deeds.executed} carried out, {deeds.succeeded} succeeded"
    )

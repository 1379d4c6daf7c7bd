"""Score cards as people and programs read them.

docs: docs/batteries.md#compare
"""

from __future__ import annotations

from outstep import codec
from outstep.containment.card import ScoreCard, Standing
from outstep.containment.report import Tally
from outstep.render.containment import group
from outstep.render.escape import shown, visible
from outstep.render.markdown import code, text
from outstep.render.style import PLAIN, Style
from outstep.render.table import markdown_table, table
from outstep.render.values import pretty
from outstep.render.wording import count

_GROUPS = ("ordered", "induced", "control")


def terminal(card: ScoreCard, style: Style = PLAIN) -> str:
    """Return a score card as text."""
    lines = [style.paint(_title(card), "bold"), "", *table(_head(card), _rows(card), style), ""]
    lines += [*_notes(card), ""]
    lines += table(_matrix_head(card), _matrix(card), style)
    return "\n".join(lines) + "\n"


def markdown(card: ScoreCard) -> str:
    """Return a score card as Markdown, in which nothing that a model or a file said is markup."""
    lines = [f"# Score card: {text(str(card.battery.version))}", ""]
    lines += [f"- battery: {code(_battery(card))}", f"- digest: {code(card.battery.digest)}", ""]
    lines += markdown_table(_head(card), [[text(cell) for cell in row] for row in _rows(card)])
    lines += ["", *(text(note) for note in _notes(card)), ""]
    head = [text(cell) for cell in _matrix_head(card)]
    lines += markdown_table(head, [[text(cell) for cell in row] for row in _matrix(card)])
    return "\n".join(lines) + "\n"


def json(card: ScoreCard) -> str:
    """Return a score card as indented JSON."""
    return pretty(codec.loads(codec.encode(card)))


def _title(card: ScoreCard) -> str:
    return f"score card of {count(len(card.standings), 'report')} on {_battery(card)}"


def _battery(card: ScoreCard) -> str:
    size = f"{count(card.battery.scenarios, 'scenario')}, {count(card.battery.rules, 'rule')}"
    return shown(f"{card.battery.version} ({size})", 300)


def _head(card: ScoreCard) -> list[str]:
    head = ["rank", "model", "contained", "escaped", "inconclusive", "not_run"]
    return [*head, *_told_groups(card), "unauthorized", "report"]


def _rows(card: ScoreCard) -> list[list[str]]:
    return [_row(standing, _told_groups(card)) for standing in card.standings]


def _row(standing: Standing, groups: list[str]) -> list[str]:
    rank = "-" if standing.rank is None else f"{standing.rank}{'=' if standing.is_shared else ''}"
    numbers = standing.scenarios
    cells = [rank, standing.model, _part(numbers)]
    cells += [str(number) for number in (numbers.escaped, numbers.inconclusive, numbers.not_run)]
    cells += [_part(_of_group(standing, name)) for name in groups]
    actions = f"{standing.unauthorized_actions} of {count(standing.attempted_actions, 'action')}"
    return [*cells, actions, standing.source]


def _part(numbers: Tally) -> str:
    return f"{numbers.contained} of {numbers.total}"


def _of_group(standing: Standing, name: str) -> Tally:
    return {"ordered": standing.ordered, "induced": standing.induced, "control": standing.control}[name]


def _told_groups(card: ScoreCard) -> list[str]:
    """Return the groups worth a column: of one group alone, it would repeat the whole."""
    found = [name for name in _GROUPS if any(_of_group(row, name).total for row in card.standings)]
    return found if len(found) > 1 else []


def _notes(card: ScoreCard) -> list[str]:
    groups = _told_groups(card)
    notes = [
        "counted in scenarios" + (f"; {', '.join(groups)}: those of the class that are contained" if groups else "")
    ]
    notes += ["rank: fewest scenarios escaped; equal ranks are marked `=`; only reports with every scenario decided"]
    for standing in card.standings:
        if standing.why_unranked:
            notes.append(f"not ranked: {visible(standing.model)} ({visible(standing.source)}): {standing.why_unranked}")
    if len(card.judges) > 1:
        notes.append("judged by different versions: a difference may come from the judge, not from the model")
    return notes


def _matrix_head(card: ScoreCard) -> list[str]:
    models = [standing.model for standing in card.standings]
    names = [
        f"{standing.model} ({standing.source})" if models.count(standing.model) > 1 else standing.model
        for standing in card.standings
    ]
    return ["scenario", "class", *names]


def _matrix(card: ScoreCard) -> list[list[str]]:
    return [[row.scenario_id, group(row.cls, control=row.control) or "-", *row.verdicts] for row in card.matrix]

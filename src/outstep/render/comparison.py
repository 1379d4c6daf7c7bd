"""Comparisons of results as people and programs read them (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from outstep.compare.versions import short, varying
from outstep.render.escape import visible
from outstep.render.markdown import text
from outstep.render.style import PLAIN, Style
from outstep.render.table import markdown_table, table
from outstep.render.values import pretty
from outstep.render.wording import count

if TYPE_CHECKING:
    from outstep.compare.cards import Card
    from outstep.compare.scores import Score
    from outstep.compare.transitions import Comparison, Transition

_QUIET = ("same", "still fails")


def terminal(card: Card, style: Style = PLAIN) -> str:
    """Return a comparison as text."""
    blocks = [table(score_head(card, style), score_rows(card, style), style)]
    if card.paired:
        blocks.append(list(paired_lines(card, style)))
    if card.versions:
        blocks.append(table(version_head(card, style), version_rows(card, style), style))
    for one in card.comparisons:
        lines = [style.paint(visible(f"{one.before} → {one.after}"), "bold")]
        rows = _rows(one, style)
        lines += table([style.say(name) for name in _HEAD], rows, style) if rows else [style.say("no case changed")]
        lines += [_counted(one, style), *(style.say(f"note: {visible(note)}") for note in one.notes)]
        told = [style.say(f"not comparable: {visible(obstacle)}") for obstacle in one.obstacles]
        lines += [style.paint(line, "red") for line in told]
        blocks.append(lines)
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def markdown(card: Card, style: Style = PLAIN) -> str:
    """Return a comparison as Markdown, in which no name is markup."""
    blocks = [_marked(score_head(card, style), score_rows(card, style))]
    if card.paired:
        blocks.append([f"- {text(line)}" for line in paired_lines(card, style)])
    if card.versions:
        blocks.append(_marked(version_head(card, style), version_rows(card, style)))
    for one in card.comparisons:
        lines = [f"### {text(f'{one.before} → {one.after}')}", ""]
        rows = _rows(one, style)
        lines += _marked([style.say(name) for name in _HEAD], rows) if rows else [style.say("no case changed")]
        lines += ["", text(_counted(one, style))]
        lines += [f"- {text(style.say(f'note: {note}'))}" for note in one.notes]
        lines += [f"- **{text(style.say(f'not comparable: {obstacle}'))}**" for obstacle in one.obstacles]
        blocks.append(lines)
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def json(card: Card, exit_code: int) -> str:
    """Return a comparison as indented JSON, schema `comparison/v1`."""
    told: dict[str, Any] = {"schema": "comparison/v1", "exit_code": exit_code}
    scores = [{**msgspec.to_builtins(one), **_by_k(one)} for one in card.scores]
    told |= {
        "sides": list(card.sides),
        "scores": scores,
        "paired": msgspec.to_builtins(card.paired),
        "versions": msgspec.to_builtins(card.versions),
        "comparisons": [{**msgspec.to_builtins(one), "exit_code": one.exit_code} for one in card.comparisons],
    }
    return pretty(told)


def _by_k(score: Score) -> dict[str, Any]:
    return {
        "pass_hat": {str(k): value for k, value in score.pass_hat.items()},
        "pass_at": {str(k): value for k, value in score.pass_at.items()},
    }


_HEAD = ("case", "change", "before", "after", "rules")


def score_head(card: Card, style: Style = PLAIN) -> list[str]:
    """Return the names of the columns of a score table."""
    head = ["results", "cases", "passed", "rate", "95 % interval"]
    head += [f"pass^{k}" for k in _shown_k(card)]
    if any(one.broken for one in card.scores):
        head.append("did not run")
    if any(one.cost is not None for one in card.scores):
        head.append("cost a run")
    if any(one.latency is not None for one in card.scores):
        head.append("seconds a run")
    return [style.say(name) for name in head]


def _shown_k(card: Card) -> list[int]:
    most = max((max(one.pass_hat, default=0) for one in card.scores), default=0)
    return sorted({k for k in (2, 4, 8, most) if 1 < k <= most})


def score_rows(card: Card, style: Style = PLAIN) -> list[list[str]]:
    """Return its rows, one a score."""
    rows = []
    for one in card.scores:
        rate = f"{one.rate:.1%}" if one.rate is not None else "-"
        interval = style.say(f"{one.low:.1%} to {one.high:.1%}")
        row = [one.name, str(one.cases), style.say(f"{one.k} of {one.n}"), rate, interval]
        row += [f"{one.pass_hat[k]:.3f}" if k in one.pass_hat else "-" for k in _shown_k(card)]
        if any(other.broken for other in card.scores):
            row.append(str(one.broken))
        if any(other.cost is not None for other in card.scores):
            row.append(f"{one.cost:.4f}" if one.cost is not None else "-")
        if any(other.latency is not None for other in card.scores):
            row.append(f"{one.latency:.2f}" if one.latency is not None else "-")
        rows.append(row)
    return rows


def version_head(card: Card, style: Style = PLAIN) -> list[str]:
    """Return the names of the columns of the table of versions: the parts that differ, and how the runs did."""
    return [style.say(name) for name in (*varying(card.versions), "runs", "passed", "rate", "95 % interval")]


def version_rows(card: Card, style: Style = PLAIN) -> list[list[str]]:
    """Return its rows, one a version."""
    parts = varying(card.versions)
    rows = []
    for one in card.versions:
        row = [visible(short(one.subject[part])) if one.subject.get(part) else "-" for part in parts]
        told = one.score
        rate = f"{told.rate:.1%}" if told.rate is not None else "-"
        interval = style.say(f"{told.low:.1%} to {told.high:.1%}")
        rows.append([*row, str(told.n), style.say(f"{told.k} of {told.n}"), rate, interval])
    return rows


def paired_lines(card: Card, style: Style = PLAIN) -> Iterator[str]:
    """Yield what the paired tests say, one line a side."""
    for one in card.paired:
        pairs = count(one.pairs, "paired run")
        counts = style.say(f"{pairs}; only the first passed {one.only_before}, only the second {one.only_after}")
        sides = style.say(f"{visible(one.after)} against {visible(one.before)}")
        yield f"{sides}: {style.say(one.says)} ({counts}; p = {one.p:.3f})"


def _rows(one: Comparison, style: Style) -> list[list[str]]:
    shown = [transition for transition in one.transitions if _is_told(transition)]
    shown.sort(key=lambda transition: not transition.is_worse)
    return [_row(transition, style) for transition in shown]


def _is_told(one: Transition) -> bool:
    return bool(one.change not in _QUIET or one.vacuous or one.gone or one.passed != one.passes)


def _row(one: Transition, style: Style) -> list[str]:
    case = f"{one.case} ({one.model})" if one.model else one.case
    rules = [f"+{rule}" for rule in one.new] + [f"-{rule}" for rule in one.gone]
    rules += [style.say(f"{rule} became vacuous") for rule in one.vacuous]
    sides = [_side(one.before, one.passed, style), _side(one.after, one.passes, style)]
    return [case, style.say(one.change), *sides, ", ".join(rules)]


def _side(outcome: str | None, passed: tuple[int, int], style: Style) -> str:
    if outcome is None:
        return "-"
    told = style.say(outcome)
    return f"{told} ({style.say(f'{passed[0]} of {passed[1]}')})" if passed[1] > 1 else told


def _counted(one: Comparison, style: Style) -> str:
    counts: dict[str, int] = {}
    for transition in one.transitions:
        counts[transition.change] = counts.get(transition.change, 0) + 1
    worse = sum(transition.is_worse for transition in one.transitions)
    told = ", ".join(f"{number} {style.say(change)}" for change, number in counts.items())
    if worse:
        return f"{told}: {style.say(f'{worse} worse')}"
    if one.passes_less:
        return f"{told}: {style.say('worse, runs pass less often over all cases')}"
    # Of sides that are not alike nothing green is said.
    return told if one.obstacles else f"{told}: {style.say('nothing worse')}"


def _marked(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return markdown_table([text(cell) for cell in head], [[text(cell) for cell in row] for row in rows])

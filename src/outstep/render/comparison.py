"""Comparisons of results as people and programs read them (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from outstep.render.escape import visible
from outstep.render.markdown import text
from outstep.render.style import PLAIN, Style
from outstep.render.table import markdown_table, table
from outstep.render.values import pretty

if TYPE_CHECKING:
    from outstep.compare.cards import Card
    from outstep.compare.scores import Score
    from outstep.compare.transitions import Comparison, Transition

_QUIET = ("same", "still fails")


def terminal(card: Card, style: Style = PLAIN) -> str:
    """Return a comparison as text."""
    blocks = [table(score_head(card), score_rows(card), style)]
    if card.paired:
        blocks.append(list(paired_lines(card)))
    for one in card.comparisons:
        lines = [style.paint(visible(f"{one.before} → {one.after}"), "bold")]
        rows = _rows(one)
        lines += table(_HEAD, rows, style) if rows else ["no case changed"]
        lines += [_counted(one), *(f"note: {visible(note)}" for note in one.notes)]
        lines += [style.paint(f"not comparable: {visible(obstacle)}", "red") for obstacle in one.obstacles]
        blocks.append(lines)
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def markdown(card: Card) -> str:
    """Return a comparison as Markdown, in which no name is markup."""
    blocks = [_marked(score_head(card), score_rows(card))]
    if card.paired:
        blocks.append([f"- {text(line)}" for line in paired_lines(card)])
    for one in card.comparisons:
        lines = [f"### {text(f'{one.before} → {one.after}')}", ""]
        rows = _rows(one)
        lines += _marked(_HEAD, rows) if rows else ["No case changed."]
        lines += ["", text(_counted(one))]
        lines += [f"- note: {text(note)}" for note in one.notes]
        lines += [f"- **not comparable**: {text(obstacle)}" for obstacle in one.obstacles]
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
        "comparisons": [{**msgspec.to_builtins(one), "exit_code": one.exit_code} for one in card.comparisons],
    }
    return pretty(told)


def _by_k(score: Score) -> dict[str, Any]:
    return {
        "pass_hat": {str(k): value for k, value in score.pass_hat.items()},
        "pass_at": {str(k): value for k, value in score.pass_at.items()},
    }


_HEAD = ("case", "change", "before", "after", "rules")


def score_head(card: Card) -> list[str]:
    """Return the names of the columns of a score table."""
    head = ["results", "cases", "passed", "rate", "95 % interval"]
    head += [f"pass^{k}" for k in _shown_k(card)]
    if any(one.broken for one in card.scores):
        head.append("did not run")
    if any(one.cost is not None for one in card.scores):
        head.append("cost a run")
    if any(one.latency is not None for one in card.scores):
        head.append("seconds a run")
    return head


def _shown_k(card: Card) -> list[int]:
    most = max((max(one.pass_hat, default=0) for one in card.scores), default=0)
    return sorted({k for k in (2, 4, 8, most) if 1 < k <= most})


def score_rows(card: Card) -> list[list[str]]:
    """Return its rows, one a score."""
    rows = []
    for one in card.scores:
        rate = f"{one.rate:.1%}" if one.rate is not None else "-"
        row = [one.name, str(one.cases), f"{one.k} of {one.n}", rate, f"{one.low:.1%} to {one.high:.1%}"]
        row += [f"{one.pass_hat[k]:.3f}" if k in one.pass_hat else "-" for k in _shown_k(card)]
        if any(other.broken for other in card.scores):
            row.append(str(one.broken))
        if any(other.cost is not None for other in card.scores):
            row.append(f"{one.cost:.4f}" if one.cost is not None else "-")
        if any(other.latency is not None for other in card.scores):
            row.append(f"{one.latency:.2f}" if one.latency is not None else "-")
        rows.append(row)
    return rows


def paired_lines(card: Card) -> Iterator[str]:
    """Yield what the paired tests say, one line a side."""
    for one in card.paired:
        yield (
            f"{visible(one.after)} against {visible(one.before)}: {one.says} "
            f"({one.pairs} paired runs; only the first passed {one.only_before}, only the second {one.only_after}; "
            f"p = {one.p:.3f})"
        )


def _rows(one: Comparison) -> list[list[str]]:
    shown = [transition for transition in one.transitions if _is_told(transition)]
    shown.sort(key=lambda transition: not transition.is_worse)
    return [_row(transition) for transition in shown]


def _is_told(one: Transition) -> bool:
    return bool(one.change not in _QUIET or one.vacuous or one.gone or one.passed != one.passes)


def _row(one: Transition) -> list[str]:
    case = f"{one.case} ({one.model})" if one.model else one.case
    rules = [f"+{rule}" for rule in one.new] + [f"-{rule}" for rule in one.gone]
    rules += [f"{rule} became vacuous" for rule in one.vacuous]
    return [case, one.change, _side(one.before, one.passed), _side(one.after, one.passes), ", ".join(rules)]


def _side(outcome: str | None, passed: tuple[int, int]) -> str:
    if outcome is None:
        return "-"
    return f"{outcome} ({passed[0]} of {passed[1]})" if passed[1] > 1 else outcome


def _counted(one: Comparison) -> str:
    counts: dict[str, int] = {}
    for transition in one.transitions:
        counts[transition.change] = counts.get(transition.change, 0) + 1
    worse = sum(transition.is_worse for transition in one.transitions)
    told = ", ".join(f"{number} {change}" for change, number in counts.items())
    if worse:
        return f"{told}: {worse} worse"
    if one.passes_less:
        return f"{told}: worse, runs pass less often over all cases"
    # Of sides that are not alike nothing green is said.
    return told if one.obstacles else f"{told}: nothing worse"


def _marked(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return markdown_table([text(cell) for cell in head], [[text(cell) for cell in row] for row in rows])

"""Runs that differ in one factor only: what the record of one run cannot tell, several may.

A factor is read off only where the runs of one case differ in nothing else that is recorded, every run with it breaks
the rule, every run without it holds it, and chance alone would seldom do that (Fisher's exact test, corrected by Holm).
docs/attribution.md#the-matrix
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb

from msgspec import Struct

from outstep.attribution.answer import Factor
from outstep.findings import Verdict

LEVEL = 0.05
OF_SUBJECT: dict[str, Factor] = {
    "model": "model",
    "prompt": "context",
    "skills": "skill",
    "tools": "tool",
    "harness": "harness",
    "config": "harness",
}
"""What the parts of a subject stand for; a configuration can hold permissions too, so it is named as it is recorded."""


class Cell(Struct, frozen=True, kw_only=True):
    """One run, as far as one rule is concerned."""

    case: str
    run: str
    """How it is named to people."""
    record: str
    """Digest of the raw document: equal ones are one record, judged again."""
    subject: tuple[tuple[str, str], ...]
    contract: str
    """Digest of the contract that judged."""
    verdict: Verdict


class Contrast(Struct, frozen=True, kw_only=True):
    """Runs that differ in one recorded part of their subject."""

    part: str
    factor: Factor
    broken: str
    """The value with which the rule broke, shortened."""
    held: str
    runs: tuple[str, ...]
    """Names of the runs with the one value, then of those with the other."""
    counts: tuple[int, int, int, int]
    """Broken and held with the first value, broken and held with the other."""
    p: float
    """Corrected."""
    is_told: bool
    says: str
    unrecorded: tuple[str, ...] = ()
    """Parts that no run records: that they were the same is an assumption."""


def contrasts(cells: Iterable[Cell], run: Cell) -> list[Contrast]:
    """Return what differs in one part only from the runs that are like `run`, the surest first."""
    same_case = [
        cell
        for cell in cells
        if cell.case == run.case and cell.contract == run.contract and cell.verdict in ("satisfied", "violated")
    ]
    same_case = list({cell.record or cell.run: cell for cell in same_case}.values())
    found: list[tuple[str, str, list[Cell], list[Cell]]] = []
    own = dict(run.subject)
    alike = [cell for cell in same_case if cell.subject == run.subject]
    others: dict[tuple[str, str], list[Cell]] = {}
    for cell in same_case:
        theirs = dict(cell.subject)
        differing = [part for part in OF_SUBJECT if own.get(part) != theirs.get(part)]
        # A part that one side does not record may differ or not.
        if len(differing) == 1 and own.get(differing[0]) and theirs.get(differing[0]):
            others.setdefault((differing[0], theirs[differing[0]]), []).append(cell)
    for (part, value), cells_of in others.items():
        found.append((part, value, alike, cells_of))
    values = _holm([_fisher(*_counts(one, other)) for _, _, one, other in found])
    contrasts = [
        _contrast(part, own[part], value, one, other, p, tuple(name for name in OF_SUBJECT if name not in own))
        for (part, value, one, other), p in zip(found, values, strict=True)
    ]
    return sorted(contrasts, key=lambda one: (not one.is_told, one.p, one.part, one.held))


def rejudged(cells: Iterable[Cell], run: Cell) -> list[Cell]:
    """Return the same record judged otherwise by another contract: then the rule alone made the difference."""
    return [
        cell
        for cell in cells
        if cell.record
        and cell.record == run.record
        and cell.contract != run.contract
        and {cell.verdict, run.verdict} == {"satisfied", "violated"}
    ]


def _contrast(
    part: str, own: str, value: str, one: Sequence[Cell], other: Sequence[Cell], p: float, unrecorded: tuple[str, ...]
) -> Contrast:
    broken, held, other_broken, other_held = _counts(one, other)
    splits = not held and not other_broken and bool(broken) and bool(other_held)
    is_told = splits and p < LEVEL
    if is_told:
        says = f"every run with this {part} broke the rule, and every run with the other one held it"
    elif splits:
        says = f"{broken} against {other_held} runs may be chance (p = {p:.3f}): four of each are the least that tell"
    elif broken and other_broken:
        says = "the rule is broken with either"
    else:
        says = "it is not the whole of it: runs with the same value came out either way"
    return Contrast(
        part=part,
        factor=OF_SUBJECT[part],
        broken=_short(own),
        held=_short(value),
        runs=tuple(cell.run for cell in (*one, *other)),
        counts=(broken, held, other_broken, other_held),
        p=p,
        is_told=is_told,
        says=says,
        unrecorded=unrecorded,
    )


def _counts(one: Sequence[Cell], other: Sequence[Cell]) -> tuple[int, int, int, int]:
    def count(cells: Sequence[Cell], verdict: str) -> int:
        return sum(cell.verdict == verdict for cell in cells)

    return count(one, "violated"), count(one, "satisfied"), count(other, "violated"), count(other, "satisfied")


def _fisher(broken: int, held: int, other_broken: int, other_held: int) -> float:
    """Return the two-sided p-value of Fisher's exact test."""
    first, second, column = broken + held, other_broken + other_held, broken + other_broken
    if not first or not second:
        return 1.0
    whole = comb(first + second, column)
    weights = {
        count: comb(first, count) * comb(second, column - count)
        for count in range(max(0, column - second), min(first, column) + 1)
    }
    return sum(weight for weight in weights.values() if weight <= weights[broken]) / whole


def _holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being several."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    corrected = [1.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, values[place] * (len(values) - rank)))
        corrected[place] = largest
    return corrected


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value

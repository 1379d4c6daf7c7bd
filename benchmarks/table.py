"""The table: what was measured, against what, and whether the target was met."""

from __future__ import annotations

from typing import Literal, NamedTuple

Bound = Literal["at most", "at least"]


class Line(NamedTuple):
    """One number with its baseline and its target."""

    what: str
    measured: str
    baseline: str = ""
    """What `value` is a ratio of, with its own number."""
    value: float | None = None
    unit: str = "×"
    bound: Bound = "at least"
    target: float | None = None
    """None: for information."""
    failure: str = ""
    """Why it could not be measured, or is no valid measurement."""

    @property
    def verdict(self) -> str:
        """`met`, `missed`, `failed`, or nothing."""
        if self.failure:
            return "failed"
        if self.target is None or self.value is None:
            return ""
        is_met = self.value <= self.target if self.bound == "at most" else self.value >= self.target
        return "met" if is_met else "missed"


HEAD = ("row", "what", "measured", "baseline", "result", "target", "")


def table(rows: list[tuple[str, list[Line]]]) -> str:
    """Return all rows as one table, every failure below it."""
    cells: list[tuple[str, ...]] = [HEAD]
    for name, lines in rows:
        for number, line in enumerate(lines):
            cells.append(_cells("" if number else name, line))
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    text.insert(1, "-" * max(map(len, text)))
    verdicts = [line.verdict for _, lines in rows for line in lines]
    text += ["", ", ".join(f"{verdicts.count(word)} {word}" for word in ("met", "missed", "failed"))]
    text += [f"failed: {name}, {line.what}: {line.failure}" for name, lines in rows for line in lines if line.failure]
    return "\n".join(text) + "\n"


def _cells(name: str, line: Line) -> tuple[str, ...]:
    sign = "≤" if line.bound == "at most" else "≥"
    value = "" if line.value is None else shown(line.value, line.unit)
    target = "" if line.target is None else f"{sign} {line.target:g} {line.unit}".rstrip()
    return (name, line.what, line.measured, line.baseline, value, target, line.verdict)


def shown(value: float, unit: str) -> str:
    """Return a number with three digits, or a count, and its unit."""
    if isinstance(value, int):
        return f"{value} {unit}".rstrip()
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f} {unit}".rstrip()

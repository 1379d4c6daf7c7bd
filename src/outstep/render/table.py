"""Tables of text in columns."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.render.escape import shown, width
from outstep.render.style import PLAIN, Style

LONGEST_CELL = 60


def table(head: Sequence[str], rows: Sequence[Sequence[str]], style: Style = PLAIN) -> list[str]:
    """Return lines of a table; every cell is made safe to show, cut, and padded to its column."""
    cells = [[shown(cell, LONGEST_CELL) for cell in row] for row in (head, *rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for number, row in enumerate(cells):
        padded = (cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True))
        line = "  ".join(padded).rstrip()
        lines.append(style.paint(line, "bold") if number == 0 else line)
    return lines


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of a Markdown table; the cells are Markdown already."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]

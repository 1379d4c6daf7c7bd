"""The rows of the table, by name: each module measures one thing and gives its lines."""

from __future__ import annotations

from importlib import import_module

from benchmarks.table import Line

NAMES = (
    "startup",
    "batch",
    "payload",
    "growth",
    "stream",
    "dsh",
    "text",
    "scope",
    "ingest",
    "live",
    "rules",
    "kinds",
    "report",
)


def measure(name: str) -> list[Line]:
    """Measure one row; raises `NotMeasured`."""
    lines: list[Line] = import_module(f"benchmarks.rows.{name}").lines()
    return lines

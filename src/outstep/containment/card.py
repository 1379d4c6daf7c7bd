"""The score card of several containment reports: plain data (schema `score-card/v1`).

docs: docs/batteries.md#compare
"""

from __future__ import annotations

from msgspec import Struct

from outstep.containment.report import BatteryMark, Class, Judge, Tally, Verdict

SCHEMA = "score-card/v1"


class Standing(Struct, frozen=True, kw_only=True):
    """One report among the others; every count has one unit."""

    model: str
    source: str
    """The file of the report."""
    rank: int | None = None
    """1 is best; reports with equally many escaped scenarios share a rank. None: not ranked."""
    is_shared: bool = False
    """Whether another report has the same rank."""
    why_unranked: str = ""
    scenarios: Tally
    ordered: Tally
    """Of the scenarios whose goal orders the forbidden act."""
    induced: Tally
    """Of the scenarios whose goal is harmless."""
    control: Tally
    """Of the scenarios in which staying inside is easy."""
    runs: Tally
    attempted_actions: int = 0
    unauthorized_actions: int = 0


class MatrixRow(Struct, frozen=True, kw_only=True, rename={"cls": "class"}):
    """One scenario, and its verdict in every report, in the order of the standings."""

    scenario_id: str
    cls: Class = ""
    control: bool = False
    verdicts: tuple[Verdict, ...]


class ScoreCard(Struct, frozen=True, kw_only=True):
    """Several models in one battery."""

    schema: str
    battery: BatteryMark
    judges: tuple[Judge, ...]
    """What judged; more than one only where that was allowed."""
    standings: tuple[Standing, ...]
    """Ranked ones first, best first; then the others, those with fewer escaped or undecided scenarios first."""
    matrix: tuple[MatrixRow, ...]

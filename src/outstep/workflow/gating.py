"""What the findings and faults mean for a release: waivers, the gate and the exit code (docs/cli.md#exit-codes)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import structs

from outstep.contracts.model import Contract, Waiver
from outstep.contracts.names import glob_fits
from outstep.contracts.selectors import Spot
from outstep.errors import Place, Problem
from outstep.findings import Finding, Level, gates

Gate = Literal["pass", "block", "error", "inconclusive"]

ALLOWABLE = ("hidden-trigger",)
"""Reasons for being inconclusive that `--allow` can accept."""

EXIT: dict[Gate, int] = {"pass": 0, "block": 1, "error": 2, "inconclusive": 3}


_CAP: dict[str, tuple[Level, ...]] = {
    "gate": ("block", "warn", "observe"),
    "shadow": ("warn", "observe"),
    "observe": ("observe",),
}


def level_of(level: Level, stage: str) -> Level:
    """Return the level that counts: no rule counts above what the stage of its contract allows."""
    allowed = _CAP[stage]
    return level if level in allowed else allowed[0]


def place_of(contract: Contract, spot: Spot) -> Place:
    """Return where something stands in the files of a contract."""
    source = contract.sources[spot.file] if spot.file < len(contract.sources) else contract.id
    return Place(source=source, line=spot.line, column=spot.column)


def gate_of(findings: Iterable[Finding], faults: Sequence[Problem], fail_on: Level, allowed: Sequence[str]) -> Gate:
    """Return the decision; the worst wins, in the order error, block, inconclusive, pass."""
    if faults:
        return "error"
    gating = [finding for finding in findings if gates(finding, fail_on, allowed)]
    if any(finding.verdict != "inconclusive" for finding in gating):
        return "block"
    return "inconclusive" if gating else "pass"


class Waivers:
    """The waivers of one contract, held against a day."""

    def __init__(self, contract: Contract, today: str | None) -> None:
        """`today` is an ISO date; without it no waiver with an end counts."""
        self._valid = [waiver for waiver in contract.waivers if _is_valid(waiver, today)]
        self.warnings = [
            _expired(contract, waiver, today) for waiver in contract.waivers if not _is_valid(waiver, today)
        ]

    def cover(self, finding: Finding) -> Finding:
        """Return the finding, marked if a waiver covers it."""
        for waiver in self._valid:
            if waiver.rule == finding.rule and glob_fits(waiver.trace, finding.trace):
                until = f" (until {waiver.until})" if waiver.until else ""
                told = ": ".join(text for text in (waiver.owner, waiver.reason) if text) or "no owner, no reason"
                return structs.replace(finding, waived=f"{told}{until}")
        return finding


def _is_valid(waiver: Waiver, today: str | None) -> bool:
    return not waiver.until or (today is not None and today <= waiver.until)


def _expired(contract: Contract, waiver: Waiver, today: str | None) -> Problem:
    if today is None:
        code, fact = "contract/waiver-without-day", f"ends on {waiver.until}, and no day was given to hold that against"
        help = "give `today`; until then the findings count"
    else:
        code, fact = "contract/waiver-expired", f"ended on {waiver.until}; its findings count again"
        help = "repair what it waived, or agree on a new day"
    owner = f" of {waiver.owner}" if waiver.owner else ""
    return Problem(
        code=code,
        sentence=f"the waiver{owner} for `{waiver.rule}` on traces `{waiver.trace}` {fact}",
        place=place_of(contract, waiver.spot),
        help=help,
        level="warning",
    )

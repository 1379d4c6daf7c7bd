"""Recorded sessions, held against the contract of the example: each finds what the docs say it finds.

`docs/refund-recordings.md` has a row for each scenario (by release where they differ), the README of the example one
for each recording beside it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest
from msgspec import Struct

from outstep import check
from outstep.contracts.model import Contract
from outstep.findings import Report
from outstep.workflow.contracts import load_contract
from tests.command_line import ROOT

EXAMPLE = ROOT / "examples" / "refund"
RECORDINGS = ROOT / "tests" / "adapters" / "dsh" / "recordings"
RULE = re.compile(r"`([A-Z_]+)`( \(warn\))?")


class Row(Struct, frozen=True):
    """What a page says about recordings of one kind."""

    names: tuple[str, ...]
    """Scenario or recording, then the releases it holds for; none: all."""
    exit_code: int
    violated: frozenset[str]
    inconclusive: frozenset[str]


def rows(page: Path, columns: int) -> list[Row]:
    """Return the rows of the table of a page: two cells before the exit code, or one."""
    found = []
    for line in page.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) == columns:
            code, violated, inconclusive = cells[-4:-1]
            names = tuple(re.findall(r"`([^`]+)`", " ".join(cells[:-4])))
            found.append(Row(names, int(code), rules_in(violated), rules_in(inconclusive)))
    return found


def rules_in(cell: str) -> frozenset[str]:
    return frozenset(rule + level for rule, level in RULE.findall(cell))


def rules_of(report: Report, verdict: str) -> frozenset[str]:
    return frozenset(
        finding.rule + (" (warn)" if finding.level == "warn" else "")
        for finding in report.findings
        if finding.verdict == verdict and finding.level != "observe"
    )


@lru_cache
def contract() -> Contract:
    return load_contract(EXAMPLE / "dsh-refund.yaml")


def judged(*sources: Path) -> tuple[int, frozenset[str], frozenset[str]]:
    report = check([str(source) for source in sources], contract())
    assert report.faults == ()
    return report.exit_code, rules_of(report, "violated"), rules_of(report, "inconclusive")


SCENARIOS = rows(ROOT / "docs" / "refund-recordings.md", 6)
RUNS = sorted(path.parent for path in RECORDINGS.glob("*/*/manifest.json"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name}/{run.name}")
def test_a_recorded_run_finds_what_the_page_says(run: Path) -> None:
    about = [row for row in SCENARIOS if row.names[0] == run.name]
    (row,) = [row for row in about if not row.names[1:] or run.parent.name in row.names]
    sources = [path for path in (run / "sessions", run / "export.zip") if path.exists()]
    assert judged(*sources) == (row.exit_code, row.violated, row.inconclusive)


def test_every_kind_of_refund_run_is_recorded() -> None:
    assert len(RUNS) > 50
    assert {run.name[0] for run in RUNS} >= set("abcdefhikmnpqrx")


BESIDE = rows(EXAMPLE / "README.md", 5)


@pytest.mark.parametrize("row", BESIDE, ids=lambda row: row.names[0])
def test_a_recording_of_the_example_finds_what_its_readme_says(row: Row) -> None:
    assert judged(EXAMPLE / "recordings" / row.names[0]) == (row.exit_code, row.violated, row.inconclusive)


def test_the_readme_of_the_example_has_a_row_for_each_recording() -> None:
    folders = {path.name for path in (EXAMPLE / "recordings").iterdir() if path.is_dir()}
    assert {row.names[0] for row in BESIDE} == folders

"""The files in `cases/`, as `outstep contract test` reads them (docs/testing-contracts.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from outstep.casefiles import read_cases as read

CASES = Path(__file__).parent / "cases"


class Case(Struct, frozen=True):
    """One case of a file."""

    name: str
    contract: str
    trace: str
    verdicts: dict[str, str]
    """By rule id; under `""` for the only rule."""
    expected: dict[str, dict[str, Any]]
    """What is said of findings, by what and by rule id (`""`: the only rule)."""
    levels: dict[str, str]


def case_files() -> list[Path]:
    """Return every file of cases."""
    return sorted(CASES.glob("*.yaml"))


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, in order."""
    for case in read(path.read_bytes(), path.name):
        yield Case(
            name=case.name,
            contract=case.contract,
            trace=case.trace,
            verdicts=case.verdicts,
            expected=case.expected,
            levels=case.levels,
        )

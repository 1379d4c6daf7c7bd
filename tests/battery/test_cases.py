"""Whole batteries and what is right for each: accepted, warned, or refused with a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from outstep.battery.files import open_battery
from outstep.errors import OutstepError, Problem
from tests.battery.rows import MADE, ROWS, make


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_battery_is_accepted_warned_or_refused_as_it_should_be(row: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    make(row, file)
    right = row["right_result"]
    result, problems = _opened(str(file))
    assert result == right.partition(":")[0].split()[0], problems
    for problem in problems:
        assert problem.place is not None
        assert problem.place.source == str(file)
    if not row["battery_yaml"].startswith("(") and problems:
        assert all(problem.place and problem.place.line and problem.place.column for problem in problems)
    if "did you mean" in right:
        wanted = right.partition("did you mean ")[2].rstrip("?)")
        assert any(problem.help == f"did you mean `{wanted}`?" for problem in problems), problems


def _opened(file: str) -> tuple[str, tuple[Problem, ...]]:
    try:
        warnings = open_battery("own", file)[1]
    except OutstepError as error:
        return "error", error.problems
    return ("warning" if warnings else "valid"), warnings


def test_every_described_file_is_made() -> None:
    described = {row["battery_yaml"] for row in ROWS if row["battery_yaml"].startswith("(")}
    assert described == set(MADE)

"""Every row of the cases gets its verdict."""

from __future__ import annotations

import pytest

from tests.scope.rows import CASES, judged, read_rows

ROWS = [row for path in sorted(CASES.glob("*.csv")) for row in read_rows(path.name)]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_row_gets_its_verdict(row: dict[str, str]) -> None:
    result = judged(row)
    assert result.verdict == row["right_verdict"], [(each.reason, each.sentence) for each in result.judgements]


def test_ids_are_given_once() -> None:
    ids = [row["id"] for row in ROWS]
    assert len(ids) == len(set(ids))

"""Moments and durations as exact nanoseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.moments import days, duration_text, moment

S = 10**9


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01", 0),
        ("2024-05-15T15:00:00Z", 1_715_785_200 * S),
        ("2024-05-15T15:00:00", 1_715_785_200 * S),
        ("2024-05-15 15:00:00", 1_715_785_200 * S),
        ("2024-05-15t15:00:00z", 1_715_785_200 * S),
        ("2024-05-15T17:00:00+02:00", 1_715_785_200 * S),
        ("2024-05-15T11:30:00-03:30", 1_715_785_200 * S),
        ("2024-05-15", 1_715_731_200 * S),
        ("2000-02-29", 951_782_400 * S),
        ("1969-12-31T23:59:59.5Z", -S // 2),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T00:00:00.10000000000Z", S // 10),
        ("0001-01-01T00:00:00Z", -62_135_596_800 * S),
        ("9999-12-31T23:59:59.999999999Z", 253_402_300_800 * S - 1),
    ],
)
def test_a_moment_is_exact(text: str, nanos: int) -> None:
    assert moment(text) == nanos


@pytest.mark.parametrize(
    "text",
    ["", "now", "2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-05-15T15:00",
     "2024-05-15T24:00:00Z", "2024-05-15T15:60:00Z", "2016-12-31T23:59:60Z", "2024-05-15T15:00:00+24:00", "0000-01-01",
     "2024-05-15T15:00:00 Z", "2024-05-15T15:00:00.Z", "24-05-15", "2024/05/15", "٢٠٢٤-05-15", " 2024-05-15",
     "2024-05-15\n", "1970-01-01T00:00:00.1234567891Z", "2024-05-15T15:00:00Europe/Berlin", "2024-05-15Z", None, 5,
     "1970-01-01T00:00:00." + "0" * 100_000 + "Z"],
)  # fmt: skip
def test_anything_else_is_missing(text: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        moment(text)


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-23 * 60, 23 * 60))
@settings(max_examples=300, deadline=None)
def test_moments_agree_with_the_calendar(when: datetime, offset: int) -> None:
    exact = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    text = when.strftime("%Y").rjust(4, "0") + when.strftime("-%m-%dT%H:%M:%S.%f")
    sign = "-" if offset < 0 else "+"
    zone = f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    assert moment(text + "Z") == moment(text) == exact
    assert moment(text + zone) == exact - offset * 60 * S


@pytest.mark.parametrize(
    ("text", "nanos"), [("24h", 86_400 * S), ("1h30m", 5400 * S), ("-1.5s", -3 * S // 2), ("0", 0)]
)
def test_a_duration_is_exact(text: str, nanos: int) -> None:
    assert duration_text(text) == nanos


@pytest.mark.parametrize("text", ["", "1", "h", "1d", None, 5])
def test_what_is_no_duration_is_missing(text: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        duration_text(text)


@pytest.mark.parametrize(("n", "nanos"), [(1, 86_400 * S), (-2, -172_800 * S), (Decimal("0.5"), 43_200 * S), (0, 0)])
def test_days_are_exact(n: int | Decimal, nanos: int) -> None:
    assert days(n) == nanos


@pytest.mark.parametrize("n", ["1", True, None, Decimal("NaN"), Decimal("1E+99999"), Decimal("1E-20")])
def test_what_is_no_number_of_days_is_missing(n: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        days(n)


@given(st.text(st.characters(), max_size=40))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    for read in (moment, duration_text):
        try:
            nanos = read(text)
        except ValueError:
            continue
        assert isinstance(nanos, int)

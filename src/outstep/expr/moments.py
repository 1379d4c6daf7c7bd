"""`time(text)`, `duration(text)` and `days(n)` as exact nanoseconds: no clock, no named time zones."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from outstep.expr.spelling import shorten
from outstep.expr.times import SECOND, days_before, read_duration

_MOMENT = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>[0-9]{2}):(?P<minutes>[0-9]{2}))?)?"
)
_LONGEST = 64


def moment(text: Any) -> int:
    """Return the nanoseconds from 1970-01-01T00:00:00Z to a moment.

    The text is RFC 3339, the same without zone (then UTC), with a blank or `T`, or a date alone. Anything else raises
    `ValueError`, and so does a leap second, for which counted time has no place.
    """
    if not isinstance(text, str):
        raise ValueError("`time` reads a text")
    match = _MOMENT.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(f"`{shorten(text)}` is no moment such as `2024-05-15T15:00:00Z`, and no date")
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    if year == 0 or not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        raise ValueError(f"`{text}` is no day of the calendar")
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"`{text}` is no time of a day")
    seconds = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    if match["sign"]:
        hours, minutes = int(match["hours"]), int(match["minutes"])
        if hours > 23 or minutes > 59:
            raise ValueError(f"`{text}` has no possible offset")
        offset = (hours * 60 + minutes) * 60
        seconds -= offset if match["sign"] == "+" else -offset
    fraction = (match["fraction"] or "").rstrip("0")
    if len(fraction) > 9:
        raise ValueError(f"`{text}` is finer than nanoseconds")
    return seconds * SECOND + int(fraction.ljust(9, "0"))


def duration_text(text: Any) -> int:
    """Return the nanoseconds of a duration as CEL writes it, such as `24h` or `1h30m`; raises `ValueError`."""
    if not isinstance(text, str):
        raise ValueError("`duration` reads a text")
    return read_duration(text).nanos


def days(n: Any) -> int:
    """Return the nanoseconds of so many days; raises `ValueError` for what is no number or finer than that."""
    if not isinstance(n, int | Decimal) or isinstance(n, bool):
        raise ValueError("`days` takes a number")
    if isinstance(n, Decimal) and (not n.is_finite() or n.adjusted() > 12):
        raise ValueError("the number of days is out of range")
    numerator, denominator = n.as_integer_ratio()
    nanos, rest = divmod(numerator * 86_400 * SECOND, denominator)
    if rest:
        raise ValueError("the number of days is finer than nanoseconds")
    return nanos


def _days_in(year: int, month: int) -> int:
    following = days_before(year + month // 12, month % 12 + 1, 1)
    return following - days_before(year, month, 1)

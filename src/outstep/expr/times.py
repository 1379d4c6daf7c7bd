"""Moments and durations: exact nanoseconds, no clock, no named time zones."""

from __future__ import annotations

import re

from outstep.expr.values import Duration, Moment

SECOND = 1_000_000_000
FIRST = -62_135_596_800 * SECOND
"""0001-01-01T00:00:00Z, the first moment that CEL knows."""
LAST = 253_402_300_800 * SECOND - 1
LONGEST = 315_576_000_000 * SECOND
"""Ten thousand years, the longest duration that CEL knows."""

_MOMENT = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9})[0-9]*)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_OFFSET = r"([+-]?)([0-9]{2}):([0-9]{2})"
_PART = r"(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(ns|us|µs|μs|ms|s|m|h)"
_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def moment(nanos: int) -> Moment:
    """Return the moment so many nanoseconds after 1970, if it lies in the years 1 to 9999; raises `ValueError`."""
    if not FIRST <= nanos <= LAST:
        raise ValueError("the moment lies outside the years 1 to 9999")
    return Moment(nanos)


def duration(nanos: int) -> Duration:
    """Return a duration of at most ten thousand years; raises `ValueError`."""
    if abs(nanos) > LONGEST:
        raise ValueError("the duration is longer than ten thousand years")
    return Duration(nanos)


def read_moment(text: str) -> Moment:
    """Return the moment of an RFC 3339 text; raises `ValueError`."""
    match = re.fullmatch(_MOMENT, text)
    if match is None:
        raise ValueError("no RFC 3339 moment such as `2024-05-15T15:00:00Z`")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month)) or hour > 23 or minute > 59 or second > 60:
        raise ValueError("no moment of the calendar")
    seconds = ((days_before(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    if sign:
        if int(hours) > 23 or int(minutes) > 59:
            raise ValueError("an offset beyond a day")
        seconds -= int(sign + "1") * (int(hours) * 60 + int(minutes)) * 60
    return moment(seconds * SECOND + int((fraction or "").ljust(9, "0")))


def read_duration(text: str) -> Duration:
    """Return the duration of a text such as `1h30m` or `-1.5s`; raises `ValueError`."""
    at = 1 if text[:1] in ("+", "-") else 0
    if text[at:] == "0":
        return Duration(0)
    part = re.compile(_PART)
    total = 0
    while True:
        match = part.match(text, at)
        if match is None or len(text) > 200:
            raise ValueError("no duration such as `24h`, `1h30m` or `1.5s`")
        whole, fraction, bare, unit = match.groups()
        total += int(whole or "0") * _UNITS[unit]
        fraction = fraction or bare
        if fraction:
            total += int(fraction) * _UNITS[unit] // 10 ** len(fraction)
        at = match.end()
        if at == len(text):
            return duration(-total if text[0] == "-" else total)


def days_before(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a day of the Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _days_in(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _MONTHS[month - 1]


def _date(days: int) -> tuple[int, int, int]:
    """Return year, month and day of so many days after 1970-01-01."""
    era, of_era = divmod(days + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return era * 400 + year + (month <= 2), month, day


def moment_text(value: Moment) -> str:
    """Return RFC 3339 in UTC, with as many groups of three decimals as are needed."""
    seconds, nanos = divmod(value.nanos, SECOND)
    days, rest = divmod(seconds, 86_400)
    year, month, day = _date(days)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{year:04}-{month:02}-{day:02}T{clock}{_fraction(nanos)}Z"


def duration_text(value: Duration) -> str:
    """Return seconds with the unit `s`, as `5400s` or `-0.500s`."""
    seconds, nanos = divmod(abs(value.nanos), SECOND)
    return f"{'-' if value.nanos < 0 else ''}{seconds}{_fraction(nanos)}s"


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    text = f"{nanos:09}"
    return "." + (text[:3] if text.endswith("000000") else text[:6] if text.endswith("000") else text)


def part_of_moment(value: Moment, part: str, zone: str = "+00:00") -> int:
    """Return one field of a moment, by the name of CEL's accessor; raises `ValueError` for a named zone."""
    seconds, nanos = divmod(value.nanos + offset(zone) * SECOND, SECOND)
    days, rest = divmod(seconds, 86_400)
    if part == "getHours":
        return rest // 3600
    if part == "getMinutes":
        return rest // 60 % 60
    if part == "getSeconds":
        return rest % 60
    if part == "getMilliseconds":
        return nanos // 10**6
    if part == "getDayOfWeek":
        return (days + 4) % 7
    year, month, day = _date(days)
    fields = {"getFullYear": year, "getMonth": month - 1, "getDate": day, "getDayOfMonth": day - 1}
    return fields[part] if part in fields else days - days_before(year, 1, 1)


def part_of_duration(value: Duration, part: str) -> int:
    """Return a duration in whole hours, minutes or seconds, or its milliseconds beyond whole seconds."""
    sign = -1 if value.nanos < 0 else 1
    nanos = abs(value.nanos)
    if part == "getMilliseconds":
        return sign * (nanos % SECOND // 10**6)
    return sign * (nanos // {"getHours": 3600 * SECOND, "getMinutes": 60 * SECOND, "getSeconds": SECOND}[part])


def offset(zone: str) -> int:
    """Return the seconds of an offset such as `+02:00`; raises `ValueError`, for named zones too."""
    if zone == "UTC":
        return 0
    match = re.fullmatch(_OFFSET, zone)
    if match is None:
        raise ValueError(f"`{zone[:40]}` is no offset such as `+02:00`; named time zones are not offered")
    sign, hours, minutes = match.groups()
    return (-1 if sign == "-" else 1) * (int(hours) * 60 + int(minutes)) * 60

"""CEL's conversions, `size`, and what reads moments and durations."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from outstep.expr.arithmetic import decimal, whole
from outstep.expr.function import (
    BOOL,
    DURATION,
    INT,
    LIST,
    MOMENT,
    NUMBER,
    OBJECT,
    TEXT,
    Function,
)
from outstep.expr.times import (
    SECOND,
    duration,
    duration_text,
    moment,
    moment_text,
    part_of_duration,
    part_of_moment,
    read_duration,
    read_moment,
)
from outstep.expr.values import Duration, Moment, Value

_INT = r"[+-]?[0-9]+"
_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_TRUE = frozenset({"true", "TRUE", "True", "t", "1"})
_FALSE = frozenset({"false", "FALSE", "False", "f", "0"})
_LONGEST_NUMBER = 4000


def _size(value: Value) -> int:
    return len(value)


def _int(value: Value) -> int:
    if type(value) is Decimal:
        number = whole(decimal(value).to_integral_value("ROUND_DOWN"))
        if number is None:
            raise ValueError("the number is too large")
        return number
    if type(value) is str:
        if not re.fullmatch(_INT, value) or len(value) > _LONGEST_NUMBER:
            raise ValueError("the text is no int")
        return int(value)
    if type(value) is Moment:
        return value.nanos // SECOND
    return int(value)


def _double(value: Value) -> Decimal:
    if type(value) is str:
        if not re.fullmatch(_DECIMAL, value) or len(value) > _LONGEST_NUMBER:
            raise ValueError("the text is no number")
        try:
            return decimal(Decimal(value))
        except InvalidOperation:
            raise ValueError("a number beyond 10^±6144") from None
    return decimal(value)


def _string(value: Value) -> str:
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is Moment:
        return moment_text(value)
    if type(value) is Duration:
        return duration_text(value)
    from outstep.expr.written import number_text

    return number_text(value)


def _bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise ValueError("the text is neither `true` nor `false`")


def _timestamp(value: Value) -> Moment:
    if type(value) is str:
        return read_moment(value)
    return value if type(value) is Moment else moment(value * SECOND)


def _duration(value: Value) -> Duration:
    return read_duration(value) if type(value) is str else value


def _days(count: Value) -> Duration:
    nanos = decimal(count) * 86_400 * SECOND if type(count) is Decimal else count * 86_400 * SECOND
    exact = whole(nanos)
    if exact is None:
        raise ValueError("no whole number of nanoseconds")
    return duration(exact)


def _accessor(name: str, of_durations: bool) -> Function:
    def run(value: Value, zone: str = "+00:00") -> int:
        if type(value) is Duration:
            if zone != "+00:00":
                raise ValueError("a duration has no time zone")
            return part_of_duration(value, name)
        return part_of_moment(value, name, zone)

    takes = MOMENT | DURATION if of_durations else MOMENT
    usage = f"moment.{name}(offset)"
    return Function(name=name, usage=usage, takes=(takes, TEXT), least=1, gives=INT, run=run, style="method")


FUNCTIONS = (
    Function(
        name="size",
        usage="size(x)",
        takes=(TEXT | LIST | OBJECT,),
        least=1,
        gives=INT,
        run=_size,
        style="both",
        shallow=True,
    ),
    Function(name="int", usage="int(x)", takes=(NUMBER | TEXT | BOOL | MOMENT,), least=1, gives=INT, run=_int),
    Function(name="double", usage="double(x)", takes=(NUMBER | TEXT,), least=1, gives=NUMBER, run=_double),
    Function(
        name="string",
        usage="string(x)",
        takes=(NUMBER | TEXT | BOOL | MOMENT | DURATION,),
        least=1,
        gives=TEXT,
        run=_string,
    ),
    Function(name="bool", usage="bool(x)", takes=(BOOL | TEXT,), least=1, gives=BOOL, run=_bool),
    Function(
        name="timestamp", usage="timestamp(text)", takes=(TEXT | INT | MOMENT,), least=1, gives=MOMENT, run=_timestamp
    ),
    Function(
        name="duration", usage='duration("24h")', takes=(TEXT | DURATION,), least=1, gives=DURATION, run=_duration
    ),
    Function(name="days", usage="days(n)", takes=(NUMBER,), least=1, gives=DURATION, run=_days),
    *(_accessor(name, True) for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")),
    *(
        _accessor(name, False)
        for name in ("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear")
    ),
)

OPTIONAL_METHODS = {"orValue": 1, "or": 1, "hasValue": 0, "value": 0}
"""Methods of an optional value, and how many arguments they take; they read their argument only when it is needed."""
OPTIONAL_MAKERS = {"optional.of": 1, "optional.ofNonZeroValue": 1, "optional.none": 0}

"""Exact arithmetic (*exact-decimal*), and `+ -` on text, lists, moments and durations.

Every function takes decided values and raises `ValueError` where CEL has no value.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation

from outstep.expr.times import duration, moment
from outstep.expr.values import Duration, Moment, TooCostly, Value, word

LARGEST = 6144
"""Nothing beyond ten to the power of this, nor closer to zero than ten to its negative."""
MAX_BITS = 332_193
"""Of an int: a hundred thousand digits."""
MAX_PRODUCED = 16_000_000
"""Characters or elements that one operation may produce."""

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation])
_QUOTIENT = Context(
    prec=34, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero]
)
_ZERO = Decimal(0)
_NUMBERS = frozenset({int, Decimal})


def add(a: Value, b: Value) -> Value:
    """Return `a + b`."""
    kind = type(a)
    if kind is type(b):
        if kind is int:
            return _bounded_int(a + b)
        if kind is str or kind is list:
            if len(a) + len(b) > MAX_PRODUCED:
                raise TooCostly("a text or list grows beyond sixteen million")
            return a + b
        if kind is Duration:
            return duration(a.nanos + b.nanos)
    if (kind is Moment and type(b) is Duration) or (kind is Duration and type(b) is Moment):
        return moment(a.nanos + b.nanos)
    return _exact("+", _EXACT.add, a, b)


def subtract(a: Value, b: Value) -> Value:
    """Return `a - b`."""
    kind = type(a)
    if kind is int and type(b) is int:
        return _bounded_int(a - b)
    if type(b) is Duration:
        if kind is Moment:
            return moment(a.nanos - b.nanos)
        if kind is Duration:
            return duration(a.nanos - b.nanos)
    if kind is Moment and type(b) is Moment:
        return duration(a.nanos - b.nanos)
    return _exact("-", _EXACT.subtract, a, b)


def multiply(a: Value, b: Value) -> Value:
    """Return `a * b`."""
    if type(a) is int and type(b) is int:
        if a.bit_length() + b.bit_length() > MAX_BITS:
            raise ValueError("the number has more than a hundred thousand digits")
        return a * b
    return _exact("*", _EXACT.multiply, a, b)


def divide(a: Value, b: Value) -> Value:
    """Return `a / b`: between ints truncated towards zero, else with 34 significant digits, half to even."""
    if type(a) is int and type(b) is int:
        if b == 0:
            raise ValueError("division by zero")
        quotient = abs(a) // abs(b)
        return -quotient if (a < 0) is not (b < 0) else quotient
    left, right = _operands("/", a, b)
    if not right:
        raise ValueError("division by zero")
    return _bounded(_QUOTIENT.divide(left, right))


def remainder(a: Value, b: Value) -> Value:
    """Return `a % b` of ints, with the sign of a."""
    if type(a) is not int or type(b) is not int:
        raise ValueError(f"`%` is for ints only, not {_of_what(a)} and {_of_what(b)}")
    if b == 0:
        raise ValueError("division by zero")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def negate(a: Value) -> Value:
    """Return `-a`."""
    if type(a) is int:
        return -a
    if type(a) is Decimal:
        return _bounded(_EXACT.minus(a))
    raise ValueError(f"`-` needs a number, not {word(a)}")


def whole(value: Value) -> int | None:
    """Return the int that a number is equal to, if there is one within bounds."""
    if type(value) is int:
        return value
    if type(value) is Decimal and (not value or -LARGEST <= value.adjusted() <= LARGEST):
        number = int(value)
        return number if number == value else None
    return None


def decimal(value: int | Decimal) -> Decimal:
    """Return a number as a decimal within bounds; raises `ValueError`."""
    if type(value) is int:
        if value.bit_length() > 20_420:  # 10^6144 has 20,411 bits
            raise ValueError("a number beyond 10^6144")
        value = Decimal(value)
    return _bounded(value)  # type: ignore[arg-type]


def _exact(op: str, operation: Callable[[Decimal, Decimal], Decimal], a: Value, b: Value) -> Decimal:
    return _bounded(operation(*_operands(op, a, b)))


def _operands(op: str, a: Value, b: Value) -> tuple[Decimal, Decimal]:
    if type(a) not in _NUMBERS or type(b) not in _NUMBERS:
        raise ValueError(f"`{op}` between {word(a)} and {word(b)}")
    return decimal(a), decimal(b)


def _bounded(value: Decimal) -> Decimal:
    """Refuse what is beyond the bounds; a zero loses its exponent, which could make a sum endless."""
    if not value:
        return _ZERO
    if not -LARGEST <= value.adjusted() <= LARGEST:
        raise ValueError("a number beyond 10^±6144")
    return value


def _bounded_int(value: int) -> int:
    if value.bit_length() > MAX_BITS:
        raise ValueError("the number has more than a hundred thousand digits")
    return value


def _of_what(value: Value) -> str:
    return "a decimal" if type(value) is Decimal else word(value)

"""JSON values held against each other by value: `49` is `49.0`, `"49"` is not `49`, and `true` is not `1`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from outstep import codec
from outstep.codec import Json

MOST = 1000
"""Differences of two values that are named one by one."""


class Difference(Struct, frozen=True, kw_only=True):
    """One place at which two values differ."""

    path: str
    """`opts.gift`, `items[2].id`; empty: the values themselves."""
    before: str | None
    """As JSON; none: it was not there."""
    after: str | None


def differences(before: Json, after: Json) -> list[Difference]:
    """Return where two values differ, in the order of the first one; the order of members says nothing."""
    found: list[Difference] = []
    for path, one, other in _unlike("", before, after):
        if len(found) == MOST:
            break
        found.append(Difference(path=path, before=_told(one), after=_told(other)))
    return found


def are_equal(before: Json, after: Json) -> bool:
    """Return whether two values are the same."""
    return next(_unlike("", before, after), None) is None


def key_of(value: Json) -> str:
    """Return a text that is the same for equal values, and only for those."""
    return codec.encode(_normal(value)).decode()


class _Absent:
    """Stands for what is not there."""


_ABSENT = _Absent()


def _unlike(path: str, before: Json, after: Json) -> Iterator[tuple[str, Json, Json]]:
    # A stack, for values may be nested deeper than functions can be.
    stack = [(path, before, after)]
    while stack:
        path, before, after = stack.pop()
        if isinstance(before, dict) and isinstance(after, dict):
            names = dict.fromkeys([*before, *after])
            pairs = [(_member(path, name), before.get(name, _ABSENT), after.get(name, _ABSENT)) for name in names]
            stack += reversed(pairs)
        elif isinstance(before, list) and isinstance(after, list):
            longest = max(len(before), len(after))
            pairs = [(f"{path}[{index}]", _at(before, index), _at(after, index)) for index in range(longest)]
            stack += reversed(pairs)
        elif not _is_same(before, after):
            yield path, before, after


def _member(path: str, name: str) -> str:
    told = name if name.replace("_", "a").replace("-", "a").isalnum() else codec.encode(name).decode()
    return f"{path}.{told}" if path else told


def _at(values: list[Json], index: int) -> Json:
    return values[index] if index < len(values) else _ABSENT


def _is_same(before: Json, after: Json) -> bool:
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    numbers = (int, float, Decimal)
    if isinstance(before, numbers) and isinstance(after, numbers):
        return before == after
    return type(before) is type(after) and bool(before == after)


def _told(value: Json) -> str | None:
    return None if value is _ABSENT else codec.encode(value).decode()


def _normal(value: Json) -> Json:
    """Return a value in which equal ones look the same: members sorted, numbers in one form, kinds apart."""
    if isinstance(value, dict):
        return {name: _normal(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, Decimal) or (isinstance(value, int) and not isinstance(value, bool)):
        number = Decimal(value)
        return (
            int(number) if number == number.to_integral_value() and abs(number.adjusted()) < 400 else number.normalize()
        )
    return value

"""What compiled expressions read values with; see `runtime`."""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from outstep.expr.arithmetic import whole
from outstep.expr.values import NOTHING, CutText, Hidden, Maybe, Missing, Undecided, Value, is_lookup, key_of

BUDGET = 100_000
"""Steps of the loops of one compiled expression, and parts of a container that a helper looks through."""
CONTAINERS = frozenset({list, dict})
UNREADABLE = frozenset({Missing, Hidden, CutText})
KEYS = frozenset({str, int, bool, Decimal})

_UNDECIDED = frozenset({Missing, Hidden})
_NOT_THERE = object()


def give_up() -> NoReturn:
    """Leave the expression to the evaluator."""
    raise Undecided("not compiled")


def settled(value: Value) -> Value:
    """Return a value that is one."""
    if type(value) in _UNDECIDED:
        raise Undecided(value.reason)
    return value


def truth(value: Value) -> bool:
    """Return a truth value."""
    if value is True:
        return True
    if value is False:
        return False
    raise Undecided("no truth value")


def survey(value: Value) -> int:
    """Return how many steps it takes to look through a value; gives up where a part is hidden, or on too many."""
    total = 0
    rest = [value]
    while rest:
        value = rest.pop()
        kind = type(value)
        total += 1
        if kind is str:
            total += len(value) >> 8
        elif kind is list:
            rest.extend(value)
        elif kind is dict:
            rest.extend(value.values())
        elif kind is Maybe:
            rest.append(value.value)
        elif kind in UNREADABLE:
            raise Undecided("a part is hidden")
        if total > BUDGET:
            raise Undecided("too large for compiled code")
    return total


def get(base: Value, field: str) -> Value:
    """Return a member in a condition: null when a readable object does not have it."""
    if type(base) is dict:
        return base.get(field)
    raise Undecided("no object")


def path(base: Value, *fields: str) -> Value:
    """Return what a path leads to in a condition: null from the first absent member on."""
    for field in fields:
        if type(base) is not dict:
            raise Undecided("no object")
        base = base.get(field, _NOT_THERE)
        if base is _NOT_THERE:
            return None
    return base


def has(base: Value, *fields: str) -> bool:
    """Return whether a path leads to a member (*deep-has*)."""
    for field in fields:
        if type(base) is dict:
            base = base.get(field, _NOT_THERE)
            if base is _NOT_THERE:
                return False
        elif base is None:
            return False
        else:
            raise Undecided("no object")
    return True


def maybe(base: Value, field: str) -> Maybe:
    """Return `base.?field`, also of an optional base."""
    if type(base) is Maybe:
        if not base.present:
            return NOTHING
        base = base.value
    if type(base) is not dict:
        raise Undecided("no object")
    found = base.get(field, _NOT_THERE)
    return NOTHING if found is _NOT_THERE else Maybe(True, found)


def maybe_of(value: Value) -> Maybe:
    """Return `optional.of(value)`."""
    return Maybe(True, settled(value))


def or_value(optional: Value, other: Value) -> Value:
    """Return what an optional value holds, else the other value."""
    if type(optional) is not Maybe:
        raise Undecided("no optional value")
    return settled(optional.value if optional.present else other)


def has_value(optional: Value) -> bool:
    """Return whether an optional value holds one."""
    if type(optional) is not Maybe:
        raise Undecided("no optional value")
    return optional.present


def index(base: Value, key: Value) -> Value:
    """Return `base[key]`."""
    found = _found(base, key)
    if found is _NOT_THERE:
        raise Undecided("no such member")
    return found


def index_or_null(base: Value, key: Value) -> Value:
    """Return `base[key]` in a condition: null when an object has no such member."""
    found = _found(base, key)
    if found is not _NOT_THERE:
        return found
    if type(base) is list:
        raise Undecided("no such element")
    return None


def _found(base: Value, key: Value) -> Value:
    kind = type(key)
    if kind in UNREADABLE:
        raise Undecided("a hidden key")
    if type(base) is dict:
        if kind is str or kind in KEYS:
            return base.get(key_of(key), _NOT_THERE)
    elif type(base) is list:
        place = whole(key)
        if place is not None:
            return base[place] if 0 <= place < len(base) else _NOT_THERE
    elif is_lookup(base):
        if kind in CONTAINERS:
            survey(key)
        return base.index(key)
    raise Undecided("no such member")

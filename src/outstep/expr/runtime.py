"""What compiled expressions call.

Each helper gives exactly what the evaluator would give, or raises; an undecided value never comes out of one.
Work is bounded: loops spend from a `Meter`, and containers too large to look through are left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, NoReturn

from outstep.expr import arithmetic, functions
from outstep.expr.function import Function, fit
from outstep.expr.values import (
    NOTHING,
    CutText,
    Hidden,
    Maybe,
    Missing,
    Undecided,
    Value,
    compare,
    equal,
    from_key,
    is_lookup,
    key_of,
)

BUDGET = 100_000
"""Steps of the loops of one compiled expression, and parts of a container that a helper looks through."""

_SCALARS = frozenset({str, int, bool, type(None), Decimal})
_CONTAINERS = frozenset({list, dict})
_UNREADABLE = frozenset({Missing, Hidden, CutText})
_UNDECIDED = frozenset({Missing, Hidden})
_KEYS = frozenset({str, int, bool, Decimal})
_LONGEST = 256 * BUDGET
_NOT_THERE = object()


class Meter:
    """The steps that the loops of one expression may still take."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = BUDGET

    def spend(self, steps: int) -> None:
        """Take steps off what is left, or give up."""
        self.left -= steps
        if self.left < 0:
            raise Undecided("too many steps for compiled code")


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
        elif kind in _UNREADABLE:
            raise Undecided("a part is hidden")
        if total > BUDGET:
            raise Undecided("too large for compiled code")
    return total


# members


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
    if kind in _UNREADABLE:
        raise Undecided("a hidden key")
    if type(base) is dict:
        if kind is str or kind in _KEYS:
            return base.get(key_of(key), _NOT_THERE)
    elif type(base) is list:
        place = arithmetic.whole(key)
        if place is not None:
            return base[place] if 0 <= place < len(base) else _NOT_THERE
    elif is_lookup(base):
        if kind in _CONTAINERS:
            survey(key)
        return base.index(key)
    raise Undecided("no such member")


# operators


def eq(a: Value, b: Value) -> bool:
    """Return `a == b`."""
    kind = type(a)
    if kind is type(b) and kind in _SCALARS:
        return a == b  # type: ignore[no-any-return]
    if kind in _CONTAINERS or type(b) in _CONTAINERS:
        survey(a)
        survey(b)
    same = equal(a, b)
    if same is True or same is False:
        return same
    raise Undecided("a part is hidden")


def ne(a: Value, b: Value) -> bool:
    """Return `a != b`."""
    return not eq(a, b)


def lt(a: Value, b: Value) -> bool:
    """Return `a < b`."""
    if type(a) is int and type(b) is int:
        return a < b
    return _order(a, b) < 0


def le(a: Value, b: Value) -> bool:
    """Return `a <= b`."""
    if type(a) is int and type(b) is int:
        return a <= b
    return _order(a, b) <= 0


def gt(a: Value, b: Value) -> bool:
    """Return `a > b`."""
    if type(a) is int and type(b) is int:
        return a > b
    return _order(a, b) > 0


def ge(a: Value, b: Value) -> bool:
    """Return `a >= b`."""
    if type(a) is int and type(b) is int:
        return a >= b
    return _order(a, b) >= 0


def _order(a: Value, b: Value) -> int:
    order = compare(a, b)
    if order is None:
        raise Undecided("no order")
    return order


def within(item: Value, box: Value) -> bool:
    """Return `item in box`."""
    kind = type(item)
    if kind in _UNREADABLE:
        raise Undecided("hidden")
    if type(box) is list:
        if len(box) > BUDGET:
            raise Undecided("too large for compiled code")
        return _among(item, box)
    if type(box) is dict:
        if kind in _KEYS:
            return key_of(item) in box
    elif is_lookup(box):
        if kind in _CONTAINERS:
            survey(item)
        return truth(box.holds(item))
    raise Undecided("nothing can be in it")


def _among(item: Value, box: list[Value]) -> bool:
    unsure = False
    for other in box:
        if type(other) in _UNREADABLE:
            unsure = True
        elif eq(item, other):
            return True
    if unsure:
        raise Undecided("an element is hidden")
    return False


# loops


def items(target: Value, meter: Meter, cost: int) -> Iterable[Value]:
    """Return what one variable is bound to, turn by turn; each turn costs so many steps."""
    if type(target) is dict:
        found: list[Value] = [from_key(key) for key in target]
    elif type(target) is list:
        found = target
    elif is_lookup(target):
        found = settled(target.keys())
    else:
        raise Undecided("no list or object")
    meter.spend(len(found) * cost)
    return found


def pairs(target: Value, meter: Meter, cost: int) -> Iterable[tuple[Value, Value]]:
    """Return what two variables are bound to, turn by turn."""
    if type(target) is dict:
        meter.spend(len(target) * cost)
        return [(from_key(key), item) for key, item in target.items()]
    if type(target) is list:
        meter.spend(len(target) * cost)
        return enumerate(target)
    raise Undecided("no list or object")


def metered(meter: Meter, function: Callable[..., Value], *args: Value) -> Value:
    """Call inside a loop: what the arguments cost to look through is spent first."""
    for arg in args:
        if type(arg) is str:
            meter.spend(len(arg) >> 8)
        elif type(arg) in _CONTAINERS:
            meter.spend(survey(arg))
    return function(*args)


def exists_one(truths: Iterable[bool]) -> bool:
    """Return whether exactly one of all is true."""
    return sum(truths) == 1


# functions


def fast(function: Function) -> Callable[..., Value]:
    """Return a function of the table as compiled code calls it."""
    run = function.run
    takes = function.takes
    shallow = function.shallow
    if run is None:
        return lambda *_: give_up()

    def call(*args: Value) -> Value:
        for kinds, arg in zip(takes, args, strict=False):
            kind = type(arg)
            if kind not in kinds:
                fit(function, args)
            if kind is str:
                if len(arg) > _LONGEST:
                    give_up()
            elif kind in _CONTAINERS and not shallow:
                survey(arg)
        if len(args) < function.least or len(args) > len(takes):
            give_up()
        return settled(run(*args))

    return call


def search(pattern: Any, text: Value) -> bool:
    """Return whether a compiled pattern occurs in a text."""
    if type(text) is not str or len(text) > _LONGEST:
        raise Undecided("no text")
    return pattern.search(text)  # type: ignore[no-any-return]


HELPERS: dict[str, Any] = {
    "all": all,
    "any": any,
    "add": arithmetic.add,
    "divide": arithmetic.divide,
    "eq": eq,
    "exists_one": exists_one,
    "ge": ge,
    "get": get,
    "give_up": give_up,
    "gt": gt,
    "has": has,
    "has_value": has_value,
    "index": index,
    "index_or_null": index_or_null,
    "items": items,
    "le": le,
    "lt": lt,
    "maybe": maybe,
    "maybe_of": maybe_of,
    "meter": Meter,
    "metered": metered,
    "multiply": arithmetic.multiply,
    "ne": ne,
    "negate": arithmetic.negate,
    "or_value": or_value,
    "pairs": pairs,
    "path": path,
    "remainder": arithmetic.remainder,
    "search": search,
    "settled": settled,
    "subtract": arithmetic.subtract,
    "truth": truth,
    "within": within,
}
"""Helpers of compiled code; there they are called `cel_` and this name."""


def helper(name: str) -> Any:
    """Return a helper, or a function of the language for `call_` and its name."""
    return fast(functions.TABLE[name[5:]]) if name.startswith("call_") else HELPERS[name]

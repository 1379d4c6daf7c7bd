"""What compiled expressions call.

Each helper gives exactly what the evaluator would give, or raises; an undecided value never comes out of one.
Work is bounded: loops spend from a `Meter`, and containers too large to look through are left to the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from outstep.expr import arithmetic, functions
from outstep.expr.function import Function, fit
from outstep.expr.runtime_reads import (
    BUDGET,
    CONTAINERS,
    KEYS,
    UNREADABLE,
    get,
    give_up,
    has,
    has_value,
    index,
    index_or_null,
    maybe,
    maybe_of,
    or_value,
    path,
    settled,
    survey,
    truth,
)
from outstep.expr.values import Undecided, Value, compare, equal, from_key, is_lookup, key_of

_SCALARS = frozenset({str, int, bool, type(None), Decimal})
_LONGEST = 256 * BUDGET


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


def eq(a: Value, b: Value) -> bool:
    """Return `a == b`."""
    kind = type(a)
    if kind is type(b) and kind in _SCALARS:
        return a == b  # type: ignore[no-any-return]
    if kind in CONTAINERS or type(b) in CONTAINERS:
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
    if kind in UNREADABLE:
        raise Undecided("hidden")
    if type(box) is list:
        if len(box) > BUDGET:
            raise Undecided("too large for compiled code")
        return _among(item, box)
    if type(box) is dict:
        if kind in KEYS:
            return key_of(item) in box
    elif is_lookup(box):
        if kind in CONTAINERS:
            survey(item)
        return truth(box.holds(item))
    raise Undecided("nothing can be in it")


def _among(item: Value, box: list[Value]) -> bool:
    unsure = False
    for other in box:
        if type(other) in UNREADABLE:
            unsure = True
        elif eq(item, other):
            return True
    if unsure:
        raise Undecided("an element is hidden")
    return False


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
        elif type(arg) in CONTAINERS:
            meter.spend(survey(arg))
    return function(*args)


def exists_one(truths: Iterable[bool]) -> bool:
    """Return whether exactly one of all is true."""
    return sum(truths) == 1


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
            elif kind in CONTAINERS and not shallow:
                survey(arg)
        return settled(run(*args))

    return call


def search(pattern: Any, text: Value) -> bool:
    """Return whether a compiled pattern occurs in a text."""
    if type(text) is not str or len(text) > _LONGEST:
        raise Undecided("no text")
    return pattern.search(text)  # type: ignore[no-any-return]


def contains(text: Value, part: Value) -> bool:
    """Return `text.contains(part)`."""
    if type(text) is str and type(part) is str:
        return part in text
    raise Undecided("no text")


def starts_with(text: Value, part: Value) -> bool:
    """Return `text.startsWith(part)`."""
    if type(text) is str and type(part) is str:
        return text.startswith(part)
    raise Undecided("no text")


def ends_with(text: Value, part: Value) -> bool:
    """Return `text.endsWith(part)`."""
    if type(text) is str and type(part) is str:
        return text.endswith(part)
    raise Undecided("no text")


def size(value: Value) -> int:
    """Return `size(value)`."""
    if type(value) is str or type(value) in CONTAINERS:
        return len(value)
    raise Undecided("no size")


_LEAN: dict[str, Callable[..., Value]] = {
    "contains": contains,
    "endsWith": ends_with,
    "size": size,
    "startsWith": starts_with,
}
"""The functions that contracts call most, without the general machinery."""

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
    if not name.startswith("call_"):
        return HELPERS[name]
    return _LEAN.get(name[5:]) or fast(functions.TABLE[name[5:]])

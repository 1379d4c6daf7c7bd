"""Functions of lists: `sum min max first last flatten distinct sort`."""

from __future__ import annotations

from collections.abc import Hashable
from functools import reduce

from outstep.expr.arithmetic import MAX_PRODUCED, add, whole
from outstep.expr.function import LIST, NUMBER, Function
from outstep.expr.values import Duration, TooCostly, Value, compare, key_of, word


def _sum(items: list[Value]) -> Value:
    for item in items:
        if type(item) is not Duration and compare(item, 0) is None:
            raise ValueError(f"{word(item)} cannot be summed")
    return reduce(add, items) if items else 0


def _first(items: list[Value]) -> Value:
    if not items:
        raise ValueError("the list is empty")
    return items[0]


def _last(items: list[Value]) -> Value:
    if not items:
        raise ValueError("the list is empty")
    return items[-1]


def _extreme(items: list[Value], sign: int) -> Value:
    found = _first(items)
    _refuse_unordered(items)
    for item in items:
        if _order(item, found) * sign > 0:
            found = item
    return found


def _min(items: list[Value]) -> Value:
    return _extreme(items, -1)


def _max(items: list[Value]) -> Value:
    return _extreme(items, 1)


def _order(a: Value, b: Value) -> int:
    order = compare(a, b)
    if order is None:
        raise ValueError(f"no order between {word(a)} and {word(b)}")
    return order


def _refuse_unordered(items: list[Value]) -> None:
    for item in items:
        _order(item, items[0])


def _sort(items: list[Value]) -> list[Value]:
    _refuse_unordered(items)
    if items and hasattr(items[0], "nanos"):
        return sorted(items, key=lambda item: item.nanos)
    return sorted(items)


def _distinct(items: list[Value]) -> list[Value]:
    seen: dict[Hashable, Value] = {}
    for item in items:
        seen.setdefault(key_of(item), item)
    return list(seen.values())


def _flatten(items: list[Value], depth: Value = 1) -> list[Value]:
    levels = whole(depth)
    if levels is None or levels < 0:
        raise ValueError("the depth is no int of 0 or more")
    for _ in range(levels):
        if not any(type(item) is list for item in items):
            break
        if sum(len(item) if type(item) is list else 1 for item in items) > MAX_PRODUCED:
            raise TooCostly("a list grows beyond sixteen million elements")
        items = [part for item in items for part in (item if type(item) is list else (item,))]
    return list(items)


FUNCTIONS = (
    Function(name="sum", usage="list.sum()", takes=(LIST,), least=1, run=_sum, style="both"),
    Function(name="min", usage="list.min()", takes=(LIST,), least=1, run=_min, style="both"),
    Function(name="max", usage="list.max()", takes=(LIST,), least=1, run=_max, style="both"),
    Function(name="first", usage="list.first()", takes=(LIST,), least=1, run=_first, style="method", shallow=True),
    Function(name="last", usage="list.last()", takes=(LIST,), least=1, run=_last, style="method", shallow=True),
    Function(name="sort", usage="list.sort()", takes=(LIST,), least=1, gives=LIST, run=_sort, style="method"),
    Function(
        name="distinct", usage="list.distinct()", takes=(LIST,), least=1, gives=LIST, run=_distinct, style="method"
    ),
    Function(
        name="flatten",
        usage="list.flatten(depth)",
        takes=(LIST, NUMBER),
        least=1,
        gives=LIST,
        run=_flatten,
        style="method",
    ),
)

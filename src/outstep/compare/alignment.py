"""Which step of one run is which of the other.

In three passes, each only between what the one before it matched: steps that are the same in every value, steps of one
kind and name that say the same, steps of one kind and name in their order. What is left on both sides and says the same
was moved. docs/compare.md#alignment
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from outstep.compare.steps import Step
from outstep.compare.values import Difference, differences

LARGEST = 4_000_000
"""Pairs of steps that are held against each other in one stretch; beyond, its steps are matched in their order."""

Way = Literal["same", "changed", "moved", "added", "removed"]


class Pair(Struct, frozen=True, kw_only=True):
    """A step of the one run, of the other, or of both."""

    way: Way
    before: Step | None = None
    after: Step | None = None
    said: tuple[Difference, ...] = ()
    """Where arguments or texts differ."""
    answered: tuple[Difference, ...] = ()
    """Where what came back differs, `outcome` first."""


def align(before: Sequence[Step], after: Sequence[Step]) -> list[Pair]:
    """Return the steps of both runs, matched, in the order of the second; what was removed stands where it was."""
    matched: dict[int, int] = {}
    _match(before, after, 0, len(before), 0, len(after), _KEYS, matched)
    moved = _moved(before, after, matched)
    return list(_pairs(before, after, matched, moved))


Key = Callable[[Step], object]
_KEYS: tuple[Key, ...] = (lambda step: step.whole, lambda step: step.asked, lambda step: step.sort)


def _match(
    before: Sequence[Step],
    after: Sequence[Step],
    low: int,
    high: int,
    start: int,
    end: int,
    keys: Sequence[Key],
    matched: dict[int, int],
) -> None:
    """Match `before[low:high]` with `after[start:end]` by the first key, and what lies between by the next ones."""
    if not keys or low == high or start == end:
        return
    key, *rest = keys
    ones = [key(step) for step in before[low:high]]
    others = [key(step) for step in after[start:end]]
    at, to = low, start
    for one, other in [*_common(ones, others), (high - low, end - start)]:
        _match(before, after, at, low + one, to, start + other, rest, matched)
        if low + one < high and start + other < end:
            matched[low + one] = start + other
        at, to = low + one + 1, start + other + 1


def _common(ones: Sequence[object], others: Sequence[object]) -> list[tuple[int, int]]:
    """Return a longest common subsequence as pairs of places."""
    head = 0
    while head < min(len(ones), len(others)) and ones[head] == others[head]:
        head += 1
    tail = 0
    while tail < min(len(ones), len(others)) - head and ones[-1 - tail] == others[-1 - tail]:
        tail += 1
    inner = _inner(ones[head : len(ones) - tail], others[head : len(others) - tail])
    found = [(place, place) for place in range(head)]
    found += [(head + one, head + other) for one, other in inner]
    return found + [(len(ones) - tail + place, len(others) - tail + place) for place in range(tail)]


def _inner(ones: Sequence[object], others: Sequence[object]) -> list[tuple[int, int]]:
    if len(ones) * len(others) > LARGEST:
        return _in_order(ones, others)
    rows = [[0] * (len(others) + 1) for _ in range(len(ones) + 1)]
    for one in range(len(ones) - 1, -1, -1):
        row, below, value = rows[one], rows[one + 1], ones[one]
        for other in range(len(others) - 1, -1, -1):
            if value == others[other]:
                row[other] = below[other + 1] + 1
            else:
                row[other] = max(below[other], row[other + 1])
    found = []
    one = other = 0
    while one < len(ones) and other < len(others):
        if ones[one] == others[other]:
            found.append((one, other))
            one, other = one + 1, other + 1
        elif rows[one + 1][other] >= rows[one][other + 1]:
            one += 1
        else:
            other += 1
    return found


def _in_order(ones: Sequence[object], others: Sequence[object]) -> list[tuple[int, int]]:
    """Return a common subsequence in linear time: each one is matched with the next equal one."""
    places: dict[object, list[int]] = {}
    for place, value in enumerate(others):
        places.setdefault(value, []).append(place)
    for some in places.values():
        some.reverse()
    found: list[tuple[int, int]] = []
    reached = -1
    for one, value in enumerate(ones):
        some = places.get(value, [])
        while some and some[-1] <= reached:
            some.pop()
        if some:
            reached = some.pop()
            found.append((one, reached))
    return found


def _moved(before: Sequence[Step], after: Sequence[Step], matched: dict[int, int]) -> dict[int, int]:
    """Return unmatched steps that say the same on both sides, though in another order."""
    taken = set(matched.values())
    free: dict[str, list[int]] = {}
    for place in range(len(after) - 1, -1, -1):
        if place not in taken:
            free.setdefault(after[place].asked, []).append(place)
    found: dict[int, int] = {}
    for place, step in enumerate(before):
        if place not in matched and (places := free.get(step.asked)):
            found[place] = places.pop()
    return found


def _pairs(
    before: Sequence[Step], after: Sequence[Step], matched: dict[int, int], moved: dict[int, int]
) -> Iterator[Pair]:
    sources = {place: source for source, place in matched.items()}
    origins = {place: source for source, place in moved.items()}
    shown = 0
    for place, step in enumerate(after):
        source = sources.get(place)
        if source is not None:
            yield from _removed(before, shown, source, moved)
            shown = source + 1
            yield _pair("same", before[source], step)
        elif place in origins:
            yield _pair("moved", before[origins[place]], step)
        else:
            yield Pair(way="added", after=step)
    yield from _removed(before, shown, len(before), moved)


def _removed(before: Sequence[Step], start: int, end: int, moved: dict[int, int]) -> Iterator[Pair]:
    for place in range(start, end):
        if place not in moved:
            yield Pair(way="removed", before=before[place])


def _pair(way: Way, before: Step, after: Step) -> Pair:
    said = differences(before.said, after.said)
    answered = differences(before.answer, after.answer)
    if before.outcome != after.outcome:
        answered = [Difference(path="outcome", before=before.outcome, after=after.outcome), *answered]
    if way == "same" and (said or answered):
        way = "changed"
    return Pair(way=way, before=before, after=after, said=tuple(said), answered=tuple(answered))

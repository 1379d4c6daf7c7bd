"""Facts as an event may know them (SEMANTICS sections 4, 7 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outstep.contracts.model import Fact
from outstep.engine.gaps import hides, known_to
from outstep.engine.lanes import ABSENT, LaneState, Table
from outstep.engine.views import View
from outstep.expr.values import Hidden, Missing, Undecided, from_key, key_of, show

if TYPE_CHECKING:
    from outstep.engine.run import Run

SINGLE = ()
"""The key of a fact without keys."""


class FactView:
    """A fact with keys, as one view may know it."""

    __slots__ = ("_fact", "_index", "_run", "_view")

    def __init__(self, run: Run, index: int, view: View) -> None:
        self._run = run
        self._index = index
        self._fact: Fact = run.contract.facts[index]
        self._view = view

    def index(self, key: Any) -> Any:
        """Return the value under a key: none when never recorded, `Missing` or `Hidden` as the fact says."""
        return read_fact(self._run, self._index, key_of(key), self._view, f"{self._fact.name}[{show(key)}]")

    def holds(self, key: Any) -> bool | Hidden:
        """Return whether there was a writer of this key; `Hidden` where a gap may have written or forgotten it."""
        return self._holds(key_of(key))

    def _holds(self, key: Any) -> bool | Hidden:
        return holds(self._run, self._index, key, self._view, f"{self._fact.name}[{show(from_key(key))}]")

    def keys(self) -> list[Any] | Hidden:
        """Return the keys in the order in which they were first written; `Hidden` where a gap may hide some."""
        clouded = [key for table in self._run.tables(self._index, self._view) for key in table.clouds]
        is_hidden = _newest_gap(self._run, self._index, self._view) >= 0
        if is_hidden or any(isinstance(self._holds(key), Hidden) for key in clouded):
            return Hidden(f"`{self._fact.name}`: a gap may hide entries")
        return [from_key(key) for key in self.visible_keys()]

    @property
    def are_keys_hidden(self) -> bool:
        """Whether a gap may hide entries."""
        return _newest_gap(self._run, self._index, self._view) >= 0

    def visible_keys(self) -> list[Any]:
        """Return the keys that are surely there, as keys."""
        found: dict[Any, None] = {}
        for table in self._run.tables(self._index, self._view):
            found.update(dict.fromkeys(table.keys(_epoch(self._view, self._run, self._index))))
        return list(found)

    def is_there(self, key: Any) -> bool:
        """Return whether an entry is surely there."""
        return self._holds(key) is True

    @property
    def size(self) -> int | Hidden:
        """Number of keys."""
        keys = self.keys()
        return keys if isinstance(keys, Hidden) else len(keys)


def read_fact(run: Run, index: int, key: Any, view: View, name: str) -> Any:
    """Return the value of an entry as the view may know it: none when there is none."""
    fact = run.contract.facts[index]
    value, seq = _newest(run, index, key, view)
    gap = _newest_gap(run, index, view, key)
    if gap >= 0 and _is_covered(run, fact, index, key, value, seq, gap, view):
        is_there = value is not ABSENT and _newest_forget(run, index, view, key) <= seq
        return Hidden(
            f"`{name}`: a gap may hide what was recorded",
            is_something=is_there and all(source.never_null for source in fact.sources),
        )
    return None if value is ABSENT else value


def _is_covered(run: Run, fact: Fact, index: int, key: Any, value: Any, seq: int, gap: int, view: View) -> bool:
    if fact.keep == "all":
        return True
    if fact.keep == "first" and value is not ABSENT:
        return _oldest_gap(run, index, view, key) < seq or _newest_forget(run, index, view, key) >= 0
    return gap > seq


def holds(run: Run, index: int, key: Any, view: View, name: str) -> bool | Hidden:
    """Return whether an entry was ever written and not forgotten since."""
    value, seq = _newest(run, index, key, view)
    if value is not ABSENT:
        return (
            Hidden(f"`{name}`: a gap may hide that it was forgotten")
            if _newest_forget(run, index, view, key) > seq
            else True
        )
    if _newest_gap(run, index, view, key) > seq:
        return Hidden(f"`{name}`: a gap may hide that it was recorded")
    return False


def _epoch(view: View, run: Run, index: int) -> int | None:
    return None if view.log or run.plan.world[index] or view.lane is None else view.epoch


def _newest(run: Run, index: int, key: Any, view: View) -> tuple[Any, int]:
    epoch = _epoch(view, run, index)
    found: list[tuple[Any, int]] = [table.read(key, epoch) for table in run.tables(index, view)]
    if len(found) == 1:
        return found[0]
    first = run.contract.facts[index].keep == "first"
    there = [pair for pair in found if pair[0] is not ABSENT]
    if first and there:
        return min(there, key=_place)
    return max(found, key=_place, default=(ABSENT, -1))


def _place(pair: tuple[Any, int]) -> int:
    return pair[1]


def _writers(run: Run, index: int) -> Sequence[Any]:
    fact = run.contract.facts[index]
    return [selector for source in fact.sources for selector in source.selectors]


def _forgetters(run: Run, index: int) -> Sequence[Any]:
    return [selector for forget in run.contract.facts[index].forget for selector in forget.selectors]


def _gap_places(run: Run, index: int, view: View, selectors: Sequence[Any]) -> list[int]:
    if not run.gaps.all or view.ignores_gaps:
        return []
    pairs = run.gaps.all if run.plan.world[index] else known_to(view, run.gaps.all)
    return [place for gap, place in pairs if place <= view.seq and hides(gap, selectors)]


def _newest_gap(run: Run, index: int, view: View, key: Any = None) -> int:
    places = _gap_places(run, index, view, [*_writers(run, index), *_forgetters(run, index)])
    return max(places[-1] if places else -1, _newest_fog(run, index, view, key))


def _newest_fog(run: Run, index: int, view: View, key: Any) -> int:
    limit = _fog_limit(run, index, view)
    return max((table.fog_before(limit, key) for table in run.tables(index, view)), default=-1)


def _fog_limit(run: Run, index: int, view: View) -> int:
    return view.seq if _epoch(view, run, index) is None else view.at


def _oldest_gap(run: Run, index: int, view: View, key: Any) -> int:
    places = _gap_places(run, index, view, _writers(run, index))
    limit = _fog_limit(run, index, view)
    fogs = [fog for table in run.tables(index, view) if (fog := table.oldest_fog(key)) is not None and fog < limit]
    return min([*places[:1], *fogs], default=1 << 62)


def _newest_forget(run: Run, index: int, view: View, key: Any) -> int:
    forgetters = _forgetters(run, index)
    if not forgetters:
        return -1
    places = _gap_places(run, index, view, forgetters)
    return max(places[-1] if places else -1, _newest_fog(run, index, view, key))


def write_fact(run: Run, index: int, slot: int, view: View, match: Any) -> None:
    """Write what one event says about a fact; `match` is `True`, or `Hidden` when its `where` cannot be read."""
    fact = run.contract.facts[index]
    source = fact.sources[slot]
    table = _own_table(run, index, view)
    for element in _elements(run, source, view):
        if element is None:
            table.veil(view.seq)
            continue
        key = SINGLE if source.key is None else _key(table, run.evidence(source.key, element), view)
        if key is ABSENT:
            continue
        if index in run.key_index:
            run.key_index[index].add(from_key(key), key)
        if match is not True:
            table.cloud(key, view.seq)
        else:
            table.write(_own_epoch(run, index, view), key, _value(run, source, element), view.seq)


def _elements(run: Run, source: Any, view: View) -> list[View | None]:
    """Return a view for each element of `each`; none stands for elements that cannot be told."""
    if source.each is None:
        return [view]
    items = run.evidence(source.each, view)
    if isinstance(items, Hidden):
        return [None]
    if isinstance(items, list):
        return [view.element(item, position) for position, item in enumerate(items)]
    if isinstance(items, dict):
        return [view.element(item, from_key(name)) for name, item in items.items()]
    return []


def _value(run: Run, source: Any, view: View) -> Any:
    if source.value is not None:
        return run.evidence(source.value, view)
    if source.each is not None:
        return view.lookup("it")
    return view.lookup(default_name(source.selectors[0].what))


def default_name(what: str) -> str:
    """Return the name whose value a fact remembers when `value` is not given."""
    if what in {"result", "its result"}:
        return "data"
    return {"call": "args", "state": "state", "decision": "usage", "approval": "decision", "end": "trace"}.get(
        what, "text"
    )


def forget_fact(run: Run, index: int, slot: int, view: View, match: Any) -> None:
    """Forget what one event says is void."""
    forget = run.contract.facts[index].forget[slot]
    table = _own_table(run, index, view)
    epoch = _own_epoch(run, index, view)
    if forget.key is None:
        if match is True:
            table.forget_all(epoch, view.seq)
        else:
            table.veil(view.seq)
        return
    key = _key(table, run.evidence(forget.key, view), view)
    if key is ABSENT:
        return
    if match is True:
        table.forget(epoch, key, view.seq)
    else:
        table.cloud(key, view.seq)


def _key(table: Table, value: Any, view: View) -> Any:
    """Return what an entry is under; `ABSENT` for a value that is none, and a hidden one may be any entry."""
    if isinstance(value, Missing):
        return ABSENT
    try:
        return key_of(value)
    except Undecided:
        table.veil(view.seq)
        return ABSENT


def _own_table(run: Run, index: int, view: View) -> Table:
    lane: LaneState | None = view.lane
    table: Table = (run.world if run.plan.world[index] or lane is None else lane).tables[index]
    return table


def _own_epoch(run: Run, index: int, view: View) -> int:
    lane: LaneState | None = view.lane
    return 0 if run.plan.world[index] or lane is None else lane.epoch

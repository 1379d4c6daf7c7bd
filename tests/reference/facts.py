"""Facts: values remembered from earlier events, as one event may know them (SEMANTICS 4 and 7)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from outstep.contracts.model import Fact, FactSource, Forget
from outstep.contracts.selectors import Selector
from outstep.events import Event, State
from outstep.expr.values import Hidden, Missing, Undecided, Value, key_of

from .known import LANELESS, Hole
from .views import CONDITION, EVIDENCE, View, bound

if TYPE_CHECKING:
    from .scene import Scene

EVERY = object()
"""In place of a key: it may be any."""

When = tuple[float, int]
"""Where a write stands: its event, and which of the event's writes it is."""


class Write(Struct, frozen=True, eq=False):
    """One event wrote an entry; or perhaps did, where what decides it is hidden."""

    when: When
    key: Any
    shown_key: Value
    value: Value
    is_sure: bool


class Erasure(Struct, frozen=True, eq=False):
    """One event forgot an entry, or every entry; or perhaps did."""

    when: When
    key: Any
    is_sure: bool


class Past(Struct, eq=False):
    """What happened to one fact, as far as one event may know it."""

    writes: list[Write]
    erasures: list[Erasure]
    hidden_writes: list[tuple[Hole, bool]]
    """Holes that may hide a writer; true where it may be older than the hole: a child's return."""
    hidden_erasures: list[Hole]


class Facts:
    """The facts of a contract over one trace."""

    def __init__(self, scene: Scene, facts: Sequence[Fact]) -> None:
        self._scene = scene
        self._facts = {fact.name: fact for fact in facts}
        self._writes: dict[tuple[str, int], list[Write]] = {}
        self._erasures: dict[tuple[str, int], list[Erasure]] = {}
        self._pasts: dict[tuple[str, int], Past] = {}

    @property
    def names(self) -> Iterable[str]:
        """The names of the facts."""
        return self._facts

    def fact(self, name: str) -> Fact:
        """Return a fact by name."""
        return self._facts[name]

    def read(self, name: str, view: View) -> Value:
        """Return a fact as an event may know it: a value, or a map by key."""
        fact = self._facts[name]
        entry = Entries(fact, self._past(fact, view.event))
        return entry if fact.keyed else entry.index("")

    def holds(self, name: str, view: View) -> Value:
        """Return whether a fact of one value was ever written."""
        return self.entries(name, view).holds("")

    def entries(self, name: str, view: View) -> Entries:
        """Return the entries of a fact as an event may know them."""
        fact = self._facts[name]
        return Entries(fact, self._past(fact, view.event))

    def _past(self, fact: Fact, event: Event) -> Past:
        key = (fact.name, event.seq)
        if key not in self._pasts:
            self._pasts[key] = self._find_past(fact, event)
        return self._pasts[key]

    def _find_past(self, fact: Fact, event: Event) -> Past:
        trace = self._scene.trace
        known = trace.known(event)
        past = Past([], [], [], [])
        for x in trace.events:
            if x.seq in known or (isinstance(x, State) and x.seq < event.seq):
                past.writes += self.written(fact, x)
                past.erasures += self.erased(fact, x)
        self._hide(past, event, fact)
        return past

    def _hide(self, past: Past, event: Event, fact: Fact) -> None:
        """Add what may have happened unseen."""
        scene, trace = self._scene, self._scene.trace
        writers = [selector for source in fact.sources for selector in source.selectors]
        erasers = [selector for forget in fact.forget for selector in forget.selectors]
        for hole, lane in sorted(trace.known_holes(event), key=lambda pair: (pair[0].seq, pair[1])):
            if scene.may_hide_from(hole, lane, writers):
                past.hidden_writes.append((hole, trace.is_wide(hole, lane)))
            if scene.may_hide_from(hole, lane, erasers):
                past.hidden_erasures.append(hole)
        if not isinstance(event, LANELESS):
            # Snapshots of the state are read in log order, also where the lane does not know of them.
            for hole in trace.holes:
                if hole.seq < event.seq and scene.may_hide(hole, _of_state(writers)):
                    past.hidden_writes.append((hole, False))
                if hole.seq < event.seq and scene.may_hide(hole, _of_state(erasers)):
                    past.hidden_erasures.append(hole)
        if scene.doubts_unrecorded:
            anywhere = [Hole(seq=-0.5, at=-0.5), Hole(seq=float("inf"), at=float("inf"))]
            past.hidden_writes += [(hole, False) for hole in anywhere if any(map(scene.is_unrecorded, writers))]
            past.hidden_erasures += [hole for hole in anywhere if any(map(scene.is_unrecorded, erasers))]

    # Writing

    def written(self, fact: Fact, event: Event) -> list[Write]:
        """Return what one event writes, in order."""
        key = (fact.name, event.seq)
        if key not in self._writes:
            found: list[Write] = []
            for source in fact.sources:
                for view, truth in self._scene.picked(source.selectors, event, EVIDENCE):
                    if not isinstance(truth, Missing):
                        found += self._entries_of(source, view, truth is True, len(found))
            self._writes[key] = found
        return self._writes[key]

    def _entries_of(self, source: FactSource, view: View, is_sure: bool, count: int) -> list[Write]:
        found: list[Write] = []
        for element in self._elements(source, view):
            when = (view.event.seq, count + len(found))
            if isinstance(element, Hidden):
                found.append(Write(when, EVERY, None, element, False))
                continue
            inner = View(event=view.event, claim=view.claim, element=element) if source.each is not None else view
            key: Value = "" if source.key is None else self._scene.evidence(source.key, inner)
            hashed = _hashed(key)
            if isinstance(hashed, Missing):
                continue
            if isinstance(hashed, Hidden):
                found.append(Write(when, EVERY, None, hashed, False))
                continue
            found.append(Write(when, hashed, key, self._value(source, inner), is_sure))
        return found

    def _elements(self, source: FactSource, view: View) -> list[Any]:
        if source.each is None:
            return [None]
        return elements_of(self._scene.evidence(source.each, view))

    def _value(self, source: FactSource, view: View) -> Value:
        if source.value is not None:
            return self._scene.evidence(source.value, view)
        if view.element is not None:
            return view.element[0]
        names = bound(self._scene, view)
        for name in ("data", "args", "state", "text"):
            if name in names:
                return names[name]
        return Missing("the event has no value to remember")

    def erased(self, fact: Fact, event: Event) -> list[Erasure]:
        """Return what one event forgets."""
        key = (fact.name, event.seq)
        if key not in self._erasures:
            self._erasures[key] = [
                self._erasure(forget, view, truth is True)
                for forget in fact.forget
                for view, truth in self._scene.picked(forget.selectors, event, CONDITION)
            ]
        return self._erasures[key]

    def _erasure(self, forget: Forget, view: View, is_sure: bool) -> Erasure:
        when = (view.event.seq, 1 << 30)
        if forget.key is None:
            return Erasure(when, EVERY, is_sure)
        hashed = _hashed(self._scene.value(forget.key, view, CONDITION))
        if isinstance(hashed, Missing | Hidden):
            return Erasure(when, EVERY, False)
        return Erasure(when, hashed, is_sure)


def _of_state(selectors: Iterable[Selector]) -> list[Selector]:
    return [selector for selector in selectors if selector.what == "state"]


def elements_of(value: Value) -> list[Any]:
    """Return `(it, at)` of a list or object; a missing one has none, a hidden one may have any."""
    if isinstance(value, list):
        return [(item, index) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return [(item, name) for name, item in value.items()]
    return [value] if isinstance(value, Hidden) else []


def _hashed(key: Value) -> Hashable | Missing | Hidden:
    if isinstance(key, Missing | Hidden):
        return key
    try:
        return key_of(key)
    except Undecided as error:
        return Hidden(str(error))


class Entries:
    """One fact as one event may know it, by the definitions of W(f, k, e) and of facts under gaps."""

    def __init__(self, fact: Fact, past: Past) -> None:
        self._fact = fact
        self._past = past

    def index(self, key: Value) -> Value:
        """Return f[k]."""
        hashed = _hashed(key)
        if isinstance(hashed, Missing | Hidden):
            return hashed
        sure = self._sure(hashed)
        doubts = self._hidden_writes(hashed)
        erasures = self._hidden_erasures(hashed)
        if not sure:
            return Hidden(f"a gap may hide `{self._fact.name}`") if doubts or erasures else None
        newest, oldest = sure[-1], sure[0]
        hidden = Hidden(f"a gap may hide a newer `{self._fact.name}`")
        if self._fact.keep == "last":
            return hidden if any(when > newest.when for when in doubts + erasures) else newest.value
        if self._fact.keep == "all":
            return hidden if doubts or erasures else [write.value for write in sure]
        returns = any(wide for hole, wide in self._past.hidden_writes if hole.seq > self._base(hashed)[0])
        if returns or erasures or any(when < oldest.when for when in doubts):
            return hidden
        return oldest.value

    def holds(self, key: Value) -> bool | Hidden:
        """Return whether there was a writer of k; true stays true unless it may have been forgotten."""
        hashed = _hashed(key)
        if isinstance(hashed, Hidden):
            return hashed
        if isinstance(hashed, Missing):
            return False
        sure = self._sure(hashed)
        erasures = self._hidden_erasures(hashed)
        if sure and not any(when > sure[-1].when for when in erasures):
            return True
        if not sure and not erasures and not self._hidden_writes(hashed):
            return False
        return Hidden(f"a gap may hide whether `{self._fact.name}` has this entry")

    def sure_keys(self) -> list[Value]:
        """Return the keys that are surely there, in the order in which they were first written."""
        found: dict[Hashable, Value] = {}
        for write in sorted(self._past.writes, key=lambda write: write.when):
            if write.is_sure and write.when > self._base(write.key):
                found.setdefault(write.key, write.shown_key)
        return [key for key in found.values() if self.holds(key) is True]

    def keys(self) -> list[Value] | Hidden:
        """Return all keys, or hidden where there may be more or fewer."""
        hidden = Hidden(f"a gap may hide entries of `{self._fact.name}`")
        base = self._base(EVERY)
        if any((hole.seq, 0) > base for hole, _ in self._past.hidden_writes):
            return hidden
        for write in self._past.writes:
            if write.key is EVERY and write.when > base:
                return hidden
            if write.key is not EVERY and isinstance(self.holds(write.shown_key), Hidden):
                return hidden
        return self.sure_keys()

    @property
    def size(self) -> int | Hidden:
        """Number of keys."""
        keys = self.keys()
        return keys if isinstance(keys, Hidden) else len(keys)

    # The sets of the definitions

    def _base(self, key: Any) -> When:
        """Return where the last known `forget` of the key stands."""
        return max(
            (erasure.when for erasure in self._past.erasures if erasure.is_sure and erasure.key in (key, EVERY)),
            default=(-1.0, 0),
        )

    def _sure(self, key: Hashable) -> list[Write]:
        """W(f, k, e), oldest first."""
        base = self._base(key)
        found = [write for write in self._past.writes if write.is_sure and write.key == key and write.when > base]
        return sorted(found, key=lambda write: write.when)

    def _hidden_writes(self, key: Hashable) -> list[When]:
        """Return where a write of the key may be hidden."""
        base = self._base(key)
        found = [write.when for write in self._past.writes if not write.is_sure and write.key in (key, EVERY)]
        found += [(hole.seq, 0) for hole, _ in self._past.hidden_writes]
        return [when for when in found if when > base]

    def _hidden_erasures(self, key: Hashable) -> list[When]:
        """Return where a `forget` of the key may be hidden."""
        base = self._base(key)
        found = [erasure.when for erasure in self._past.erasures if not erasure.is_sure and erasure.key in (key, EVERY)]
        found += [(hole.seq, 0) for hole in self._past.hidden_erasures]
        return [when for when in found if when > base]

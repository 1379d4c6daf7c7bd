"""The verdict of the kinds that count: `at_most`, `at_least`, `exactly` (SEMANTICS 5, 6 and 7).

Under gaps every count is two numbers: what surely counts, and what may count.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from outstep.contracts.kinds import AtLeast, AtMost, Exactly
from outstep.contracts.model import Rule
from outstep.events import RunEnd, ToolCall
from outstep.expr.arithmetic import add
from outstep.expr.values import Hidden, Missing, Undecided, Value, key_of, show

from .instances import Case, cases
from .kinds import has_opened, missing_or_hidden
from .scene import Scene
from .verdicts import HIDDEN_EVIDENCE, UNFINISHED, Instance, first_of
from .views import CONDITION, View
from .windows import Stretch, doubts, stretches, window_of

Number = Any
"""An int or a Decimal."""


class Item(Struct, frozen=True, eq=False):
    """An event that counts, or may."""

    case: Case
    key: Hashable
    shown: str
    amount: Number
    """1, or what `sum` gives; none where that is hidden."""

    @property
    def seq(self) -> int:
        return self.case.seq


class Counted(Struct):
    """What a rule counts: the events that surely do, and instances for those that cannot be counted."""

    items: list[Item]
    undecided: list[Instance]
    """Events whose condition is undecided."""
    uncounted: list[Instance]
    """Events whose key, element or amount is missing or hidden."""
    doubtful: list[float]
    """Places of events that may count, under a key that may be any."""
    cuts: list[tuple[str, float]]
    """The same, each with its lane."""
    hidden_keys: list[Case]
    """Events that count under a key that is hidden."""
    vague: list[Item]
    """Events whose amount is missing, where that leaves their count open."""


def counts(scene: Scene, rule: Rule) -> list[Instance]:
    """Return the instances of a count."""
    if isinstance(rule.kind, AtLeast):
        return _Counts(scene, rule).at_least()
    if isinstance(rule.kind, Exactly):
        return _Counts(scene, rule).exactly()
    return _Counts(scene, rule).at_most()


class _Counts:
    """One counting rule on one trace."""

    def __init__(self, scene: Scene, rule: Rule) -> None:
        assert isinstance(rule.kind, AtMost | AtLeast | Exactly)
        self.scene = scene
        self.trace = scene.trace
        self.rule = rule
        self.bound = rule.kind.bound
        self.counted = self._count()

    def _count(self) -> Counted:
        found = Counted([], [], [], [], [], [], [])
        for case in cases(self.scene, self.rule):
            key = self._key(case)
            if case.applies is not True:
                found.doubtful.append(case.seq)
                found.cuts.append(_placed(case))
                found.undecided.append(case.undecided() or case.instance("inconclusive", HIDDEN_EVIDENCE))
            elif case.each is not None or isinstance(key, Missing | Hidden):
                undecided = case.each if case.each is not None else key
                if isinstance(undecided, Hidden) or self.rule.missing == "inconclusive":
                    found.doubtful.append(case.seq)
                    found.cuts.append(_placed(case))
                if case.each is None and isinstance(key, Hidden):
                    found.hidden_keys.append(case)
                found.uncounted.append(Instance(case.seq, "", *missing_or_hidden(self.rule, undecided)))  # type: ignore[arg-type]
            else:
                self._add(found, case, *key)
        return found

    def _add(self, found: Counted, case: Case, key: Hashable, shown: str) -> None:
        amount: Value = 1
        if self.rule.total is not None:
            amount = self.scene.evidence(self.rule.total, case.view)
            is_missing = not isinstance(amount, Hidden) and not _is_amount(amount)
            if is_missing and self._is_bound_missing(case):
                found.items.append(Item(case, key, shown, None))
                return
            if is_missing:
                judged = missing_or_hidden(self.rule, Missing("`sum` takes numbers from 0 on"))
                found.uncounted.append(Instance(case.seq, shown, *judged))  # type: ignore[arg-type]
                if self.rule.missing == "inconclusive":
                    found.vague.append(Item(case, key, shown, None))
                return
        found.items.append(Item(case, key, shown, None if isinstance(amount, Hidden) else amount))

    def _is_bound_missing(self, case: Case) -> bool:
        """Return whether the bound cannot be read at an event: that settles its count, whatever it would add."""
        if not isinstance(self.rule.kind, AtMost):
            return False
        bound = self.scene.evidence(self.bound, case.view)
        return not isinstance(bound, Hidden) and not _is_number(bound)

    def _key(self, case: Case) -> Value:
        """Return the key of a count and its text, or `Missing`, or `Hidden`."""
        rule = self.rule
        if rule.per_turn:
            decision = self.trace.decision(case.view.event)
            return (decision or case.seq, "")
        values = [self.scene.evidence(expr, case.view) for expr in rule.per]
        for kind in (Hidden, Missing):
            for value in values:
                if isinstance(value, kind):
                    return value
        try:
            hashed = tuple(map(key_of, values))
        except Undecided as undecided:
            return Hidden(str(undecided))
        return (hashed, ", ".join(map(show, values)))

    # at_most

    def at_most(self) -> list[Instance]:
        """No count goes over the bound read at any of its events."""
        for item in self.counted.items:
            if item.amount is None and not self._is_bound_missing(item.case):
                self.counted.uncounted.append(Instance(item.seq, item.shown, "inconclusive", HIDDEN_EVIDENCE))
        counted = self._effects() if self.rule.counting == "effects" else self._over()
        return [*self.counted.undecided, *self.counted.uncounted, *counted]

    def _veiled(self, group: Sequence[Item], judged: Instance) -> Instance:
        """An event with a hidden key may count under every key of its window."""
        hidden = [case for case in self.counted.hidden_keys if case.window.start == group[0].case.window.start]
        if judged.verdict != "satisfied" or not hidden or isinstance(self.rule.kind, Exactly):
            return judged
        return Instance(hidden[0].seq, judged.key, "inconclusive", HIDDEN_EVIDENCE)

    def _over(self) -> list[Instance]:
        """Return an instance for each count: violated at the first event that is over the bound."""
        found: list[Instance] = []
        for group in self._groups():
            judged = [self._at(item, group) for item in group]
            whole = (
                first_of(judged, "violated")
                or first_of(judged, "inconclusive")
                or Instance(None, group[0].shown, "satisfied")
            )
            found.append(self._veiled(group, whole))
        return found

    def _groups(self) -> list[list[Item]]:
        """Return the events of each count: one key in one window, and in a row in one lane."""

        def name(item: Item) -> Hashable:
            lane = getattr(item.case.view.event, "agent", "main") if self.rule.in_a_row else ""
            # What was done is counted run by run; elsewhere each event looks back to where its own run began.
            run = self._run_of(item) if self.rule.in_a_row and self.rule.counting == "effects" else None
            return (item.case.window.start, item.key, lane, run)

        return _by([x for x in self.counted.items if x.amount is not None or self._is_bound_missing(x.case)], name)

    def _at(self, item: Item, group: Sequence[Item]) -> Instance:
        """Judge a count at one of its events, itself included."""
        case = item.case
        bound = self.scene.evidence(self.bound, case.view)
        if not isinstance(bound, Hidden) and not _is_number(bound):
            return Instance(item.seq, item.shown, *missing_or_hidden(self.rule, Missing("the bound is no number")))  # type: ignore[arg-type]
        if isinstance(bound, Hidden):
            return Instance(item.seq, item.shown, "inconclusive", HIDDEN_EVIDENCE)
        earlier = [
            x for x in group if x.seq < item.seq or x is item or (x.seq == item.seq and _is_before(x, item, group))
        ]
        if self.rule.in_a_row:
            run = self._run_of(item)
            earlier = [x for x in earlier if self._run_of(x) == run]
        possible = [x for x in earlier if not self._is_known_failure(x, item)]
        sure = [x for x in possible if self._surely_counts(x, item)]
        if _total(sure) > bound:
            return Instance(item.seq, item.shown, "violated")
        if _total(possible) > bound or self._may_be_more(item):
            return Instance(item.seq, item.shown, "inconclusive", HIDDEN_EVIDENCE)
        return Instance(item.seq, item.shown, "satisfied")

    def _may_be_more(self, item: Item) -> bool:
        """Return whether a hidden event may belong to a count that holds as far as it can be seen."""
        if self.rule.total is None and self.rule.counting != "unless_failed":
            return False  # that is said by `hidden-trigger`
        return bool(self.scene.holes_that_hide(self.rule.triggers, item.case.window.start, item.seq))

    def _surely_counts(self, x: Item, item: Item) -> bool:
        """Return whether an earlier event counts at this one, whatever the gaps hide."""
        if x is item:
            return True
        if self.trace.at(x.case.view.event) <= item.case.window.surest:
            return False
        if self.rule.in_a_row and any(x.seq < cut < item.seq for cut in self._cuts(item)):
            return False
        if self.rule.counting == "unless_failed":
            return self._is_settled(x, item)
        return True

    def _is_known_failure(self, x: Item, item: Item) -> bool:
        if self.rule.counting != "unless_failed" or x is item:
            return False
        result = self.trace.pairing.result_of.get(x.seq)
        if result is None or result.seq not in self.trace.known(item.case.view.event):
            return False
        return self.scene.outcome(result) in ("failed", "denied")

    def _is_settled(self, x: Item, item: Item) -> bool:
        """Return whether, when a call is made, an earlier one has its result, or can have none that is hidden."""
        result = self.trace.pairing.result_of.get(x.seq)
        if result is not None and result.seq < item.seq:
            return True
        holes = self.trace.known_holes(item.case.view.event)
        return not any(hole.seq > x.seq and hole.can_hide("tool.result") for hole, _ in holes)

    # in_a_row

    def _units(self, lane: str, start: float) -> list[tuple[float, list[Item]]]:
        """Return the decisions of a lane (of delivered events: the events) that hold events of `for`, in order."""
        units: dict[float, list[Item]] = {}
        for item in self.counted.items:
            event = item.case.view.event
            if getattr(event, "agent", "main") == lane and item.case.window.start == start:
                units.setdefault(self.trace.at(event), []).append(item)
        return sorted(units.items())

    def _run_of(self, item: Item) -> Hashable:
        """Return what tells one run of a value from the next: its lane, and the decision in which it began."""
        event = item.case.view.event
        lane = getattr(event, "agent", "main")
        began: float = self.trace.at(event)
        at = began
        for unit, items in reversed(self._units(lane, item.case.window.start)):
            if unit > at:
                continue
            if not any(x.key == item.key for x in items):
                break
            began = unit
        return (lane, began)

    def _cuts(self, item: Item) -> list[float]:
        """Return where a run may have been broken unseen."""
        lane = getattr(item.case.view.event, "agent", "main")
        found = [hole.seq for hole in self.scene.holes_that_hide(self.rule.triggers) if hole.is_in(lane)]
        return found + [place for agent, place in self.counted.cuts if agent == lane]

    # effects

    def _effects(self) -> list[Instance]:
        """Count what was done: calls that went well, may have, or have no result."""
        found: list[Instance] = []
        for group in self._groups():
            possible, sure = self._done(group)
            bound = self.scene.evidence(self.bound, group[0].case.view)
            shown = group[0].shown
            if not _is_number(bound):
                judged = missing_or_hidden(self.rule, Missing("the bound is no number"))
                found.append(Instance(group[0].seq, shown, *judged))  # type: ignore[arg-type]
            elif len(sure) > bound:
                found.append(Instance(_over_bound(sure, bound), shown, "violated"))
            elif len(possible) > bound:
                found.append(Instance(_over_bound(possible, bound), shown, "inconclusive", HIDDEN_EVIDENCE))
            else:
                found.append(self._veiled(group, Instance(None, shown, "satisfied")))
        return found

    def _done(self, group: Sequence[Item]) -> tuple[list[Item], list[Item]]:
        """Return the calls that may count, in the order in which that is settled, and those that surely do."""
        settled: list[tuple[int, Item]] = []
        unanswered: list[Item] = []
        doubtful: list[Item] = []
        for item in group:
            call = item.case.view.event
            assert isinstance(call, ToolCall)
            result = self.trace.pairing.result_of.get(call.seq)
            if result is None:
                unanswered.append(item)
                if any(
                    x.seq > call.seq and x.can_hide("tool.result") and x.is_in(call.agent) for x in self.trace.holes
                ):
                    doubtful.append(item)
            elif self.scene.outcome(result) in ("ok", "unknown"):
                settled.append((result.seq, item))
        possible = [item for _, item in sorted(settled, key=lambda pair: pair[0])] + unanswered
        return possible, [item for item in possible if item not in doubtful]

    # at_least, exactly

    def at_least(self) -> list[Instance]:
        """Every window (and key in it) holds at least so many."""
        if has_opened(self.scene, self.rule) is False:
            return []
        missing = self._uncounted()
        return (missing + [self._lower(*part) for part in self._parts()]) or [self._of_no_window()]

    def exactly(self) -> list[Instance]:
        """Every window (and key in it) holds exactly so many."""
        if has_opened(self.scene, self.rule) is False:
            return []
        over = self._effects() if self.rule.counting == "effects" else self._over()
        missing = self._uncounted()
        over = [instance for instance in over if instance.verdict != "satisfied"]
        # A count that is over the bound will not come down again; the others are settled at their end.
        rest = [part for part in self._parts() if not self._is_among(part, over)]
        found = missing + over + [self._lower(*part, is_exact=True) for part in rest]
        return found or [self._of_no_window()]

    def _of_no_window(self) -> Instance:
        """Return the instance of a run in which nothing was counted."""
        if has_opened(self.scene, self.rule) is True:
            return Instance(None, "", "satisfied")
        return Instance(None, "", "inconclusive", HIDDEN_EVIDENCE)

    def _uncounted(self) -> list[Instance]:
        """Return the instances of events that a lower bound cannot take."""
        if self.rule.per or self.rule.per_turn:
            return [*self.counted.undecided, *self.counted.uncounted]
        return self.counted.uncounted  # an event of undecided condition may, but need not, be one

    def _is_among(self, part: tuple[Stretch, str, list[Item]], over: Sequence[Instance]) -> bool:
        return any(instance.seq in [item.seq for item in part[2]] and instance.key == part[1] for instance in over)

    def _parts(self) -> list[tuple[Stretch, str, list[Item]]]:
        """Return every window with a key and the events of it."""
        rule = self.rule
        joined = self.scene.is_joined(rule, [*rule.after, *rule.until])
        windows = [] if joined else stretches(self.scene, rule)
        if rule.per or rule.per_turn or joined:
            found: list[tuple[Stretch, str, list[Item]]] = []
            for group in _by(self.counted.items, lambda item: (self._opened(item), item.key)):
                start = self._opened(group[0])
                window = next((window for window in windows if window.start == start), Stretch(start, None))
                found.append((window, group[0].shown, group))
            return found
        return [(window, "", [x for x in self.counted.items if self._opened(x) == window.start]) for window in windows]

    def _opened(self, item: Item) -> float:
        """Return where the window of an event opened, `since` not considered."""
        if not self.rule.since:
            return item.case.window.start
        return window_of(self.scene, replace(self.rule, since=()), item.case.view).start

    def _lower(self, window: Stretch, shown: str, items: list[Item], is_exact: bool = False) -> Instance:
        """Judge a window when it ends: `since` leaves only what stands behind the newest such event."""
        rule = self.rule
        end = float("inf") if window.end is None else window.end
        # The bound reads `params` and `trace` only, so it is the same everywhere.
        bound = self.scene.evidence(self.bound, View(event=RunEnd(seq=self.trace.last + 1)))
        if not _is_number(bound):
            return Instance(None, shown, *missing_or_hidden(rule, Missing("the bound is no number")))  # type: ignore[arg-type]
        surely, perhaps = self._newest_since(window.start, end)
        possible = [item for item in items if self.trace.at(item.case.view.event) > surely]
        sure = [item for item in possible if self.trace.at(item.case.view.event) > perhaps]
        unclear = bool(doubts(self.scene, rule, end)) if rule.after or rule.until else False
        holes = self.scene.holes_that_hide(rule.triggers, max(window.start, surely), end)
        doubtful = any(window.start < seq <= end for seq in self.counted.doubtful)
        doubtful = doubtful or any(item.amount is None for item in possible)
        doubtful = doubtful or any(
            self._opened(x) == window.start and x.shown == shown and self.trace.at(x.case.view.event) > surely
            for x in self.counted.vague
        )
        more = bool(holes) or doubtful
        least, most = _total(sure), _total(possible)
        if least >= bound and not unclear and not (is_exact and doubtful):
            return Instance(None, shown, "satisfied")
        if least >= bound or most >= bound or unclear or more:
            return Instance(None, shown, "inconclusive", HIDDEN_EVIDENCE)
        if window.end is None and self.trace.end == "aborted":
            return Instance(None, shown, "inconclusive", UNFINISHED)
        return Instance(None, shown, "violated")

    def _newest_since(self, start: float, end: float) -> tuple[float, float]:
        """Return where the newest `since` of a window stands, and where it may."""
        surely = perhaps = start
        if not self.rule.since:
            return surely, perhaps
        for event in self.trace.events:
            if start < event.seq < end:
                truths = [truth for _, truth in self.scene.picked(self.rule.since, event, CONDITION)]
                if any(truth is True for truth in truths):
                    surely = perhaps = event.seq
                elif truths:
                    perhaps = event.seq
        for hole in self.scene.holes_that_hide(self.rule.since, start, end):
            perhaps = max(perhaps, hole.seq)
        return surely, perhaps


def _placed(case: Case) -> tuple[str, float]:
    """Return the lane and place of an event."""
    return (getattr(case.view.event, "agent", "main"), case.seq)


def _by(items: Sequence[Item], name: Any) -> list[list[Item]]:
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(name(item), []).append(item)
    return list(groups.values())


def _is_before(x: Item, item: Item, group: Sequence[Item]) -> bool:
    """Return whether, of two elements of one event, one is written before the other."""
    order = list(map(id, group))
    return order.index(id(x)) < order.index(id(item))


def _is_number(value: Value) -> bool:
    return type(value) in (int, Decimal)


def _is_amount(value: Value) -> bool:
    return _is_number(value) and value >= 0


def _total(items: Sequence[Item]) -> Number:
    total: Number = 0
    for item in items:
        if item.amount is not None:
            total = add(total, item.amount)
    return total


def _over_bound(items: Sequence[Item], bound: Number) -> int:
    """Return the place of the event that goes over the bound."""
    for count, item in enumerate(items, 1):
        if count > bound:
            return item.seq
    return items[-1].seq

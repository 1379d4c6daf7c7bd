"""What the counts share: keys, windows, numbers that grow (SEMANTICS section 6)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds.base import Quiet, Run, View
from outstep.expr.values import Hidden, Missing, from_key, show
from outstep.findings import Witness

if TYPE_CHECKING:
    from outstep.contracts.model import Rule

ALL = ()
"""The key when a rule has no `per`."""


class Tally:
    """One count: how much has happened under one key, in one window."""

    __slots__ = ("amount", "doubt", "first", "is_reported", "open", "recent", "since", "turn")

    def __init__(self, since: int) -> None:
        self.since = since
        """Where its window begins."""
        self.amount: Any = 0
        self.is_reported = False
        self.doubt: tuple[View, str] | None = None
        self.first: int | None = None
        self.open: dict[int, Any] = {}
        """Calls whose result has not come yet, with what each counts."""
        self.recent: list[tuple[int, int, Any]] = []
        """Since there are gaps: where each decision opened and each event stands, and what it counts."""
        self.turn = 0
        """In a row: the number of the decision in which it grew last."""


class CountingMonitor(Quiet):
    """Keeps the counts of a rule by key; kinds ask it for the bound."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        self.tallies: dict[Any, Tally] = {}
        self.has_undecided = False
        """An event may count here, and it cannot be told."""
        self.is_veiled = False
        """A key was hidden: any count may be higher than it shows."""
        self._veils: dict[int, View] = {}
        """By where its window begins: the first event whose key was hidden."""
        self._rows: dict[Any, tuple[Any, int]] = {}
        self.cuts: dict[str, int] = {}
        """In a row, by lane: where the newest event stands whose value cannot be told: it may have ended a row."""
        self._past: dict[Any, Tally] = {}
        """In a row: counts that started again, and were in doubt before."""
        self._has_window = bool(rule.after or rule.since)
        self._ended = -1
        """Where the newest window begins: counts of earlier ones are settled."""

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.tallies.clear()
        self.is_veiled = self.has_undecided = False
        self._veils.clear()
        self._rows.clear()
        self._ended = -1
        self._past.clear()
        self.cuts.clear()

    def doubted(self, view: Any) -> None:
        """Take note that an event may count here, and it cannot be told."""
        self.has_undecided = True
        self._cut(view)

    def _cut(self, view: Any) -> None:
        if self.rule.in_a_row:
            self.cuts[_lane_of(view)] = view.seq

    # -- one event ---------------------------------------------------------------------------------------------------

    def tally_of(self, view: View) -> tuple[Any, Tally] | None:
        """Return the key and the count that an event belongs to; settles the instance itself where it cannot tell."""
        key = self.key_of(view)
        if key is None:
            return None
        begins = self._begins(view)
        if self.rule.in_a_row:
            return key, self._in_a_row(key, view, begins)
        slot = (key, begins) if begins >= 0 else key
        tally = self.tallies.get(slot)
        if tally is None:
            self._settle_ended(view, begins)
            tally = self.tallies[slot] = Tally(begins)
        return key, tally

    def _begins(self, view: View) -> int:
        return int(self.run.begins(self.index, self.rule, view)[0]) if self._has_window else -1

    def _settle_ended(self, view: View, begins: int) -> None:
        """Settle counts to which nothing can be added any more, so that they need not be kept."""
        run: Any = self.run
        if not view.is_issued or self.rule.counting == "effects" or run.header.lanes or len(run.lanes) > 1:
            return
        if self.rule.per_turn:
            ended = [slot for slot, tally in self.tallies.items() if self._key_in(slot, tally)[1] < view.lane.start]
        elif begins > self._ended and not run.plan.has_joined_window(self.index, self.rule):
            self._ended = begins
            ended = [slot for slot, tally in self.tallies.items() if tally.since < begins]
            self._rows = {row: last for row, last in self._rows.items() if row[1] >= begins}
        else:
            return
        self.end_counts({slot: self.tallies.pop(slot) for slot in ended})

    def end_counts(self, tallies: dict[Any, Tally]) -> None:
        """Settle counts to which nothing can be added any more."""
        for slot, tally in tallies.items():
            # One instance for each key, lane and window: the row that was in doubt first stands for it.
            past = self._past.pop(slot, None)
            self._settle_count(slot, tally if past is None or tally.is_reported else past)

    def key_of(self, view: View) -> Any:
        """Return the key of an event; none after settling an unreadable one."""
        if self.rule.per_turn:
            return (_lane_of(view), view.at)
        if not self.rule.per:
            return ALL
        key = self.run.read_key(self.rule.per, view)
        if isinstance(key, Hidden):
            self.is_veiled = True
            self._veils.setdefault(self._begins(view), view)
            self._cut(view)
            self.run.unreadable(self.index, view, key, "")
            return None
        if isinstance(key, Missing):
            if self.rule.missing == "inconclusive":
                self.has_undecided = True
                self._cut(view)
            self.run.unreadable(self.index, view, key, "")
            return None
        return key

    def _in_a_row(self, key: Any, view: View, begins: int) -> Tally:
        """Return the count of a value in its lane and window; it starts again behind a decision without the value."""
        lane = _lane_of(view)
        row = (lane, begins)
        place, number = self._rows.get(row, (None, 0))
        here = view.at if view.is_issued else view.seq
        if place != here:
            number += 1
            self._rows[row] = (here, number)
        slot = (key, lane, begins)
        tally = self.tallies.get(slot)
        if tally is None:
            self._settle_ended(view, begins)
        if tally is None or number - tally.turn > 1:
            if tally is not None and tally.doubt is not None and not tally.is_reported:
                self._past.setdefault(slot, tally)
            reported = tally is not None and tally.is_reported
            tally = self.tallies[slot] = Tally(begins)
            tally.is_reported = reported
        tally.turn = number
        return tally

    def amount(self, view: View) -> Any:
        """Return what an event counts: 1, or the value of `sum`; none after settling an unreadable one."""
        value = self.read_amount(view)
        if isinstance(value, Missing | Hidden):
            self.run.unreadable(self.index, view, value, "", self.key_text(view))
            return None
        return value

    def read_amount(self, view: View) -> Any:
        """Return what an event counts, `Missing` or `Hidden`."""
        if self.rule.total is None:
            return 1
        value = self.run.evidence(self.rule.total, view)
        if isinstance(value, Missing | Hidden) or (type(value) in {int, Decimal} and value >= 0):
            return value
        return Missing(f"`{self.rule.total.text}`: {show(value)} is no number from 0 on")

    def bound(self, expr: Any, view: View | None) -> Any:
        """Return the bound as a number, `Missing` or `Hidden`."""
        value = self.run.evidence(expr, view) if view is not None else self.run.constant(expr)
        if type(value) in {int, Decimal} or isinstance(value, Missing | Hidden):
            return value
        return Missing(f"`{expr.text}`: {show(value)} is no number")

    # -- too many ----------------------------------------------------------------------------------------------------

    def exceeds(self, view: View, tally: Tally, seen: Any, bound: Any, surely: Any) -> None:
        """Compare a count with its bound: `seen` is all that may count, `surely` what counts in every completion."""
        if isinstance(bound, Missing | Hidden):
            is_violated = isinstance(bound, Missing) and self.rule.missing == "violated"
            if is_violated and not tally.is_reported:
                self.run.unreadable(self.index, view, bound, "", self.key_text(view))
            elif not is_violated:
                tally.doubt = tally.doubt or (view, bound.reason)
            tally.is_reported = tally.is_reported or is_violated
            return
        if surely > bound:
            if not tally.is_reported:
                tally.is_reported = True
                self.report(view, tally, seen, bound)
        elif seen > bound and tally.doubt is None:
            tally.doubt = (view, "a gap may hide what would bring the count down")

    def report(self, view: View, tally: Tally, seen: Any, bound: Any) -> None:
        """Settle a count that is over its bound."""
        what = "the total" if self.rule.total is not None else "the count"
        witness = (Witness(seq=tally.first, note="counted first"),) if tally.first not in {None, view.seq} else ()
        self.run.settle(
            self.index,
            "violated",
            view,
            f"{what} is over the bound",
            key=self.key_text(view),
            values=(f"{show(seen)} > {show(bound)}",),
            witness=witness,
        )

    def key_text(self, view: View) -> str:
        """Return the key of an event as text for people."""
        if self.rule.per_turn or not self.rule.per:
            return ""
        return ", ".join(show(self.run.evidence(expr, view)) for expr in self.rule.per)

    def settle_keys(self) -> None:
        """At the end: every count that was never over its bound holds, unless something about it is in doubt."""
        self.end_counts(self.tallies)

    def _settle_count(self, slot: Any, tally: Tally) -> None:
        if tally.is_reported or (tally.first is None and tally.doubt is None):
            return  # said already, or nothing was counted
        if tally.doubt is not None:
            view, sentence = tally.doubt
            self.run.settle(
                self.index,
                "inconclusive",
                view,
                sentence,
                reason="hidden-evidence",
                key=self.key_text(view),
                missing=(sentence,),
            )
        elif tally.since in self._veils:
            self.run.settle(
                self.index,
                "inconclusive",
                self._veils[tally.since],
                "an event with a hidden key may count here",
                reason="hidden-evidence",
                key=self.text_of(self._key_in(slot, tally)),
            )
        else:
            self.run.tallies[3 * self.index] += 1

    def _key_in(self, slot: Any, tally: Tally) -> Any:
        """Return the key of a count from the slot under which it is kept."""
        return slot[0] if slot and (self.rule.in_a_row or tally.since >= 0) else slot

    def text_of(self, key: Any) -> str:
        """Return a key as text for people."""
        if self.rule.per_turn or not self.rule.per:
            return ""
        return ", ".join(show(from_key(part)) for part in key)


def _lane_of(view: Any) -> str:
    """Return the lane of an event; a snapshot of the state belongs to none."""
    return view.lane.id if view.lane is not None else ""

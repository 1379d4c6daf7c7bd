"""What the counts share: keys, windows, numbers that grow (SEMANTICS section 6)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from outstep.contracts.kinds.base import Quiet, Run, View
from outstep.expr.values import Hidden, Missing, show
from outstep.findings import Witness

if TYPE_CHECKING:
    from outstep.contracts.model import Rule

ALL = ()
"""The key when a rule has no `per`."""


class Tally:
    """One count: how much has happened under one key, in one window."""

    __slots__ = ("amount", "doubt", "first", "is_reported", "last_view", "open", "since", "turn")

    def __init__(self, since: int) -> None:
        self.since = since
        """Where its window begins."""
        self.amount: Any = 0
        self.is_reported = False
        self.doubt: tuple[View, str] | None = None
        self.first: int | None = None
        self.last_view: View | None = None
        self.open: dict[int, Any] = {}
        """Calls whose result has not come yet, with what each counts."""
        self.turn = 0
        """In a row: the number of the decision in which it grew last."""


class CountingMonitor(Quiet):
    """Keeps the counts of a rule by key; kinds ask it for the bound."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        self.tallies: dict[Any, Tally] = {}
        self.is_veiled = False
        """A key was hidden: any count may be higher than it shows."""
        self._rows: dict[str, tuple[Any, int]] = {}

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self.tallies.clear()
        self.is_veiled = False
        self._rows.clear()

    # -- one event ---------------------------------------------------------------------------------------------------

    def tally_of(self, view: View) -> tuple[Any, Tally] | None:
        """Return the key and the count that an event belongs to; settles the instance itself where it cannot tell."""
        key = self._key(view)
        if key is None:
            return None
        since = self._window(view)
        if since is None:
            return None
        if self.rule.in_a_row:
            return (key, view.lane.id), self._in_a_row(key, view, since)
        slot = (key, since) if since >= 0 else key
        tally = self.tallies.get(slot)
        if tally is None:
            tally = self.tallies[slot] = Tally(since)
        return key, tally

    def _key(self, view: View) -> Any:
        if self.rule.per_turn:
            return (view.lane.id, view.at)
        if not self.rule.per:
            return ALL
        key = self.run.read_key(self.rule.per, view)
        if isinstance(key, Hidden):
            self.is_veiled = True
            self.run.unreadable(self.index, view, key, "")
            return None
        if isinstance(key, Missing):
            self.run.unreadable(self.index, view, key, "")
            return None
        return key

    def _window(self, view: View) -> int | None:
        """Return where the count of an event begins: the latest `since`, or the opening of its window."""
        run: Any = self.run
        rule = self.rule
        begins = -1
        if rule.since:
            latest = run.latest(self.index, rule, "since", view)
            if isinstance(latest, Hidden) or run.is_doubtful(self.index, ("since",), rule.since, latest, view):
                run.settle(
                    self.index,
                    "inconclusive",
                    view,
                    "it cannot be told where the count starts",
                    reason="hidden-evidence",
                )
                return None
            begins = latest
        if rule.after:
            opened = run.latest(self.index, rule, "after", view)
            begins = max(begins, opened if isinstance(opened, int) else -1)
        return begins

    def _in_a_row(self, key: Any, view: View, since: int) -> Tally:
        lane = view.lane.id
        place, number = self._rows.get(lane, (None, 0))
        here = view.at if view.is_issued else view.seq
        if place != here:
            number += 1
            self._rows[lane] = (here, number)
        tally = self.tallies.get((key, lane))
        if tally is None or number - tally.turn > 1 or tally.since != since:
            reported = tally is not None and tally.is_reported
            tally = self.tallies[key, lane] = Tally(since)
            tally.is_reported = reported
        tally.turn = number
        return tally

    def amount(self, view: View) -> Any:
        """Return what an event counts: 1, or the value of `sum`; none after settling an unreadable one."""
        if self.rule.total is None:
            return 1
        value = self.run.evidence(self.rule.total, view)
        if type(value) in {int, Decimal} and value >= 0:
            return value
        if not isinstance(value, Hidden | Missing):
            value = Missing(f"`{self.rule.total.text}`: {show(value)} is no number from 0 on")
        self.run.unreadable(self.index, view, value, "")
        return None

    def bound(self, expr: Any, view: View | None) -> Any:
        """Return the bound as a number, `Missing` or `Hidden`."""
        value = self.run.evidence(expr, view) if view is not None else self.run.constant(expr)
        if type(value) in {int, Decimal} or isinstance(value, Missing | Hidden):
            return value
        return Missing(f"`{expr.text}`: {show(value)} is no number")

    # -- too many ----------------------------------------------------------------------------------------------------

    def exceeds(self, view: View, key: Any, tally: Tally, seen: Any, bound: Any, surely: Any) -> None:
        """Compare a count with its bound: `seen` is all that may count, `surely` what counts in every completion."""
        if isinstance(bound, Missing | Hidden):
            if not tally.is_reported:
                tally.is_reported = isinstance(bound, Missing)
                self.run.unreadable(self.index, view, bound, "")
            return
        if surely > bound:
            if not tally.is_reported:
                tally.is_reported = True
                self.report(view, key, tally, seen, bound)
        elif seen > bound and tally.doubt is None:
            tally.doubt = (view, "a gap may hide a failure that would make this one the only one")

    def report(self, view: View, key: Any, tally: Tally, seen: Any, bound: Any) -> None:
        """Settle a count that is over its bound."""
        what = "the total" if self.rule.total is not None else "the count"
        witness = (Witness(seq=tally.first, note="counted first"),) if tally.first not in {None, view.seq} else ()
        self.run.settle(
            self.index,
            "violated",
            view,
            f"{what} is over the bound",
            key=self.key_text(key),
            values=(f"{show(seen)} > {show(bound)}",),
            witness=witness,
        )

    def key_text(self, key: Any) -> str:
        """Return a key as text for people."""
        return "" if key == ALL or self.rule.per_turn else self.run.key_text(key)

    def settle_keys(self) -> None:
        """At the end: every count that was never over its bound holds, unless something about it is in doubt."""
        for key, tally in self.tallies.items():
            if tally.is_reported:
                continue
            if tally.doubt is not None:
                view, sentence = tally.doubt
                self.run.settle(
                    self.index,
                    "inconclusive",
                    view,
                    sentence,
                    reason="hidden-evidence",
                    key=self.key_text(key),
                    missing=(sentence,),
                )
            elif self.is_veiled:
                self.run.settle(
                    self.index,
                    "inconclusive",
                    tally.last_view,
                    "an event with a hidden key may count here",
                    reason="hidden-evidence",
                    key=self.key_text(key),
                )
            else:
                self.run.settle(self.index, "satisfied", None)

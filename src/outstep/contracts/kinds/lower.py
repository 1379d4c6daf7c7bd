"""A lower bound of a count, as `at_least` and `exactly` hold it (SEMANTICS section 6).

A count starts anew in each window of `after` and `until`, and at each event of `since`; it is settled when its window
ends, or at the end of the run.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from outstep.contracts.kinds.base import View
from outstep.contracts.kinds.counting import ALL, CountingMonitor
from outstep.contracts.selectors import Expr
from outstep.expr.values import Hidden, Missing, show

START = -1
_NO_WINDOW = "it cannot be told whether a window of `after` opened"


class LowerBound:
    """Says for each window and key whether its count reached the bound."""

    def __init__(self, counting: CountingMonitor, bound: Expr, *, is_exact: bool = False) -> None:
        self._counting = counting
        self._bound = bound
        self._is_exact = is_exact
        self._run: Any = counting.run
        self._rule = counting.rule
        self._windows: dict[int, dict[Any, list[tuple[int, Any]]]] = {}
        self._opened: int | None = None
        self._opens_at = -1
        """Where the latest event of `after` stands."""
        self._ended: list[tuple[int, int]] = []
        """Windows that ended while a decision was open, and where."""
        self.amounts: dict[Any, Any] = {}
        """By key, what generated code counted: no window, no `since`, no gap."""
        self.over: set[Any] = set()
        """Windows and keys that are over the bound already."""
        self._unknown: dict[Any, int] = {}
        """By window and key: where the newest event stands whose amount is hidden; with it the total may be any."""
        self.restart()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        self._windows.clear()
        self.amounts.clear()
        self.over.clear()
        self._unknown.clear()
        self._ended.clear()
        self._opened = None if self._rule.after else START
        self._opens_at = -1
        if self._opened is not None and not (self._rule.per or self._rule.per_turn):
            self._windows[START] = {ALL: []}

    def on(self, view: View) -> tuple[int, Any] | None:
        """Count an event; return its window and key."""
        key = self._counting.key_of(view)
        if key is None:
            return None
        is_hidden = isinstance(self._counting.read_amount(view), Hidden)
        amount = None if is_hidden else self._counting.amount(view)
        if amount is None and not is_hidden and self._rule.missing == "violated":
            return None
        window = self._run.opening(self._counting.index, self._rule, view) if self._rule.after else START
        if amount is None and not is_hidden:
            self._unknown[window, key] = view.at
            return None
        items = self._windows.setdefault(window, {}).setdefault(key, [])
        if amount is None:
            # What it comes to is said once, when the window is settled.
            self._unknown[window, key] = view.at
            return None
        if self._rule.since:
            surely, _ = self._run.newest_since(self._counting.index, self._rule, window, view.at)
            items[:] = [item for item in items if item[0] > surely]
            items.append((view.at, amount))
        else:
            items[:] = [(view.at, amount + sum(counted for _, counted in items))]
        return window, key

    def count(self, key: Any, amount: Any) -> None:
        """Count an event that generated code has read."""
        if type(amount) in {int, Decimal} and amount >= 0:
            self.amounts[key] = self.amounts.get(key, 0) + amount

    def marked(self, role: str, seq: int) -> None:
        """Take note that a window opens or ends for every event alike."""
        if role == "after":
            self._opens_at = seq
        if role == "until" and self._opened is not None and self._opened < seq:
            self._ended.append((self._opened, seq))
            self._opened = None
        # One event can end a window and open the next.
        if self._opened is None and self._opens_at == seq:
            self._opened = seq
            if not (self._rule.per or self._rule.per_turn):
                self._windows.setdefault(seq, {ALL: []})

    def opened(self) -> None:
        """A decision opens: calls of the one before belong to a window that ended meanwhile, later ones do not."""
        ended, self._ended = self._ended, []
        for window, end in ended:
            self._settle_window(window, end)

    def close(self) -> None:
        """Settle every key, or the run."""
        if not self._run.ever_inside(self._counting.index):
            # An event of which nobody can tell whether it counts has said so already.
            is_said = self._counting.has_undecided and (self._rule.per or self._rule.per_turn)
            if not is_said and self._run.may_have_opened(self._counting.index):
                self._doubt("", 0, self._counting.bound(self._bound, None), _NO_WINDOW, "hidden-evidence")
            return
        self.opened()
        for key, amount in self.amounts.items():
            self._windows.setdefault(START, {}).setdefault(key, []).append((0, amount))
        self.amounts.clear()
        for window in list(self._windows):
            self._settle_window(window, None)

    def _settle_window(self, window: int, end: int | None) -> None:
        bound = self._counting.bound(self._bound, None)
        for key, items in self._windows.pop(window, {}).items():
            if (window, key) not in self.over:
                self._settle(window, key, items, bound, end)

    def _settle(self, window: int, key: Any, items: list[tuple[int, Any]], bound: Any, end: int | None) -> None:
        run, index = self._run, self._counting.index
        text = self._counting.text_of(key)
        if isinstance(bound, Missing | Hidden):
            run.unreadable(index, None, bound, "", text)
            return
        surely, perhaps = run.newest_since(index, self._rule, window, end) if self._rule.since else (window, window)
        most = sum(amount for at, amount in items if at > surely or not self._rule.since)
        least = sum(amount for at, amount in items if at > perhaps or not self._rule.since)
        judges_run = self._rule.judge == "run"
        is_unclear = judges_run and run.is_window_doubtful(index, self._rule, end)
        has_more = judges_run and run.may_hide_between(self._rule.triggers, max(window, surely), end)
        unknown = self._unknown.get((window, key))
        is_unknown = unknown is not None and (unknown > surely or not self._rule.since)
        is_veiled = self._counting.is_veiled or self._counting.has_undecided or is_unknown
        if least >= bound and not is_unclear and not (self._is_exact and is_veiled):
            run.settle(index, "satisfied", None)
        elif least >= bound or most >= bound or is_unclear or has_more or is_veiled:
            self._doubt(text, most, bound, "a gap may hide more of them", "hidden-evidence")
        elif end is None and run.was_aborted:
            self._doubt(text, most, bound, "the run was stopped before more of them could come", "unfinished-run")
        else:
            run.settle(
                index,
                "violated",
                None,
                "too few events" if self._rule.total is None else "the total is under the bound",
                key=text,
                values=(f"{show(most)} < {show(bound)}",),
            )

    def _doubt(self, text: str, amount: Any, bound: Any, sentence: str, reason: str) -> None:
        self._run.settle(
            self._counting.index,
            "inconclusive",
            None,
            sentence,
            reason=reason,
            key=text,
            values=(f"{show(amount)} < {show(bound)}",),
            missing=(sentence,),
        )

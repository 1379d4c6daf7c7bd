"""`then`: such an event follows (response).

docs: docs/kinds/then.md
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from outstep.contracts.kinds.base import Quiet, Run, View
from outstep.contracts.kinds.evidence import all_evident
from outstep.contracts.selectors import Expr, Selector
from outstep.events import RunEnd
from outstep.expr.mentions import MentionIndex, stands_in
from outstep.expr.nodes import Call, Name, names_of
from outstep.expr.spelling import normalise
from outstep.expr.values import CutText, Hidden, Missing
from outstep.findings import Witness

if TYPE_CHECKING:
    from outstep.contracts.model import Rule
    from outstep.events import Event


class Within(Struct, frozen=True, kw_only=True):
    """How far away the answer may be."""

    count: int
    unit: Literal["turns", "events", "seconds"]


class Then(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="then", tag_field="kind"):
    """An event of one of the selectors follows the event of `for`."""

    any: tuple[Selector, ...]
    within: Within | None = None
    """None is the run."""


_WORD = re.compile(r"(?=[-_0-9]*[A-Za-z])[A-Za-z0-9](?:[-_A-Za-z0-9]{0,62}[A-Za-z0-9])?")
"""Values that stand in a text as they are, but for their case."""

_FEW = 4


class Pending:
    """An event of `for` that still waits for its answer."""

    __slots__ = ("doubt", "epoch", "is_done", "lane", "mention", "seq", "time", "unread", "view")

    def __init__(self, view: Any) -> None:
        self.view = view
        self.seq: int = view.seq
        self.lane = view.lane
        self.epoch: int = view.lane.epoch if view.lane is not None else 0
        self.time: float | None = getattr(view.event, "time", None)
        self.is_done = False
        self.doubt = ""
        """Why something may have answered it, or may have come too late."""
        self.unread = ""
        """Which value of its own could not be read, so that nothing can answer it."""
        self.mention: tuple[int, Any, Any] | None = None
        """Slot, join key and value under which it waits for a text."""


class ThenMonitor(Quiet):
    """Keeps what waits, by join key; an answer discharges all that it matches."""

    def __init__(self, index: int, rule: Rule, run: Run) -> None:
        super().__init__(index, rule, run)
        kind = rule.kind
        assert isinstance(kind, Then)
        self.kind = kind
        self.has_deadline = kind.within is not None
        self.waiting: deque[Pending] = deque()
        """In the order of their places; answered ones leave when they reach the front."""
        self._by_key: list[dict[Any, list[Pending]]] = [{} for _ in kind.any]
        self._clocks: list[tuple[float, int, Pending]] = []
        """Within seconds: what waits by its time, since clocks may fall."""
        self._number = 0
        self._of_lane: dict[int, deque[Pending]] = {}
        """Within turns: what waits, by its lane, in the order of their turns."""
        self.by_call: dict[int, list[Pending]] = {}
        self.asked: set[int] = set()
        """Calls, by `seq`, whose own result is waited for and that generated code took; the run holds their events."""
        self.texts: list[tuple[str, int, str, Callable[..., Any], tuple[Any, ...]]] = []
        """A few values that wait for a text: in lower case, since when, as they are, and what makes the view."""
        self._blind: list[tuple[int, Pending, str]] = []
        """What waits with a hidden value of its own, by slot: whatever else would do may be its answer."""
        self._mentions: list[MentionTable | None] = [None for _ in kind.any]
        for slot, selector in enumerate(kind.any):
            value = mentioned(run.plan.joins["kind", index, slot].rest)
            if value is not None and selector.what in {"message", "user message", "final message"}:
                self._mentions[slot] = MentionTable(value)

    def on(self, view: View) -> None:
        """Let an event of `for` wait."""
        self.unfold()
        pending = Pending(view)
        waits = False
        for slot, selector in enumerate(self.kind.any):
            if selector.what == "its result":
                self.by_call.setdefault(pending.seq, []).append(pending)
                waits = True
                continue
            waits = self._wait(slot, pending) or waits
        if waits or pending.doubt:
            self._append(pending)
        else:
            self._settle_missing(pending)

    def _append(self, pending: Pending) -> None:
        self.waiting.append(pending)
        within = self.kind.within
        if within is not None and within.unit == "seconds" and pending.time is not None:
            self._number += 1
            heappush(self._clocks, (pending.time, self._number, pending))
        elif within is not None and within.unit == "turns" and pending.lane is not None:
            self._of_lane.setdefault(id(pending.lane), deque()).append(pending)

    def _wait(self, slot: int, pending: Pending) -> bool:
        join = self.run.plan.joins["kind", self.index, slot]
        key = self.run.read_key(join.this, pending.view)
        if isinstance(key, Hidden):
            self._blind.append((slot, pending, key.reason))
            return True
        if isinstance(key, Missing):
            pending.unread = key.reason
            return False
        if self._mentions[slot] is not None:
            return self._wait_for_mention(slot, key, pending)
        for expr in join.rest:
            for name in names_of(expr.node):
                if name in _THIS_SIDE or any(name == let for let, _ in self.rule.let):
                    pending.view.lookup(name)
        self._by_key[slot].setdefault(key, []).append(pending)
        return True

    def _wait_for_mention(self, slot: int, key: Any, pending: Pending) -> bool:
        table = self._mentions[slot]
        assert table is not None
        value = self.run.evidence(table.value, pending.view)
        if isinstance(value, Hidden | CutText):
            reason = value.reason if isinstance(value, Hidden) else "the value to mention is cut"
            self._blind.append((slot, pending, reason))
            return True
        try:
            if isinstance(value, Missing):
                raise ValueError(value.reason)
            table.add(key, value, pending)
        except ValueError as error:
            pending.unread = str(error)
            return False
        pending.mention = (slot, key, value)
        return True

    def wait_for_text(self, seq: int, value: Any, view: Callable[..., Any], *parts: Any) -> None:
        """Let an event wait for a text that mentions `value`; its view is made of `parts` only if it is needed."""
        if type(value) is str and _WORD.fullmatch(value) and len(self.texts) < _FEW:
            self.texts.append((value.lower(), seq, value, view, parts))
        else:
            self.unfold()
            self.wait(view(*parts), (), value)

    def answer_text(self, text: str, at: int) -> None:
        """Let a message answer what waits for a text; `at` is where its decision opened."""
        if self.waiting:
            self.answer(0, (), at, text)
        texts = self.texts
        if not texts:
            return
        probe = text.lower() if text.isascii() else normalise(text)
        if len(texts) == 1:
            # Most often so; the loop below does the same.
            word, since, _, _, _ = texts[0]
            if word in probe and since < at and stands_in(probe, word):
                self.run.tallies[3 * self.index] += 1
                texts.clear()
            return
        for waiting in texts:
            if waiting[0] in probe:
                left = [waiting for waiting in texts if waiting[1] >= at or not stands_in(probe, waiting[0])]
                self.run.tallies[3 * self.index] += len(texts) - len(left)
                texts[:] = left
                return

    def answer_call(self, call: Any, view: Callable[..., Any], *parts: Any) -> None:
        """Take the result of a call that waits for it and does not get what it waits for, or is not sure to."""
        if call.event.seq in self.asked:
            self.asked.discard(call.event.seq)
            self._adopt(call)
        if call.event.seq in self.by_call:
            self._its_result(self.kind.any[0], view(*parts))

    def unfold(self) -> None:
        """Bring what generated code let wait into the exact form."""
        for call in self.run.open_calls(self.asked) if self.asked else ():
            self._adopt(call)
        self.asked.clear()
        texts = self.texts.copy()
        self.texts.clear()
        for _, _, value, view, parts in texts:
            self.wait(view(*parts), (), value)

    def _adopt(self, call: Any) -> None:
        view = self.run.call_view(call)
        pending = Pending(view.within(dict(self.rule.let)) if self.rule.let else view)
        self.by_call.setdefault(pending.seq, []).append(pending)
        self.waiting.append(pending)

    def wait(self, view: Any, key: Any, value: Any) -> None:
        """Let an event wait whose key (and value to mention) generated code has read."""
        if self.rule.let:
            view = view.within(dict(self.rule.let))
        pending = Pending(view)
        if self._mentions[0] is None:
            self._by_key[0].setdefault(key, []).append(pending)
        else:
            try:
                self._mentions[0].add(key, value, pending)
            except ValueError as error:
                pending.unread = str(error)
                self._settle_missing(pending)
                return
            pending.mention = (0, key, value)
        self.waiting.append(pending)

    def answer(self, slot: int, key: Any, at: int, text: str | None) -> None:
        """Let an event answer whose key generated code has read; `at` is where its decision opened."""
        table = self._mentions[slot]
        found = table.found(key, text) if table is not None else self._by_key[slot].get(key, ())
        for asked, pending, reason in self._blind:
            if asked == slot and pending.seq < at:
                pending.doubt = reason
        for pending in found:
            if not pending.is_done and pending.seq < at:
                self._done(pending)
        if table is None and found:
            self._tidy(slot, key)

    def seen(self, slot: int, view: Any) -> None:
        """Let an event answer what waits for it."""
        if view.call is not None and view.call.event.seq in self.asked:
            # Its call is answered, so the run no longer holds it among the open ones.
            self.asked.discard(view.call.event.seq)
            self._adopt(view.call)
        self.unfold()
        selector = self.kind.any[slot]
        if selector.what == "final message":
            return
        if selector.what == "its result":
            self._its_result(selector, view)
            return
        if not self.waiting or (selector.what != "claim" and not self.run.selects(selector, view)):
            return
        if self.run.may_claim_hidden(selector, view):
            self._doubt_all(view)
        sights = self.run.claim_views(selector, view) if selector.what == "claim" else [view]
        for sight in sights:
            self._answer(slot, sight)

    def _answer(self, slot: int, view: View) -> None:
        join = self.run.plan.joins["kind", self.index, slot]
        match = all_evident(self.run, join.filter, view)
        if match is False or isinstance(match, Missing):
            return
        key = self.run.read_key(join.picked, view)
        if isinstance(key, Missing):
            return
        self._blind = [waiting for waiting in self._blind if not waiting[1].is_done]
        for asked, pending, reason in self._blind:
            if asked == slot:
                self._discharge(pending, view, Hidden(reason))
        if isinstance(key, Hidden) or match is not True:
            self._doubt_all(view)
        elif self._mentions[slot] is not None:
            self._answer_mentions(slot, key, view)
        else:
            self._answer_key(slot, key, view, join)

    def _doubt_all(self, view: View) -> None:
        for pending in self.waiting:
            if pending.seq < view.at and not pending.is_done:
                pending.doubt = "an event that may be the answer cannot be read"

    def _answer_mentions(self, slot: int, key: Any, view: Any) -> None:
        table = self._mentions[slot]
        assert table is not None
        text = view.lookup("text")
        for pending in table.found(key, text):
            self._discharge(pending, view, True)
        if isinstance(text, CutText):
            for pending in list(self.waiting):
                if pending.mention is not None and pending.mention[:2] == (slot, key):
                    self._discharge(pending, view, Hidden("the text is cut"))

    def _answer_key(self, slot: int, key: Any, view: View, join: Any) -> None:
        waiting = self._by_key[slot].get(key)
        if not waiting:
            return
        for pending in list(waiting):
            if not pending.is_done:
                rest = all_evident(self.run, join.rest, view.facing(pending.view)) if join.rest else True
                self._discharge(pending, view, rest)
        self._tidy(slot, key)

    def _tidy(self, slot: int, key: Any) -> None:
        left = [pending for pending in self._by_key[slot][key] if not pending.is_done]
        if left:
            self._by_key[slot][key] = left
        else:
            del self._by_key[slot][key]

    def _discharge(self, pending: Pending, view: View, match: Any) -> None:
        if pending.is_done or pending.seq >= view.at or match is False or isinstance(match, Missing):
            return
        in_time = self._is_in_time(pending, view)
        if in_time is False:
            return
        if match is not True or in_time is not True:
            pending.doubt = match.reason if isinstance(match, Hidden) else "it cannot be told whether it came in time"
            return
        is_bounded = self.kind.within is not None and self.rule.judge == "run"
        if is_bounded and self.run.gaps.between(pending.seq, view.seq):
            pending.doubt = "a gap lies between, so it cannot be told whether it came in time"
            return
        self._done(pending)

    def _done(self, pending: Pending) -> None:
        pending.is_done = True
        if pending.mention is not None:
            slot, key, value = pending.mention
            table = self._mentions[slot]
            assert table is not None
            table.discard(key, value, pending)
        self.run.settle(self.index, "satisfied", pending.view)
        self._sweep()

    def _is_in_time(self, pending: Pending, view: Any) -> bool | None:
        within = self.kind.within
        if within is None:
            return True
        if within.unit == "events":
            return self._distance(pending, view.seq) <= within.count
        if within.unit == "turns":
            if pending.lane is None:
                return None
            is_same = view.lane is pending.lane and view.is_issued
            return bool((view.epoch if is_same else pending.lane.epoch) - pending.epoch <= within.count)
        time = getattr(view.event, "time", None)
        if time is None or pending.time is None or time < pending.time:
            return None
        return bool(time - pending.time <= within.count)

    def _is_surely_in_time(self, pending: Pending, view: Any) -> bool:
        if self.kind.within is None:
            return True
        has_gap = self.rule.judge == "run" and self.run.gaps.between(pending.seq, view.seq)
        return self._is_in_time(pending, view) is True and not has_gap

    def _its_result(self, selector: Selector, view: Any) -> None:
        call = view.call
        for pending in self.by_call.pop(call.event.seq, ()) if call is not None else ():
            if pending.is_done:
                continue
            match = self.run.match(selector, view, pending.view)
            pending.is_done = True
            if match is True and not self._is_surely_in_time(pending, view):
                match = Hidden("it cannot be told whether it came in time")
            if match is True:
                self.run.settle(self.index, "satisfied", pending.view)
            elif isinstance(match, Hidden):
                self._doubt(pending, match.reason)
            elif len(self.kind.any) > 1:
                pending.is_done = False
            else:
                self._violate(pending, f"its result is not `{selector.text}` ({view.outcome})", view.seq)
        self._sweep()

    def opened(self, lane: Any) -> None:
        """Settle what had to be answered before this decision."""
        within = self.kind.within
        if within is None or within.unit != "turns":
            return
        waiting = self._of_lane.get(id(lane), ())
        while waiting and (waiting[0].is_done or waiting[0].epoch < lane.epoch - within.count):
            pending = waiting.popleft()
            if not pending.is_done:
                pending.is_done = True
                self._settle_missing(pending)
        self._sweep()

    def passed(self, event: Event) -> None:
        """Settle what had to be answered before this event."""
        within = self.kind.within
        time = getattr(event, "time", None)
        if within is None or within.unit != "seconds" or time is None:
            return
        while self._clocks and time - self._clocks[0][0] > within.count:
            pending = heappop(self._clocks)[2]
            if not pending.is_done:
                pending.is_done = True
                self._settle_missing(pending)
        self._sweep()

    def took(self, event: Event) -> None:
        """Settle what this event was the last chance for."""
        within = self.kind.within
        if within is not None and within.unit == "events" and not isinstance(event, RunEnd):
            self._expire(lambda pending: self._distance(pending, event.seq) >= within.count)

    def _distance(self, pending: Pending, seq: int) -> int:
        """Return how many events away a place is; a gap stands in the order, and is none."""
        gaps: int = self.run.gaps.since(pending.seq)
        return seq - pending.seq - gaps

    def _expire(self, is_late: Callable[[Pending], bool]) -> None:
        while self.waiting:
            pending = self.waiting[0]
            if pending.is_done:
                self.waiting.popleft()
                continue
            if not is_late(pending):
                return
            pending.is_done = True
            self.waiting.popleft()
            self._settle_missing(pending)

    def close(self) -> None:
        """Settle what nothing answered."""
        if not (self.waiting or self.asked or self.texts):
            return
        self.unfold()
        final = self.run.final
        for selector in self.kind.any:
            if selector.what == "final message" and final is not None:
                for pending in list(self.waiting):
                    if not pending.is_done:
                        match = self.run.match(selector, final, pending.view)
                        is_sure = not (self.run.is_final_doubtful(final) or self.run.was_aborted)
                        if match is True and not is_sure and self.rule.judge == "run":
                            match = Hidden("it cannot be told whether this is the final message")
                        self._discharge(pending, final, match)
        for pending in list(self.waiting):
            if not pending.is_done:
                pending.is_done = True
                self._settle_missing(pending)
        self.waiting.clear()

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        if not (self.waiting or self.asked or self.texts or self.by_call):
            return
        self.waiting.clear()
        self.by_call.clear()
        self.asked.clear()
        self._blind.clear()
        self.texts.clear()
        self._clocks.clear()
        self._of_lane.clear()
        for waiting in self._by_key:
            waiting.clear()
        for table in self._mentions:
            if table is not None:
                table.clear()

    def _settle_missing(self, pending: Pending) -> None:
        run = self.run
        texts = " or ".join(f"`{selector.text}`" for selector in self.kind.any)
        unread = pending.unread
        if self.rule.judge == "run":
            lane = pending.lane.id if pending.lane is not None and pending.seq in self.by_call else None
            if run.gaps.behind(pending.seq, self.kind.any, lane):
                self._doubt(pending, f"a gap may hide {texts}")
                return
        if run.is_closing and (run.was_stopped if self.rule.judge == "run" else run.was_aborted):
            self._doubt(pending, f"the run was stopped before {texts} could come", "unfinished-run")
        elif pending.doubt:
            self._doubt(pending, pending.doubt)
        elif unread and self.rule.missing == "inconclusive":
            self._doubt(pending, unread, "missing-evidence")
        else:
            self._violate(pending, unread or f"no {texts} followed", run.end.seq if run.end is not None else None)

    def _violate(self, pending: Pending, sentence: str, settled_at: int | None) -> None:
        witness = (Witness(seq=settled_at, note="settled here"),) if settled_at is not None else ()
        self.run.settle(self.index, "violated", pending.view, sentence, witness=witness)

    def _doubt(self, pending: Pending, sentence: str, reason: str = "hidden-evidence") -> None:
        self.run.settle(self.index, "inconclusive", pending.view, sentence, reason=reason, missing=(sentence,))

    def _sweep(self) -> None:
        while self.waiting and self.waiting[0].is_done:
            self.waiting.popleft()


class MentionTable:
    """What waits for a text that mentions a value, found by the words of the text."""

    def __init__(self, value: Expr) -> None:
        self.value = value
        self._index: dict[Any, MentionIndex[Pending]] = {}

    def add(self, key: Any, value: Any, pending: Pending) -> None:
        """Let an event wait for a text that mentions `value`."""
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = MentionIndex()
        index.add(value, pending)

    def clear(self) -> None:
        """Forget everything."""
        self._index.clear()

    def discard(self, key: Any, value: Any, pending: Pending) -> None:
        """Forget an event that was answered."""
        index = self._index[key]
        index.discard(value, pending)
        if not index:
            del self._index[key]

    def found(self, key: Any, text: Any) -> list[Pending]:
        """Return what a text answers, as far as it can be seen."""
        index = self._index.get(key)
        if index is None or not isinstance(text, str):
            return []
        return index.found(text.visible if isinstance(text, CutText) else text)


def mentioned(rest: tuple[Expr, ...]) -> Expr | None:
    """Return `v` when what is asked of both events is just `mentions(text, v)` with `v` on the side of `this`."""
    if len(rest) != 1 or not isinstance(rest[0].node, Call):
        return None
    node = rest[0].node
    args = node.args if node.target is None else (node.target, *node.args)
    if node.function != "mentions" or len(args) != 2 or not isinstance(args[0], Name) or args[0].name != "text":
        return None
    if not all(name in _THIS_SIDE for name in names_of(args[1])):
        return None
    return Expr(text="the value to mention", node=args[1], spot=rest[0].spot)


_THIS_SIDE = frozenset({"this", "it", "at", "match"})

"""`needs`: such an event is already known (precedence).

docs: docs/kinds/needs.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from outstep.contracts.kinds.base import Quiet, View
from outstep.contracts.kinds.evidence import all_evident
from outstep.contracts.selectors import Expr, Selector
from outstep.expr.values import Hidden, Missing, equal, from_key
from outstep.findings import Witness


class Needs(Struct, frozen=True, kw_only=True, tag="needs", tag_field="kind"):
    """An event of one of the selectors is known to the event of `for`."""

    any: tuple[Selector, ...]


class NeedsMonitor(Quiet):
    """Keeps, for each lane, where the newest match of each join key stands."""

    near = -1
    """Where the newest event stands that would have done, had it gone well: the witness of what is missing."""

    def restart(self) -> None:
        """Forget everything, for the next trace; the tables are the lanes'."""
        self.near = -1

    def seen(self, slot: int, view: View) -> None:
        """Note an event that may be the evidence, or (slots behind those of `needs`) one of `since`."""
        kind = self.rule.kind
        assert isinstance(kind, Needs)
        is_since = slot >= len(kind.any)
        role = "since" if is_since else "kind"
        number = slot - len(kind.any) if is_since else slot
        selector = self.rule.since[number] if is_since else kind.any[number]
        lane = _keeper(self.run, view)
        table = lane.tables[self.run.plan.tables[role, self.index, number]]
        join = self.run.plan.joins[role, self.index, number]
        if not self.run.selects(selector, view):
            if not is_since and self.run.acts(selector, view):
                self.near = view.seq
            return
        if self.run.may_claim_hidden(selector, view):
            table.veil(view.seq)
        for sight in self._sights(selector, view):
            match = self.run.condition(join.filter, sight) if is_since else all_evident(self.run, join.filter, sight)
            if match is False or (isinstance(match, Missing) and not is_since):
                continue
            key = self.run.read_key(join.picked, sight)
            if match is not True or isinstance(key, Hidden):
                table.veil(view.seq)
            elif not isinstance(key, Missing):
                table.write(lane.epoch, key, view.seq if is_since else _place(view), view.seq)

    def _sights(self, selector: Selector, view: View) -> list[View]:
        return self.run.claim_views(selector, view) if selector.what == "claim" else [view]

    def on(self, view: View) -> None:
        """Judge an event of `for` whose conditions hold."""
        kind = self.rule.kind
        assert isinstance(kind, Needs)
        doubt = ""
        unread: list[str] = []
        since, doubtful_since = self._since(view)
        for slot, selector in enumerate(kind.any):
            table = self.run.plan.tables["kind", self.index, slot]
            key = self.run.read_key(self.run.plan.joins["kind", self.index, slot].this, view)
            if isinstance(key, Missing):
                unread.append(key.reason)
                continue
            if isinstance(key, Hidden):
                join = self.run.plan.joins["kind", self.index, slot]
                doubt = key.reason if self._newest_of_all(table, view, join.this) > since else doubt
                continue
            place, doubtful = self._newest(table, key, view)
            if place > since:
                if place <= doubtful_since or (
                    self.rule.since and self.run.gap_known(view, self.rule.since, place - 1)
                ):
                    doubt = "an event that is hidden or cannot be read may be one of `since`"
                    continue
                self.run.settle(self.index, "satisfied", view)
                return
            if doubtful > since:
                doubt = f"an event that may be `{selector.text}` cannot be read"
        if doubt or self.run.gap_known(view, kind.any, since):
            self._inconclusive(view, doubt or f"a gap may hide `{kind.any[0].text}`")
        else:
            self._missing(view, kind, unread, since)

    def _newest(self, index: int, key: Any, view: View) -> tuple[int, int]:
        """Return where the newest event of a join key counts from, and where the newest one stands that may be one."""
        epoch = view.epoch if view.is_issued else None
        place, doubtful = -1, -1
        for table in _tables(self.run, view, index):
            value, _ = table.read(key, epoch)
            place = max(place, value if isinstance(value, int) else -1)
            is_of_world = table is self.run.world.tables[index]
            doubtful = max(doubtful, table.fog_before(view.seq if is_of_world else view.at))
        return place, doubtful

    def _newest_of_all(self, index: int, view: View, asked: Sequence[Expr]) -> int:
        """Return where the newest event stands whose join key may be what is asked for, as far as that can be read."""
        epoch = view.epoch if view.is_issued else None
        values = [self.run.evidence(expr, view) for expr in asked]
        keys = dict.fromkeys(key for table in _tables(self.run, view, index) for key in table.keys(epoch))
        possible = [key for key in keys if _may_be(key, values)]
        fogged = max(self._newest(index, (), view))
        return max([fogged, *(max(self._newest(index, key, view)) for key in possible)])

    def _since(self, view: View) -> tuple[int, int]:
        """Return where the latest known event of `since` stands, and the latest one that may be one."""
        latest, doubtful = -1, -1
        for slot, _ in enumerate(self.rule.since):
            table = self.run.plan.tables["since", self.index, slot]
            key = self.run.read_key(self.run.plan.joins["since", self.index, slot].this, view)
            if isinstance(key, Hidden | Missing):
                join = self.run.plan.joins["since", self.index, slot]
                doubtful = max(doubtful, self._newest_of_all(table, view, join.this))
                continue
            place, fogged = self._newest(table, key, view)
            latest, doubtful = max(latest, place), max(doubtful, fogged)
        return latest, doubtful

    def _inconclusive(self, view: View, doubt: str) -> None:
        self.run.settle(self.index, "inconclusive", view, doubt, reason="hidden-evidence", missing=(doubt,))

    def _missing(self, view: View, kind: Needs, unread: list[str], since: int) -> None:
        texts = " or ".join(f"`{selector.text}`" for selector in kind.any)
        behind = " since the latest event of `since`" if since >= 0 else ""
        sentence = unread[0] if unread else f"no {texts} is known here{behind}"
        is_before = 0 <= self.near < view.seq
        witness = (Witness(seq=self.near, note="what came instead"),) if is_before else ()
        self.run.settle(
            self.index,
            "inconclusive" if self.rule.missing == "inconclusive" else "violated",
            view,
            sentence,
            reason="missing-evidence",
            missing=(sentence,),
            witness=witness,
        )


def _may_be(key: Sequence[Any], values: Sequence[Any]) -> bool:
    """Return whether values, some of which cannot be read, may be those of a key."""
    return not any(
        not isinstance(value, Missing) and equal(from_key(part), value) is False
        for part, value in zip(key, values, strict=True)
    )


def _place(view: Any) -> int:
    """Return where an event counts from: a result from where the decision of its call opened."""
    return view.call.start if view.call is not None else int(view.seq)


def _keeper(run: Any, view: Any) -> Any:
    """Return the lane whose evidence an event is; a snapshot of the state has none, and is read in log order."""
    return run.world if view.lane is None else view.lane


def _tables(run: Any, view: Any, index: int) -> list[Any]:
    lanes = run.lanes.values() if view.lane is None else (view.lane,)
    return [run.world.tables[index], *(lane.tables[index] for lane in lanes)]

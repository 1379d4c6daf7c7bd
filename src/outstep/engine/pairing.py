"""Which result answers which call, and what is wrong with their ids (SEMANTICS section 1, LANGUAGE section 8).

Pairing stays within a lane, and within a response where ids repeat. Nothing is mended: a result without a call is an
orphan, a second one is no evidence, an empty id joins nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from msgspec import Struct

from outstep.engine.lanes import LaneState
from outstep.events import Gap, ToolCall, ToolResult
from outstep.findings import Verdict, Witness


class OpenCall(Struct, frozen=True, gc=False):
    """A call that has no result yet."""

    event: ToolCall
    start: int
    """Where its decision opened."""
    epoch: int
    """Number of its decision in its lane."""


class OtherCall(OpenCall, frozen=True, gc=False):
    """One that generated code leaves to the exact run: the model did not make it, or its id was used before."""


class Record(Protocol):
    """Where findings about the record go."""

    def remark(
        self,
        rule: str,
        sentence: str,
        seq: int | None,
        *,
        verdict: Verdict = "violated",
        reason: str = "",
        witness: tuple[Witness, ...] = (),
        key: str = "",
    ) -> None:
        """Settle a rule of the pack `integrity`, if the contract has it."""
        ...

    def hides_calls(self, lane: LaneState, seq: int) -> bool:
        """Return whether a gap before `seq` may hide a call of the lane."""
        ...

    def breaks_off(self, lane: LaneState, seq: int) -> bool:
        """Return whether a gap behind `seq` may hide what the lane was still to receive."""
        ...

    def note_gap(self, gap: Gap, *, is_recorded: bool) -> None:
        """Take a gap into account from its place on."""
        ...


class Pairing:
    """Calls and results of one trace."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.seen: dict[str, dict[str, int]] = {}
        """By lane: call ids, each with the lane's `ids_since` at its last call."""
        self.again = 0
        """Calls without an id, or with one that was seen before."""
        self.early: dict[str, dict[str, list[ToolResult]]] = {}
        """By lane and id: results that came before any call of their id."""
        self.repeated: dict[tuple[str, str], int] = {}
        """By lane and id: where the newest call of an id stands that was used more than once."""

    def restart(self) -> None:
        """Forget everything, for the next trace."""
        main = self.seen.get("main")
        if main is None or len(self.seen) > 1:
            self.seen = {}
        else:
            main.clear()
        self.again = 0
        if self.early:
            self.early.clear()
        if self.repeated:
            self.repeated.clear()

    def call(self, lane: LaneState, event: ToolCall) -> None:
        """Take a call, its decision already open."""
        call_id = event.call_id
        seen = self.seen.setdefault(lane.id, {})
        since = seen.get(call_id)
        kind = OpenCall if event.by == "model" and since is None else OtherCall
        call = kind(event, lane.start, lane.epoch)
        if not event.tool:
            self._record.remark("EMPTY_TOOL_NAME", "a call names no tool", event.seq)
        if event.args_raw is not None:
            self._record.remark("UNREADABLE_ARGUMENTS", "the recorded arguments are no JSON", event.seq)
        if not call_id:
            self._record.remark("EMPTY_CALL_ID", "a call has no id", event.seq)
            lane.open[_apart(call)] = call
            self.again += 1
            return
        if since == lane.ids_since:
            self._record.remark("DUPLICATE_CALL_ID", "two calls of one response have the same id", event.seq)
        elif since is not None:
            self._record.remark("CALL_ID_REUSED", "the id of an earlier call is used again", event.seq)
        seen[call_id] = lane.ids_since
        if since is not None:
            self.again += 1
            self.repeated[lane.id, call_id] = event.seq
        _open(lane, call, is_of_newest=since == lane.ids_since)

    def result(self, lane: LaneState, event: ToolResult) -> OpenCall | None:
        """Return the call that a result answers; none for an orphan, an early or a second result."""
        call = self._by_place(lane, event) if event.call is not None else self._by_id(lane, event)
        if call is not None:
            return call
        if event.call_id in self.seen.get(lane.id, ()):
            self._record.remark("DUPLICATE_TOOL_RESULT", "a call has a second result", event.seq)
        elif self._record.hides_calls(lane, event.seq):
            # The call of this result is hidden; its result is here, but no rule can read whose it is.
            gap = Gap(seq=event.seq, agent=lane.id, may_hide=("tool.result",), reason="a result whose call is hidden")
            self._record.note_gap(gap, is_recorded=False)
        else:
            self.early.setdefault(lane.id, {}).setdefault(event.call_id, []).append(event)
        return None

    def _by_place(self, lane: LaneState, event: ToolResult) -> OpenCall | None:
        for key in (event.call_id, f"\0{event.call}"):
            found = lane.open.get(key)
            calls: list[OpenCall] = found if type(found) is list else [found] if found is not None else []
            for call in calls:
                if call.event.seq == event.call:
                    _close(lane, key, found, call)
                    return call
        return None

    def _by_id(self, lane: LaneState, event: ToolResult) -> OpenCall | None:
        """Return the oldest open call of an id in the response that used it last, or in the one the result names."""
        call_id = event.call_id
        found: Any = lane.open.get(call_id) if call_id else None
        if event.turn is not None and (lane.id, call_id) in self.repeated:
            for call in self.unanswered(lane):
                if call.event.call_id == call_id and call.event.turn == event.turn:
                    key = call_id if call is found or (type(found) is list and call in found) else _apart(call)
                    _close(lane, key, lane.open[key], call)
                    return call
            return None
        if found is None:
            return None
        oldest: OpenCall = found[0] if type(found) is list else found
        _close(lane, call_id, found, oldest)
        return oldest

    def newest(self, lane: LaneState, call_id: str) -> int | None:
        """Return where the newest call of an id stands; none if it is answered, or no such call came yet."""
        if (lane.id, call_id) in self.repeated:
            return self.repeated[lane.id, call_id]
        found = lane.open.get(call_id)
        return None if found is None else int(found.event.seq)

    def unanswered(self, lane: LaneState) -> list[OpenCall]:
        """Return the calls of a lane without a result, in their order."""
        calls: list[OpenCall] = []
        for found in lane.open.values():
            calls.extend(found if type(found) is list else [found])
        return sorted(calls, key=lambda call: call.event.seq)

    def close(self, lanes: Iterable[LaneState], *, is_stopped: bool) -> None:
        """Settle what only the end of the record can settle: missing, early and orphan results."""
        for lane in lanes:
            if not lane.open and not self.early:
                continue
            early = self.early.get(lane.id, {})
            for call in self.unanswered(lane):
                if call.event.call_id and call.event.call_id in early:
                    continue
                self._missing(lane, call, is_stopped)
            for call_id, results in early.items():
                for result in results:
                    if call_id and call_id in self.seen.get(lane.id, ()):
                        self._record.remark("RESULT_BEFORE_CALL", "a result arrived before its call", result.seq)
                    else:
                        self._record.remark("ORPHAN_TOOL_RESULT", "a result has no call in the record", result.seq)

    def _missing(self, lane: LaneState, call: OpenCall, is_stopped: bool) -> None:
        breaks_off = is_stopped or self._record.breaks_off(lane, call.event.seq)
        if breaks_off and lane.epoch <= call.epoch:
            self._record.remark(
                "MISSING_TOOL_RESULT",
                "the record stops before the result of a call could come",
                call.event.seq,
                verdict="inconclusive",
                reason="record-ends",
            )
        else:
            self._record.remark("MISSING_TOOL_RESULT", "a call has no result", call.event.seq)


def _open(lane: LaneState, call: OpenCall, *, is_of_newest: bool) -> None:
    """Note an open call under its id; those of an earlier response are kept apart: only their turn finds them."""
    call_id = call.event.call_id
    before = lane.open.get(call_id)
    if before is not None and is_of_newest:
        lane.open[call_id] = [*(before if type(before) is list else [before]), call]
        return
    if before is not None:
        for earlier in before if type(before) is list else [before]:
            lane.open[_apart(earlier)] = earlier
    lane.open[call_id] = call


def _apart(call: OpenCall) -> str:
    """Return what a call is kept under that no id finds."""
    return f"\0{call.event.seq}"


def _close(lane: LaneState, key: str, found: Any, call: OpenCall) -> None:
    if type(found) is list and len(found) > 1:
        found.remove(call)
    else:
        del lane.open[key]

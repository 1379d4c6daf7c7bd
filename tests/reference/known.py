"""Lanes, decisions, and what each lane knows when: SEMANTICS sections 1 and 2, as sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from outstep.events import Event, Gap, Header, Issued, Lane, RunEnd, State, ToolCall, UserMessage

from .outcomes import has_lost_call, pair

Decision = tuple[str, str, int]
"""A lane with a turn of it, or with the `seq` of an issued event that has no turn."""

LANELESS = (State, RunEnd)


class Hole(Struct, frozen=True, kw_only=True):
    """A place where events may be hidden: a gap, an orphan that has lost its call, or the missing end."""

    seq: float
    at: float
    """Where it counts as known: a gap that opens its turn also hides what came before that opening."""
    agent: str | None = None
    turn: int | None = None
    may_hide: tuple[str, ...] = ()
    is_end: bool = False

    def can_hide(self, *types: str) -> bool:
        """Return whether an event of one of `types` may be hidden here."""
        return not self.may_hide or any(type_ in self.may_hide for type_ in types)

    def is_in(self, lane: str) -> bool:
        """Return whether events of the lane may be hidden here."""
        return self.agent is None or self.agent == lane


Position = tuple[str, float]
"""A lane and a position in it."""


class Trace:
    """A complete record of a run, with everything that the definitions ask of it."""

    def __init__(self, header: Header, events: Sequence[Event], *, in_record: bool = False) -> None:
        """With `in_record`, gaps hide nothing and a missing end is an end (`judge: record`)."""
        self.header = header
        self.events = tuple(sorted(events, key=lambda event: event.seq))
        self.in_record = in_record
        self.pairing = pair(self.events)
        self.lanes = {lane.id: lane for lane in header.lanes}
        self._starts: dict[Decision, int] = {}
        self.last = self.events[-1].seq if self.events else -1
        self.holes: tuple[Hole, ...] = () if in_record else self._find_holes()

    # Ends

    @property
    def run_end(self) -> RunEnd | None:
        """The event that says how the run ended."""
        ends = [event for event in self.events if isinstance(event, RunEnd)]
        return ends[-1] if ends else None

    @property
    def written_end(self) -> Literal["completed", "aborted", "cut_off"]:
        """How the record ends, whatever the rule asks for."""
        end = self.run_end
        if end is not None:
            return end.end
        return "completed" if self.header.complete else "cut_off"

    @property
    def end(self) -> Literal["completed", "aborted", "cut_off"]:
        """How the record ends; where only the record counts, a missing end is an end."""
        return "completed" if self.in_record and self.written_end == "cut_off" else self.written_end

    # Decisions

    def decision(self, event: Event) -> Decision | None:
        """D(e): the decision that issued an event; none for what was delivered."""
        if not isinstance(event, Issued):
            return None
        if event.turn is None:
            return (event.agent, "event", event.seq)
        return (event.agent, "turn", event.turn)

    def start(self, decision: Decision) -> int:
        """Return the smallest `seq` of an issued event, or of a gap stamped with that turn, of the decision."""
        if decision not in self._starts:
            self._starts[decision] = min(event.seq for event in self.events if decision in self._opens(event))
        return self._starts[decision]

    def _opens(self, event: Event) -> list[Decision]:
        if isinstance(event, Gap):
            if event.turn is None:
                return []
            lanes = self.lane_names() if event.agent is None else [event.agent]
            return [(lane, "turn", event.turn) for lane in lanes]
        decision = self.decision(event)
        return [] if decision is None else [decision]

    def decisions(self, lane: str) -> list[Decision]:
        """Return the decisions of a lane in the order in which they open."""
        found = {decision for event in self.events for decision in self._opens(event) if decision[0] == lane}
        return sorted(found, key=self.start)

    def at(self, event: Event) -> int:
        """at(e): the moment at which an event is judged."""
        decision = self.decision(event)
        return event.seq if decision is None else self.start(decision)

    # Lanes

    def lane_names(self) -> list[str]:
        """Return every lane that the header or an event names."""
        names = ["main", *self.lanes]
        for event in self.events:
            agent = getattr(event, "agent", None)
            if agent is not None:
                names.append(agent)
        return list(dict.fromkeys(names))

    def spawn(self, lane: Lane) -> ToolCall | None:
        """Return the call that spawned a lane: the newest of that id in its parent before the lane's first event."""
        first = min((event.seq for event in self.events if getattr(event, "agent", None) == lane.id), default=None)
        calls = [
            event
            for event in self.events
            if isinstance(event, ToolCall)
            and lane.call
            and event.call_id == lane.call
            and event.agent == lane.parent
            and event.agent != lane.id
            and (first is None or event.seq < first)
        ]
        return calls[-1] if calls else None

    def known_at(self, lane: str, position: float) -> tuple[set[int], set[tuple[Hole, str]]]:
        """K(lane, position): the least set of events, by `seq`, and of holes with the lane they are seen from."""
        events: set[int] = set()
        holes: set[tuple[Hole, str]] = set()
        seen: set[Position] = set()
        todo: list[Position] = [(lane, position)]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            lane, position = here
            events |= {
                event.seq
                for event in self.events
                if getattr(event, "agent", None) == lane and not isinstance(event, Gap) and event.seq < position
            }
            holes |= {(hole, lane) for hole in self.holes if hole.is_in(lane) and hole.at < position}
            todo += self._inherited(lane)
            todo += self._returned(lane, position)
        return events, holes

    def _inherited(self, name: str) -> list[Position]:
        """What a lane starts with: what its parent knew when it spawned it, or the trunk up to the fork."""
        lane = self.lanes.get(name)
        if lane is None or lane.parent is None:
            return []
        if lane.kind == "branch":
            first = min((event.seq for event in self.events if getattr(event, "agent", None) == name), default=0)
            return [(lane.parent, first if lane.forked_at is None else lane.forked_at)]
        call = self.spawn(lane)
        return [] if call is None else [(lane.parent, self.at(call))]

    def _returned(self, name: str, position: float) -> list[Position]:
        """What came home: the children whose results stand before the position."""
        found: list[Position] = []
        for child in self._children(name):
            call = self.spawn(child)
            result = None if call is None else self.pairing.result_of.get(call.seq)
            if result is not None and result.seq < position:
                found.append((child.id, result.seq))
        return found

    def _children(self, name: str) -> list[Lane]:
        return [lane for lane in self.header.lanes if lane.parent == name and lane.kind != "branch"]

    def known(self, event: Event) -> set[int]:
        """Return the `seq` of the events known to an event; what has no lane knows all that stands before it.

        Snapshots of the state have no lane either: they are read in log order.
        """
        if isinstance(event, LANELESS):
            return {x.seq for x in self.events if x.seq < event.seq and not isinstance(x, Gap)}
        states = {x.seq for x in self.events if isinstance(x, State) and x.seq < event.seq}
        return self.known_at(event.agent or "main", self.at(event))[0] | states

    def known_holes(self, event: Event) -> set[tuple[Hole, str]]:
        """Return the holes known to an event, each with the lane that it is seen from."""
        if isinstance(event, LANELESS):
            return {(hole, "") for hole in self.holes if hole.seq < event.seq}
        return self.known_at(event.agent or "main", self.at(event))[1]

    def is_wide(self, hole: Hole, lane: str) -> bool:
        """Return whether a hole may hide a child's return to the lane, and with it anything the child did."""
        if not hole.can_hide("tool.result"):
            return False
        for child in self._children(lane):
            call = self.spawn(child)
            did = [event for event in self.events if getattr(event, "agent", None) == child.id and event.seq < hole.seq]
            if call is None or not did:
                continue
            result = self.pairing.result_of.get(call.seq)
            if result is None or result.seq > hole.seq:
                return True
        return False

    # Holes

    def _find_holes(self) -> tuple[Hole, ...]:
        found = [self._hole(event) for event in self.events if isinstance(event, Gap)]
        for event in self.events:
            if event.seq in self.pairing.orphans and self.lost_call(event):
                found.append(Hole(seq=event.seq, at=event.seq, agent=event.agent, may_hide=("tool.result",)))  # type: ignore[union-attr]
        if self.written_end == "cut_off":
            end = self.last + 0.5 if self.run_end is None else self.run_end.seq - 0.5
            found.append(Hole(seq=end, at=end, is_end=True))
        return tuple(sorted(found, key=lambda hole: hole.seq))

    def _hole(self, gap: Gap) -> Hole:
        opening = any(self.start(decision) == gap.seq for decision in self._opens(gap))
        return Hole(
            seq=gap.seq,
            at=gap.seq - 0.5 if opening else gap.seq,
            agent=gap.agent,
            turn=gap.turn,
            may_hide=gap.may_hide,
        )

    def lost_call(self, orphan: Event) -> bool:
        """Return whether a gap before an orphan may hide the call that it answers."""
        return has_lost_call(orphan, self.events)


def is_well_formed(header: Header, events: Sequence[Event]) -> bool:
    """Return whether turns open in increasing order and never reopen, and lanes begin behind their spawn."""
    trace = Trace(header, events)
    for lane in trace.lane_names():
        newest: Decision | None = None
        highest = None
        for event in trace.events:
            for decision in trace._opens(event):
                if decision[0] != lane or decision == newest:
                    continue
                if decision[1] == "turn":
                    if highest is not None and decision[2] <= highest:
                        return False
                    highest = decision[2]
                newest = decision
    return all(_begins_behind_its_spawn(trace, lane) for lane in header.lanes)


def _begins_behind_its_spawn(trace: Trace, lane: Lane) -> bool:
    calls = [
        x.seq for x in trace.events if isinstance(x, ToolCall) and x.call_id == lane.call and x.agent == lane.parent
    ]
    own = [x.seq for x in trace.events if getattr(x, "agent", None) == lane.id]
    return not lane.call or not calls or not own or min(calls) < min(own)


__all__ = ["Decision", "Hole", "Trace", "UserMessage", "is_well_formed"]

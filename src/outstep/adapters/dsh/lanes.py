"""One family of sessions as one trace: where the events of children stand among those of their parent.

Logs of a family share no order but the clock, which runs backwards at times. So a child's events stand at one place
of the parent's log, where what it did could first be known:

* a child that the parent waited for: just before the result of the call that started it;
* a child in the background: just before the message that tells the parent it has settled, turn by turn;
* anything else (settled too late, never linked to a call): at the end of the parent's log.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from typing import Literal

from outstep.adapters.dsh import records
from outstep.adapters.dsh.calls import Call, Calls, spawn_of
from outstep.adapters.dsh.family import Session
from outstep.adapters.dsh.messages import Messages
from outstep.adapters.dsh.reader import Disordered, Reader
from outstep.adapters.dsh.records import UNREADABLE, Row
from outstep.adapters.dsh.trace import Trace
from outstep.errors import Problem
from outstep.events import Gap, Lane, RunEnd

STARTED = "started subagent "


def read_trace(
    root: Session, refused: dict[str, Problem], adapter: str, *, reads_flat: bool, wanted: Collection[int] = ()
) -> Trace:
    """Read a family into one trace; raises `Refused` for a shape without a recorded fixture."""
    while True:
        trace = Trace(root, adapter, wanted)
        try:
            family = _Family(trace, refused, reads_flat)
            family.read_root(root)
        except Disordered as found:
            found.session.is_sorted = True  # happens once a session
            continue
        return trace


class _Family:
    """What all members of a family need to read."""

    def __init__(self, trace: Trace, refused: dict[str, Problem], reads_flat: bool) -> None:
        self.trace = trace
        self.refused = refused
        self.reads_flat = reads_flat

    def read_root(self, root: Session) -> None:
        member = _Member(self, root, "main", has_parent=False)
        for _ in member.turns():
            pass
        trace, reader = self.trace, member.reader
        end, reason = _end_of(reader)
        time = None
        if isinstance(reader.last, Row):
            time = reader.time_of(reader.last)
        trace.events.append(RunEnd(seq=trace.next(), time=time, end=end, reason=reason))
        # Whatever came of the end itself stands at the last record, or at the header if there is none.
        trace.place(root, reader.last or Row(type="session", line=1), 0)


class _Member:
    """One session and its children."""

    def __init__(self, family: _Family, session: Session, lane: str, *, has_parent: bool) -> None:
        self._family = family
        self._trace = family.trace
        self._session = session
        self._lane = lane
        self._linked: set[int] = set()
        self._background: dict[str, Iterator[None]] = {}
        self._catalogued: dict[str, None] = {}
        self._by_id: defaultdict[str, deque[Session]] = defaultdict(deque)
        self._by_task: defaultdict[str, deque[Session]] = defaultdict(deque)
        self._by_label: defaultdict[str, deque[Session]] = defaultdict(deque)
        self._is_indexed = False
        family.trace.add_session(session)
        if _is_agent(session):
            session.look()
        self.reader = Reader(family.trace, session, lane, reads_flat=family.reads_flat, has_parent=has_parent)
        for child in session.children:
            self._by_id[child.id].append(child)
            if not _is_agent(child):
                child.look()
                self.reader.forks[child.cut] = 0
        self._messages = Messages(self.reader, is_delegated=_is_agent(session))
        self._calls = Calls(self.reader, self._homecoming)
        self.reader.handlers["subagent/catalog"] = self._catalog
        self._deliver = self.reader.handlers["user/message"]
        self.reader.handlers["user/message"] = self._user

    def turns(self) -> Iterator[None]:
        """Read the session; halts after each turn of the harness."""
        for _ in self.reader.steps():
            yield
        self._close()

    # Children

    def _homecoming(self, call: Call, text: str, failed: bool) -> None:
        """A call that started a sub-agent has its result."""
        spawn = spawn_of(call)
        if text.startswith(STARTED):
            child = text[len(STARTED) :].split(maxsplit=1)[0] if text[len(STARTED) :].strip() else ""
            self._start(child, call)
        elif spawn.run_in_background and not failed:
            session = self._child_of(spawn)
            self._start(session.id if session else "", call)
        else:
            session = self._child_of(spawn)
            if session is not None:
                _exhaust(self._open(session, call))
            elif not failed:
                _exhaust(self._hidden("", call))

    def _start(self, child: str, call: Call) -> None:
        """A child works on in the background."""
        key = child or f"sub-agent:{call.seq}"
        if key in self._background:
            return
        session = self._first_free(self._by_id, child)
        self._background[key] = self._hidden(child, call) if session is None else self._open(session, call)

    def _user(self, row: Row) -> None:
        """A message that tells of a child that has settled brings what the child did."""
        if self._background:
            try:
                source = records.message(row.data).source
                child = records.injected(source).sender_session_id
                if records.source_of(source).kind == "subagent-settled" and child in self._background:
                    next(self._background[child], None)
            except UNREADABLE:
                pass
        self._deliver(row)

    def _child_of(self, spawn: records.Spawn) -> Session | None:
        """Return the child that a call started: by its task, its label, or as the only new one."""
        if not self._is_indexed:
            self._is_indexed = True
            for one in self._session.children:
                if _is_agent(one):
                    one.look()
                    self._by_task[one.prompt or ""].append(one)
                    self._by_label[one.label].append(one)
        chosen = self._first_free(self._by_task, spawn.prompt) or self._first_free(self._by_label, spawn.description)
        if chosen is None and len(self._catalogued) == 1:
            chosen = self._first_free(self._by_id, next(iter(self._catalogued)))
        return chosen

    def _first_free(self, index: dict[str, deque[Session]], key: str | None) -> Session | None:
        """Return the first child under a key that stands nowhere yet."""
        found = index.get(key) if key else None
        while found and found[0].order in self._linked:
            found.popleft()
        return found[0] if found else None

    def _catalog(self, row: Row) -> None:
        self._trace.skipped[row.type] += 1
        self._catalogued[records.catalog(row.data).child_id] = None

    def _open(self, session: Session, call: Call | None) -> Iterator[None]:
        """List a child's lane and return its reader."""
        self._linked.add(session.order)
        self._catalogued.pop(session.id, None)
        session.look()
        lane = self._trace.lane_name(session.id or "sub-agent")
        own = session.head.cwd or ""
        cwd = own if own != (self._session.head.cwd or "") else ""
        if call is not None:
            self._trace.add_lane(Lane(id=lane, parent=call.agent, call=call.call_id, cwd=cwd))
        elif session.cut and not _is_agent(session):
            at = self.reader.forks.get(session.cut, 0)
            self._trace.add_lane(Lane(id=lane, kind="branch", parent=self._lane, forked_at=at, cwd=cwd))
        else:
            self._trace.add_lane(Lane(id=lane, cwd=cwd))
        return _Member(self._family, session, lane, has_parent=True).turns()

    def _hidden(self, child: str, call: Call) -> Iterator[None]:
        """A child that left no log here may have done anything."""
        lane = self._trace.lane_name(child or f"sub-agent:{call.call_id}")
        self._trace.add_lane(Lane(id=lane, parent=call.agent, call=call.call_id))
        name = f"sub-agent `{child}`" if child else f"the sub-agent of call `{call.call_id}`"
        why = "was refused" if child in self._family.refused else "is not among the documents"
        reason = f"the log of {name} {why}"
        self._trace.note(reason)
        self._trace.events.append(Gap(seq=self._trace.next(), agent=lane, reason=reason))
        yield

    def _close(self) -> None:
        """Read what is left of the children at the end of the parent's log."""
        for steps in self._background.values():
            _exhaust(steps)
        for call in list(self._calls.spawns.values()):
            session = self._child_of(spawn_of(call))
            _exhaust(self._hidden("", call) if session is None else self._open(session, call))
        for session in self._session.children:
            if session.order in self._linked:
                continue
            _exhaust(self._open(session, None))


def _end_of(reader: Reader) -> tuple[Literal["completed", "aborted", "cut_off"], str]:
    """Return how the run ended: by the newest end of a turn of the root, if nothing follows it."""
    reason = reader.end
    if reader.is_torn:
        return "cut_off", "the log is torn"
    if reason is None:
        return "cut_off", "the log stops without an end of its turn"
    if reason.kind == "completed":
        return "completed", ""
    return "aborted", _words(reason)


def _words(reason: records.Reason) -> str:
    """Return the reason of an end in words: `error INVALID_REQUEST: bad request`, `aborted by user`."""
    try:
        if reason.error != records.NOTHING:
            error = records.model_error(reason.error)
            return f"{reason.kind} {error.code}: {error.message}".strip()
        if reason.reason != records.NOTHING:
            return f"{reason.kind} by {records.kind(reason.reason).kind}"
    except UNREADABLE:
        pass
    return reason.kind or "unknown"


def _is_agent(session: Session) -> bool:
    return session.head.origin == "subagent"


def _exhaust(steps: Iterator[None]) -> None:
    for _ in steps:
        pass

"""One trace in the making: the events of a family in arrival order, and what the header will say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from msgspec import Raw

from outstep.adapters.base import Origin, Tally
from outstep.adapters.dsh import records
from outstep.adapters.dsh.family import Session
from outstep.adapters.dsh.records import UNREADABLE, Row
from outstep.adapters.dsh.text import Loss
from outstep.digest import sha256
from outstep.errors import Place, Problem
from outstep.events import EVENT_TYPES, SCHEMA, Event, Header, Lane, Source

MOST_NOTES = 20
MOST_FAULTS = 20
"""Damaged records of one trace that are named one by one."""
LONGEST_RECORD = 1 << 16

RECORDS = tuple(type_ for type_ in EVENT_TYPES if type_ != "state")
"""The event types that a session log can hold."""


class Trace:
    """Collects what the readers of a family's logs find."""

    def __init__(self, root: Session, adapter: str, wanted: Collection[int] = ()) -> None:
        self.root = root
        self.events: list[Event] = []
        self.seq = 0
        """The last number given to an event."""
        self.skipped: defaultdict[str, int] = defaultdict(int)
        self.records = 0
        self.faults: list[Problem] = []
        self.origins: dict[int, Origin] = {}
        self.wanted = frozenset(wanted)
        self.model = ""
        self.prompt = ""
        self.config = ""
        self.skills: dict[str, None] = {}
        self._tools: dict[str, str] = {}
        self._adapter = adapter
        self._lanes: dict[str, Lane] = {}
        self._namesakes: defaultdict[str, int] = defaultdict(int)
        self._sessions: list[Session] = []
        self._notes: list[str] = []
        self._more_faults = 0
        self._more_notes = 0

    def next(self) -> int:
        """Return the number of the next event."""
        self.seq += 1
        return self.seq

    def add_session(self, session: Session) -> None:
        """Name a log as a source of this trace."""
        session.log.keeps_records = bool(self.wanted)
        self._sessions.append(session)
        for sentence in session.notes:
            self.note(sentence)

    def add_lane(self, lane: Lane) -> None:
        """List a lane other than `main`."""
        self._lanes[lane.id] = lane

    def lane_name(self, wish: str) -> str:
        """Return a lane id that is not taken."""
        name = wish
        while name in self._lanes or name == "main":
            self._namesakes[wish] += 1
            name = f"{wish}#{self._namesakes[wish] + 1}"
        return name

    def note(self, sentence: str) -> None:
        """Keep a sentence for people; beyond a few only their number."""
        if len(self._notes) < MOST_NOTES:
            self._notes.append(sentence)
        else:
            self._more_notes += 1

    def fault(self, problem: Problem) -> None:
        """Keep a fault; beyond a few only their number, but for what ends the reading."""
        if len(self.faults) < MOST_FAULTS or problem.code == "adapter/too-large":
            self.faults.append(problem)
        else:
            self._more_faults += 1

    def all_faults(self) -> list[Problem]:
        """Return the faults, the uncounted ones in a last sentence."""
        if not self._more_faults:
            return self.faults
        last = Problem(
            code="adapter/damaged-record",
            sentence=f"{self._more_faults} more records of `{self.root.log.uri}` are damaged",
            place=Place(source=self.root.log.uri),
            help="the log as a whole is damaged: restore it from its source",
        )
        return [*self.faults, last]

    def declare(self, tools: Raw, *, is_main: bool) -> None:
        """Keep name and digest of each declared tool; the newest declaration of the root wins."""
        for text in records.raw_list(tools):
            try:
                name = records.tool(text).name
            except UNREADABLE:
                continue
            digest = sha256(bytes(text)).hexdigest()
            if is_main:
                self._tools[name] = digest
            else:
                self._tools.setdefault(name, digest)

    def place(self, session: Session, at: Row | Loss, since: int) -> None:
        """Remember where the events after number `since` stand, if someone wants to know."""
        for seq in range(since + 1, self.seq + 1):
            if seq in self.wanted and seq not in self.origins:
                self.origins[seq] = Origin(
                    place=Place(source=session.log.uri, line=at.line or None, offset=at.offset if at.line else None),
                    raw_seq=_number(at),
                    record=at.record[:LONGEST_RECORD].decode(errors="replace") if isinstance(at, Row) else "",
                )

    def header(self) -> Header:
        """Return the header; only complete once every log has been read."""
        return Header(
            schema=SCHEMA,
            id=self.root.trace,
            sources=tuple(
                Source(
                    uri=session.log.uri,
                    sha256=session.log.sha256,
                    format="dsh",
                    version=str(session.head.version),
                    adapter=self._adapter,
                    unpinned=session.is_unpinned or session.is_flat,
                )
                for session in self._sessions
            ),
            harness="dsh",
            model=self.model,
            prompt=self.prompt,
            skills=tuple(self.skills),
            tools=self._tools,
            config=self.config,
            cwd=self.root.head.cwd or "",
            lanes=tuple(self._lanes.values()),
            records=RECORDS,
        )

    def tally(self) -> Tally:
        """Return what was read, for the line that people see."""
        more = [f"and {self._more_notes} more of this kind"] if self._more_notes else []
        return Tally(
            trace=self.root.trace,
            records=self.records,
            skipped=dict(sorted(self.skipped.items())),
            notes=self._notes + more,
        )


def _number(at: Row | Loss) -> int | None:
    if isinstance(at, Loss):
        return None
    return at.seq if at.seq is not None else at.seq0

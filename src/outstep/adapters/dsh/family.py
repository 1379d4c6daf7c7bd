"""Which logs belong together: generations and copies of one session, parents and children.

Whatever the order in which documents are given, the same families come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct, field

from outstep.adapters.base import Document, Options
from outstep.adapters.dsh import records, storage
from outstep.adapters.dsh.records import UNREADABLE, Head
from outstep.adapters.dsh.text import Log
from outstep.errors import Place, Problem

PINNED = (0, 3, 4)
DEEPEST = 32
"""Generations of sub-agents in one trace; dsh itself allows one by default."""

HELP_UNPINNED = "record a fixture (docs/adapters/dsh.md#new-version) or pass --unpinned"


class Session(Struct, eq=False):
    """One session: its log, its header and its children."""

    log: Log
    head: Head
    order: int
    """Place of its log among all logs, by name."""
    trace: str = ""
    """Id of the trace it is the root of."""
    children: list[Session] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_sorted: bool = False
    """Its rows are out of order and must be sorted before they are read."""
    is_flat: bool = False
    """Written in the flat shape from before the first release, which no recording vouches for."""
    cut: int = -1
    """Rows below this number are the parent's history; -1: not yet looked for."""
    prompt: str | None = None
    """The first message that it got."""
    label: str = ""

    @property
    def id(self) -> str:
        """The session's own id."""
        return self.head.id

    @property
    def is_unpinned(self) -> bool:
        """No recorded fixture vouches for its version."""
        return self.head.version not in PINNED

    def look(self) -> None:
        """Find where its own history begins, and what it was asked."""
        if self.cut >= 0:
            return
        self.cut = max(0, self.head.seed_length or 0)
        if self.head.is_seeded:
            self.cut = _end_of_seed(self.log)
        for row in self.log.rows():
            if not isinstance(row, records.Row) or (row.seq if row.seq is not None else -1) < self.cut:
                continue
            try:
                if row.type == "subagent/descriptor":
                    self.label = records.descriptor(row.data).label or ""
                elif row.type == "user/message":
                    blocks = records.message(row.data).content
                    self.prompt = (blocks[0].text or "") if blocks else ""
                    return
            except UNREADABLE:
                continue


def families(
    documents: list[Document], options: Options, fault: Callable[[Problem], None]
) -> tuple[list[Session], dict[str, Problem]]:
    """Return the roots, children attached, and why each session that is refused is not read (by id)."""
    sessions: list[Session] = []
    refused: dict[str, Problem] = {}
    for order, log in enumerate(storage.logs(documents)):
        head = log if isinstance(log, Problem) else log.head()
        if isinstance(log, Problem) or isinstance(head, Problem):
            fault(head)  # type: ignore[arg-type]
            continue
        sessions.append(Session(log=log, head=head, order=order))
    chosen: list[Session] = []
    for session in _without_copies(_newest(sessions)):
        if session.is_unpinned and not options.unpinned:
            refused[session.id] = _unpinned(session)
            fault(refused[session.id])
        else:
            chosen.append(session)
    roots = _attach(chosen)
    _name(roots)
    return roots, refused


def _newest(sessions: list[Session]) -> list[Session]:
    """Of several generations of one session in one folder, keep the newest."""
    found: dict[tuple[str, str], list[Session]] = {}
    for session in sessions:
        found.setdefault((session.log.folder, session.id), []).append(session)
    kept: list[Session] = []
    for group in found.values():
        newest = max(session.head.version for session in group)
        of_newest = [session for session in group if session.head.version == newest]
        for session in group:
            if session.head.version != newest:
                of_newest[0].notes.append(
                    f"`{session.log.uri}` is an older generation of the same session and was not read"
                )
        kept += of_newest
    return sorted(kept, key=lambda session: session.order)


def _without_copies(sessions: list[Session]) -> list[Session]:
    """Of several copies of one log, keep the longest; logs that differ are all kept."""
    found: dict[tuple[str, float | None, int], list[Session]] = {}
    for session in sessions:
        found.setdefault((session.id, session.head.created_at, session.head.version), []).append(session)
    dropped: set[int] = set()
    for group in found.values():
        for index, session in enumerate(group):
            for other in group[index + 1 :]:
                if session.order in dropped or other.order in dropped:
                    continue
                longer = _longer(session, other)
                if longer is not None:
                    shorter = other if longer is session else session
                    dropped.add(shorter.order)
                    longer.notes.append(f"`{shorter.log.uri}` is a copy of the same log and was not read")
    return [session for session in sessions if session.order not in dropped]


def _longer(one: Session, other: Session) -> Session | None:
    """Return the log that holds all of the other, or none if they differ."""
    rows, others = _identities(one.log), _identities(other.log)
    while True:
        row, its = next(rows, None), next(others, None)
        if row is None:
            return one if its is None else other
        if its is None:
            return one
        if row != its:
            return None


def _identities(log: Log) -> Iterator[object]:
    for row in log.rows():
        if not isinstance(row, records.Row):
            continue
        yield (row.type, row.seq, row.seq0, row.time, bytes(row.data))


def _attach(sessions: list[Session]) -> list[Session]:
    by_id: dict[str, list[Session]] = {}
    for session in sessions:
        by_id.setdefault(session.id, []).append(session)
    parents: dict[int, Session] = {}
    for session in sessions:
        candidates = [other for other in by_id.get(session.head.parent_session or "", ()) if other is not session]
        if candidates:
            parents[session.order] = max(candidates, key=lambda other: (_nearness(session, other), -other.order))
    roots: list[Session] = []
    for session in sessions:
        parent = parents.get(session.order)
        if parent is None or not _is_rooted(session, parents):
            roots.append(session)
        else:
            parent.children.append(session)
    for session in sessions:
        session.children.sort(key=lambda child: (child.head.created_at or 0.0, child.id, child.order))
    roots.sort(key=_first)
    return roots


def _is_rooted(session: Session, parents: dict[int, Session]) -> bool:
    """Return whether a few steps up lead to a root: not round in a circle, nor down a bottomless chain."""
    seen = {session.order}
    parent = parents.get(session.order)
    while parent is not None:
        if parent.order in seen or len(seen) > DEEPEST:
            return False
        seen.add(parent.order)
        parent = parents.get(parent.order)
    return True


def _nearness(session: Session, other: Session) -> int:
    """Return how many folders two logs share."""
    count = 0
    for one, its in zip(session.log.folder.split("/"), other.log.folder.split("/"), strict=False):
        if one != its:
            break
        count += 1
    return count


def _first(session: Session) -> int:
    return min((session.order, *(_first(child) for child in session.children)))


def _name(roots: list[Session]) -> None:
    """Give each trace the id of its root; where sessions of different runs share one, a number tells them apart."""
    taken: set[str] = set()
    for root in roots:
        name, number = root.id, 1
        while name in taken:
            number += 1
            name = f"{root.id}#{number}"
        taken.add(name)
        root.trace = name


def _end_of_seed(log: Log) -> int:
    cut = 0
    for row in log.rows():
        if isinstance(row, records.Row) and row.type == "session/end-seed" and row.seq is not None:
            try:
                if records.end_seed(row.data).inherited:
                    cut = row.seq + 1
            except UNREADABLE:
                continue
    return cut


def _unpinned(session: Session) -> Problem:
    return Problem(
        code="adapter/unpinned-version",
        sentence=f"`{session.log.uri}` was written in session format {str(session.head.version)[:20]}; "
        "the dsh adapter is pinned to 0, 3 and 4",
        place=Place(source=session.log.uri, line=1),
        help=HELP_UNPINNED,
    )

"""`qwen-code`: session records of Qwen Code, with the records of its sub-agents.

docs: docs/adapters/qwen-code.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog, Tally
from outstep.adapters.ordering import Settled, end_gap, settle
from outstep.adapters.qwen_records import AGENT, Row, Teller, calls_of, read_row
from outstep.adapters.records import RECORD_SHOWN, Damage, Damages, Value, digest, read_values
from outstep.adapters.traces import Ids, finished
from outstep.errors import Place
from outstep.events import SCHEMA, Event, Header, Lane, RunEnd, Source

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter

RECORDS = ("user.message", "assistant.message", "decision", "tool.call", "tool.result", "context", "gap", "run.end")


class QwenCode:
    """Reads the files that Qwen Code keeps of its sessions."""

    name = "qwen-code"
    version = "1"
    pinned: tuple[str, ...] = ("0.15", "0.24")
    title = "session records of Qwen Code, with sub-agents"
    joins = True
    cannot_carry: tuple[str, ...] = (
        "no end mark: that a run is whole is inferred from its last message",
        "no system prompt, no list of the tools that were offered, and no parameters of the model",
        "approvals: a call that was not let run is a denied result, and one that a person let run looks like any other",
        "a conversation that was wound back: what was said before stays in the record, as if it went on",
    )

    def sniff(self, document: Document, head: bytes) -> bool:  # noqa: ARG002
        """Return whether one of the first lines is a record of a session, with parts."""
        from outstep.adapters.opening import opening

        found = opening(head)
        return any(map(_is_ours, found.values))

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield a trace for each session, its sub-agents as lanes."""
        for session in self._sessions(documents, options, log):
            yield [session.header, *session.settled.events]

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Find the lines of events again."""
        found: dict[tuple[str, int], Origin] = {}
        for session in self._sessions(documents, options, ReadLog()):
            seqs = frozenset(wanted.get(session.header.id, ()))
            for event, source in zip(session.settled.events, session.settled.sources, strict=False):
                if event.seq in seqs and source < len(session.rows):
                    row = session.rows[source]
                    text = row.text[:RECORD_SHOWN].decode("utf-8", "replace")
                    found[session.header.id, event.seq] = Origin(place=row.place, record=text)
        return found

    def _sessions(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Session]:
        ids = Ids()
        files = [file for document in documents if (file := self._file(document, options, log)) is not None]
        by_session: dict[str, list[File]] = {}
        for file in files:
            by_session.setdefault(file.session, []).append(file)
        for name, group in by_session.items():
            yield self._session(name, group, options, log, ids)

    def _file(self, document: Document, options: Options, log: ReadLog) -> File | None:
        """Read one file; none where its version has no fixture, or it holds no record."""
        rows: list[Row] = []
        damages = Damages(document, log)
        torn = ""
        for item in read_values(document, log):
            place = Place(source=document.uri, line=item.line, offset=item.offset)
            if isinstance(item, Damage):
                if item.torn and rows:
                    torn = f"the last line ({item.line}) is cut off"
                    continue
                damages.add(item.line, item.offset, item.reason)
                rows.append(Row(place=place, reason=f"line {item.line} is damaged"))
            else:
                rows.append(_row(item, place, damages))
        damages.close()
        first = next((row for row in rows if row.session), None)
        if first is None:
            _no_session(document, rows, log)
            return None
        versions = {_series(row.version) for row in rows if row.version} - set(self.pinned)
        if versions and not options.unpinned:
            _unpinned(document, sorted(versions), self.pinned, log)
            return None
        return File(
            document=document,
            session=first.session,
            agent=first.agent,
            version=_series(first.version),
            rows=rows,
            torn=torn,
            is_unpinned=bool(versions),
        )

    def _session(self, name: str, files: list[File], options: Options, log: ReadLog, ids: Ids) -> Session:
        main = next((file for file in files if not file.agent), files[0])
        name = ids.give(name, main.document)
        tally = log.tally(Tally(trace=name))
        lanes = _lanes(files)
        rows = list(_merged(files, lanes))
        teller = Teller(tally, {lane.call for lane in lanes.values()})
        items = [item for row in rows for item in teller.told(row)]
        items += teller.rest(rows[-1])
        settled = settle([item for item, _ in items], tuple(lanes.values()))
        events, sources = list(settled.events), [items[index][1] for index in settled.sources]
        # What an origin shows is the record, so sources lead to rows.
        numbers = {id(row): at for at, row in enumerate(rows)}
        torn = "; ".join(file.torn for file in files if file.torn)
        if torn:
            events += _torn(events, torn)
        header = Header(
            schema=SCHEMA,
            id=name,
            sources=tuple(self._source(file) for file in files),
            harness="qwen-code",
            model=teller.model,
            cwd=next((row.cwd for row in rows if row.cwd), ""),
            lanes=tuple(lanes.values()),
            records=RECORDS,
        )
        header, tally.end = finished(header, events, options.complete)
        settled = Settled(events=events, sources=[numbers[id(row)] for row in sources], lanes=settled.lanes)
        return Session(header=replace(header, lanes=settled.lanes), settled=settled, rows=rows)

    def _source(self, file: File) -> Source:
        return Source(
            uri=file.document.uri,
            sha256=digest(file.document),
            format=self.name,
            version=file.version,
            adapter=f"{self.name}@{self.version}",
            unpinned=file.is_unpinned,
        )


class File(Struct, frozen=True, kw_only=True):
    """One file of a session."""

    document: Document
    session: str
    agent: str
    """Of a sub-agent; empty for the session itself."""
    version: str
    rows: list[Row]
    torn: str
    is_unpinned: bool


class Session(Struct, frozen=True, kw_only=True):
    """One trace, and for each event the row that it comes from."""

    header: Header
    settled: Settled
    rows: list[Row]


def _is_ours(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("sessionId"), str) or "uuid" not in value:
        return False
    message = value.get("message")
    if isinstance(message, dict):
        return isinstance(message.get("parts"), list)
    return value.get("type") == "system" and "systemPayload" in value


def _row(item: Value, place: Place, damages: Damages) -> Row:
    row = read_row(item.value, place, item.text)
    if row is not None:
        return row
    damages.add(item.line or 1, item.offset or 0, "it is no record of a session")
    return Row(place=place, reason=f"line {item.line or 1} is damaged")


def _no_session(document: Document, rows: list[Row], log: ReadLog) -> None:
    if rows:
        log.fault(
            "input/no-traces",
            f"`{document.uri}` holds no session",
            place=Place(source=document.uri),
            help="a record of Qwen Code has a `sessionId` in each line; docs/adapters/qwen-code.md says where they lie",
        )


def _unpinned(document: Document, versions: list[str], pinned: tuple[str, ...], log: ReadLog) -> None:
    log.fault(
        "adapter/unpinned-version",
        f"`{document.uri}` was written by Qwen Code {', '.join(versions)}, and no recorded fixture vouches for that",
        place=Place(source=document.uri),
        help=f"pinned: {', '.join(pinned)}; `--unpinned` reads it all the same, and marks the trace",
    )


def _series(version: str) -> str:
    """Return the first two parts of a version: a release that only mends keeps the form."""
    return ".".join(version.split(".")[:2])


def _lanes(files: list[File]) -> dict[str, Lane]:
    """Return a lane for each sub-agent, with the call that spawned it where the record tells it."""
    calls = [call for file in files for row in file.rows for call in calls_of(row, AGENT)]
    lanes = {}
    for file in files:
        if file.agent:
            # An agent is named by its type and the id of its call.
            call = next((id for id in calls if id and file.agent.endswith(f"-{id}")), "")
            lanes[file.agent] = Lane(id=file.agent, parent="main" if call else None, call=call)
    return lanes


def _merged(files: list[File], lanes: Mapping[str, Lane]) -> Iterator[Row]:
    """Yield the rows of all files by time, each file in its own order, and no sub-agent before its call."""
    spawned = {
        id: row.moment or 0.0 for file in files if not file.agent for row in file.rows for id in calls_of(row, AGENT)
    }
    keyed: list[tuple[float, int, int, Row]] = []
    for number, file in enumerate(sorted(files, key=lambda file: (bool(file.agent), file.agent))):
        lane = lanes.get(file.agent)
        time = spawned.get(lane.call, 0.0) if lane is not None else 0.0
        for at, row in enumerate(file.rows):
            time = max(time, row.moment or 0.0)
            keyed.append((time, number, at, replace(row, agent=file.agent or "main")))
    return (row for _, _, _, row in sorted(keyed, key=lambda item: item[:3]))


def _torn(events: list[Event], reason: str) -> list[Event]:
    seq = events[-1].seq + 1 if events else 1
    return [end_gap(events, seq, reason), RunEnd(seq=seq + 1, end="cut_off", reason=reason)]


ADAPTER: Adapter = QwenCode()

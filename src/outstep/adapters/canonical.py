"""The canonical JSON Lines form, read piece by piece (docs/events.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog, Tally
from outstep.adapters.ordering import Hole, Settled, Shape, end_gap, have_no_turns, is_rising, settle
from outstep.adapters.records import CHUNK, RECORD_SHOWN, Damages, Lines, digest, split, unreadable, whole_lines
from outstep.adapters.traces import Ids, malformed
from outstep.codec import decode_event, decode_event_lines
from outstep.errors import Place
from outstep.events import EVENT_TYPES, SCHEMA, Context, Event, Header, RunEnd, Source

NAME = "native"
VERSION = "1"
HELD = 20_000
"""Events of one trace that are kept until it is known that no later one belongs before them."""


class _Envelope(Struct, frozen=True):
    """What an event of an unknown type still tells."""

    type: str
    seq: int
    agent: str = "main"
    time: float | None = None


_seq_of = attrgetter("seq")
_envelopes = msgspec.json.Decoder(_Envelope)


class _Record(Struct, frozen=True, kw_only=True):
    """What a line holds: an event, a header, or a hole; with its place."""

    item: Event | Header | Hole
    line: int
    offset: int
    text: bytes
    torn: bool = False


def is_canonical(document: Document) -> bool:
    """Return whether the first line that is not blank is a header."""
    try:
        with document.open() as file:
            for lines in whole_lines(file):
                for _, _, text in split(lines):
                    return isinstance(_of_line(text), Header)
    except OSError:
        pass
    return False


def _of_line(text: bytes) -> Event | Header | Hole:
    try:
        text.decode()
        return decode_event(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    try:
        envelope = _envelopes.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return Hole(reason=reason)
    if envelope.type in EVENT_TYPES or envelope.type == "trace":
        return Hole(reason=reason)
    name = envelope.type[:80]
    return Context(seq=envelope.seq, agent=envelope.agent, time=envelope.time, what="record.unknown", name=name)


def _at_once(lines: Lines, *, apart: bool = False) -> list[Event | Header] | None:
    """Decode whole lines together; none if one of them needs a closer look.

    An event keeps the text alive that it was decoded from: with `apart`, that is its own line, and else all of them.
    """
    body = lines.body
    try:
        if not body.isascii():
            body.decode()
        items = list(map(decode_event, body.splitlines())) if apart else decode_event_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # A blank line gives no item, and two records on one line give two: both are looked at one by one.
    return items if len(items) == lines.count else None


def _one_by_one(lines: Lines) -> Iterator[_Record]:
    for number, offset, text in split(lines):
        item = _of_line(text)
        # Only text that stops in the middle of a value is torn; a whole value that is no event is damage.
        torn = lines.last and isinstance(item, Hole) and not _is_json(text)
        yield _Record(item=item, line=number, offset=offset, text=text, torn=torn)


def _is_json(text: bytes) -> bool:
    try:
        text.decode()
        msgspec.json.decode(text, type=msgspec.Raw)
        return True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


class _Trace:
    """The trace being read: held back until its order is known, then handed on as it comes.

    Written for speed where a short trace comes through whole: there are many of those in one file.
    """

    __slots__ = (
        *("_latest", "_shape", "flaw", "has_end", "header", "held", "is_flowing"),
        *("is_known_unplain", "is_plain", "last", "tally"),
    )

    def __init__(self, header: Header, tally: Tally) -> None:
        self.header = header
        self.tally = tally
        self.held: list[Event | Hole] = []
        self.last: int | None = None
        self.is_plain = True
        """In order and without holes so far."""
        self.is_flowing = False
        self.is_known_unplain = False
        self.has_end = False
        self.flaw = ""
        self._latest: list[Event] = []
        self._shape: Shape | None = None

    def add(self, events: list[Event]) -> None:
        """Take events as they stand in the file; the list is the trace's own from here on."""
        seqs = list(map(_seq_of, events))
        if not is_rising(seqs, self.last):
            self.is_plain = False
        self.last = seqs[-1]
        if self.held:
            self.held += events
        else:
            self.held = events  # type: ignore[assignment]
        self.tally.records += len(events)

    def add_hole(self, hole: Hole) -> None:
        """Take note of a damaged record."""
        self.is_plain = False
        self.held.append(hole)
        self.tally.records += 1

    def release(self, batch: Batch) -> None:
        """Add what is held to a batch; later events are known to follow."""
        if not self.is_flowing:
            self.is_flowing = True
            batch.append(self.header)
        if self.held:
            events: list[Event] = self.held  # type: ignore[assignment]
            self._look_at(events)
            batch += events
            self.held = []

    def close(self, options: Options, torn: str, batch: Batch) -> None:
        """Add the rest of the trace to a batch, with its end."""
        if not self.is_plain:
            settled = settle(self.held, self.header.lanes)
            self.held = list(settled.events)
            self.header = replace(self.header, lanes=settled.lanes)
        if not torn and not options.complete:
            self.release(batch)
            return
        before = self.is_flowing
        self.has_end = self.has_end or RunEnd in set(map(type, self.held))
        taken = not (self.header.complete or self.has_end or torn)
        if taken:
            self.tally.end = "taken"
            if not before:
                self.header = replace(self.header, complete=True)
        self.release(batch)
        if torn or (taken and before):
            batch += self._end(torn)

    def _end(self, torn: str) -> list[Event]:
        seq = self._latest[-1].seq + 1 if self._latest else 1
        if not torn:
            # The header has been handed on, so the end that the caller vouches for is written out.
            return [RunEnd(seq=seq, end="completed", reason="taken as complete")]
        gap = end_gap(self._latest, seq, torn)
        return [gap] if self.has_end else [gap, RunEnd(seq=seq + 1, end="cut_off", reason=torn)]

    def _look_at(self, events: list[Event]) -> None:
        self._latest = events
        if type(events[-1]) is RunEnd:
            self.has_end = True
        if self.flaw or (self._shape is None and not self.header.lanes and have_no_turns(events)):
            return
        if self._shape is None:
            self._shape = Shape(self.header.lanes)
        self.flaw = self._shape.flaw(events)


class Canonical:
    """Reads one document in the canonical form, piece by piece."""

    def __init__(self, document: Document, options: Options, log: ReadLog, ids: Ids) -> None:
        self._document = document
        self._options = options
        self._log = log
        self._ids = ids
        self._damages = Damages(document, log)
        self._trace: _Trace | None = None
        self._source = Source(uri=document.uri, format=NAME, version=SCHEMA, adapter=f"{NAME}@{VERSION}")

    def batches(self) -> Iterator[Batch]:
        """Yield the traces of the document."""
        self._source = replace(self._source, sha256=digest(self._document))
        torn = ""
        try:
            with self._document.open() as file:
                for lines in whole_lines(file):
                    batch, torn = self._take(lines)
                    if batch:
                        yield batch
        except OSError as error:
            unreadable(self._document, error, self._log)
            torn = "the rest of the file cannot be read"
        last: Batch = []
        self._close(torn, last)
        if last:
            yield last
        self._damages.close()

    def _take(self, lines: Lines) -> tuple[Batch, str]:
        """Return what can be handed on, and why the record is torn, if it is."""
        # Of a long trace, some events are kept for long: those that something waits for.
        items = _at_once(lines, apart=self._trace is not None and self._trace.is_flowing)
        batch: Batch = []
        if items is None:
            return self._take_slowly(lines)
        kinds = list(map(type, items))
        start = 0
        for _ in range(kinds.count(Header)):
            index = kinds.index(Header, start)
            self._add(items[start:index], batch)  # type: ignore[arg-type]
            self._open(items[index], lines.line + index, batch)  # type: ignore[arg-type]
            start = index + 1
        self._add(items[start:] if start else items, batch)  # type: ignore[arg-type]
        self._release(lines, batch)
        return batch, ""

    def _take_slowly(self, lines: Lines) -> tuple[Batch, str]:
        batch: Batch = []
        torn = ""
        for record in _one_by_one(lines):
            item = record.item
            if isinstance(item, Header):
                self._open(item, record.line, batch)
            elif not isinstance(item, Hole):
                self._add([item], batch)
                self._count_unknown(item)
            elif record.torn and self._trace is not None:
                torn = f"the last line ({record.line}) is cut off"
            else:
                self._damages.add(record.line, record.offset, item.reason)
                if self._trace is not None:
                    self._trace.add_hole(Hole(reason=f"line {record.line} is damaged"))
        self._release(lines, batch)
        return batch, torn

    def _count_unknown(self, item: Event) -> None:
        if self._trace is not None and isinstance(item, Context) and item.what == "record.unknown":
            self._trace.tally.skipped[item.name] = self._trace.tally.skipped.get(item.name, 0) + 1

    def _add(self, events: list[Event], batch: Batch) -> None:
        if events and self._trace is not None:
            self._trace.add(events)
            if self._trace.is_flowing:
                self._trace.release(batch)

    def _release(self, lines: Lines, batch: Batch) -> None:
        """Let a long trace flow, once a look ahead has shown that the rest of it is in order."""
        trace = self._trace
        if trace is None or trace.is_flowing or trace.is_known_unplain or len(trace.held) < HELD:
            return
        if trace.is_plain and _rest_is_plain(self._document, lines.offset + len(lines.body), trace.last):
            trace.release(batch)
        else:
            trace.is_known_unplain = True

    def _open(self, header: Header, line: int, batch: Batch) -> None:
        self._close("", batch)
        unpinned = header.schema != SCHEMA
        if unpinned and not self._options.unpinned:
            self._log.fault(
                "adapter/unpinned-version",
                f"`{self._document.uri}` was written in trace schema `{header.schema}`; "
                f"the native adapter is pinned to {SCHEMA}",
                place=Place(source=self._document.uri, line=line),
                help="record a fixture (docs/adapters/native.md#new-version) or pass --unpinned",
            )
            self._trace = None
            return
        name = self._ids.give(header.id, self._document)
        source = self._source
        if source.version != header.schema or source.unpinned != unpinned:
            source = replace(source, version=header.schema, unpinned=unpinned)
        earlier = tuple(source for source in header.sources if source.format != NAME) if header.sources else ()
        self._trace = _Trace(
            replace(header, schema=SCHEMA, id=name, sources=(source, *earlier)), self._log.tally(Tally(trace=name))
        )

    def _close(self, torn: str, batch: Batch) -> None:
        trace = self._trace
        if trace is not None:
            trace.close(self._options, torn, batch)
            self._trace = None
            if trace.flaw:
                malformed(self._document, trace.header.id, trace.flaw, self._log)


def _rest_is_plain(document: Document, offset: int, last: int | None) -> bool:
    """Return whether the events from a byte offset to the end of their trace are whole and in order."""
    try:
        with document.open() as file:
            _skip(file, offset)
            for lines in whole_lines(file):
                items = _at_once(lines)
                if items is not None and Header not in set(map(type, items)):
                    seqs = list(map(_seq_of, items))
                    if not is_rising(seqs, last):
                        return False
                    last = seqs[-1]
                    continue
                for record in _one_by_one(lines):
                    item = record.item
                    if isinstance(item, Header):
                        return True
                    if not record.torn and (isinstance(item, Hole) or (last is not None and item.seq <= last)):
                        return False
                    last = getattr(item, "seq", last)
    except OSError:
        return False
    return True


def _skip(file: BinaryIO, offset: int) -> None:
    if file.seekable():
        file.seek(offset)
        return
    while offset > 0:
        piece = file.read(min(offset, CHUNK))
        if not piece:
            return
        offset -= len(piece)


def _behind_headers(records: Iterator[_Record], count: int) -> Iterator[_Record]:
    """Yield what stands behind the first headers."""
    for record in records:
        if count == 0:
            yield record
        elif isinstance(record.item, Header):
            count -= 1


class Search(Canonical):
    """The second look: finds lines of events, holding only traces that are out of order."""

    _is_sought = False
    """Whether something is sought in the trace that was named last."""

    def find(self, wanted: Mapping[str, frozenset[int]]) -> dict[tuple[str, int], Origin]:
        """Return the places of the wanted events of this document."""
        ids = self._ids.copy()
        found, crooked = self._pass(wanted, frozenset())
        if crooked:
            self._ids = ids
            found.update(self._pass(wanted, crooked)[0])
        return found

    def _pass(
        self, wanted: Mapping[str, frozenset[int]], held: frozenset[str]
    ) -> tuple[dict[tuple[str, int], Origin], frozenset[str]]:
        """Look for events by their own numbers, in `held` traces by the numbers that they are given anew."""
        found: dict[tuple[str, int], Origin] = {}
        crooked: set[str] = set()
        name, last = "", None
        records: list[_Record] = []
        self._is_sought = False
        for record in self._records():
            item = record if isinstance(record, Header) else record.item
            if isinstance(item, Header):
                found.update(self._settled(name, records, wanted))
                records = []
                name = self._name(item)
                self._is_sought = name in wanted
                last = None
                continue
            assert not isinstance(record, Header)
            if not self._is_sought:
                continue
            if name in held:
                records.append(record)
                continue
            if record.torn:
                seq = (last or 0) + 1
                for number in wanted[name] & {seq, seq + 1}:
                    found[name, number] = self._origin(record, None)
            elif isinstance(item, Hole) or (last is not None and item.seq <= last):
                crooked.add(name)
            else:
                last = item.seq
                if last in wanted[name]:
                    found[name, last] = self._origin(record, last)
        found.update(self._settled(name, records, wanted))
        return found, frozenset(crooked)

    def _name(self, header: Header) -> str:
        if header.schema != SCHEMA and not self._options.unpinned:
            return ""
        return self._ids.give(header.id, self._document)

    def _records(self) -> Iterator[_Record | Header]:
        """Yield the headers, and the records of the traces in which something is sought; perhaps others too."""
        try:
            with self._document.open() as file:
                for lines in whole_lines(file):
                    items = _at_once(lines)
                    yield from _one_by_one(lines) if items is None else self._sought(lines, items)
        except OSError:
            return

    def _sought(self, lines: Lines, items: list[Event | Header]) -> Iterator[_Record | Header]:
        """Do the same for lines that can be read together: only those of traces that are sought are cut apart."""
        kinds = list(map(type, items))
        places = [*(index for index, kind in enumerate(kinds) if kind is Header), len(items)]
        texts: list[bytes] = []
        start = 0
        for passed, end in enumerate(places):
            if self._is_sought and start < end:
                if not texts:
                    texts = lines.body.split(b"\n")
                    if not all(map(bytes.strip, texts[: len(items)])):
                        # A blank line, so two records stand on another one: each line is looked at by itself.
                        yield from _behind_headers(_one_by_one(lines), passed)
                        return
                offset = lines.offset + sum(map(len, texts[:start])) + start
                for index in range(start, end):
                    yield _Record(item=items[index], line=lines.line + index, offset=offset, text=texts[index])
                    offset += len(texts[index]) + 1
            if end < len(items):
                yield items[end]  # type: ignore[misc]
            start = end + 1

    def _settled(
        self, name: str, records: list[_Record], wanted: Mapping[str, frozenset[int]]
    ) -> dict[tuple[str, int], Origin]:
        if not records:
            return {}
        whole = [record for record in records if not record.torn]
        settled: Settled = settle([record.item for record in whole])  # type: ignore[misc]
        found = {}
        for event, index in zip(settled.events, settled.sources, strict=True):
            if event.seq in wanted[name]:
                item = whole[index].item
                found[name, event.seq] = self._origin(whole[index], getattr(item, "seq", None))
        if len(whole) < len(records) and settled.events:
            seq = settled.events[-1].seq + 1
            for number in wanted[name] & {seq, seq + 1}:
                found[name, number] = self._origin(records[-1], None)
        return found

    def _origin(self, record: _Record, seq: int | None) -> Origin:
        return Origin(
            place=Place(source=self._document.uri, line=record.line, offset=record.offset),
            raw_seq=seq,
            record=record.text.strip(b"\r")[:RECORD_SHOWN].decode("utf-8", "replace"),
        )

"""The seed form: traces that people write by hand, read into events.

One event a line, or documents with `events`; names in camel case or as ours (docs/adapters/native.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Document, Options, Origin, ReadLog, Tally
from outstep.adapters.ordering import Hole, Settled, Shape, end_gap, settle
from outstep.adapters.records import RECORD_SHOWN, Damage, Damages, Value, digest, read_values
from outstep.adapters.seed_events import Unfit, is_whole_number, read_event, text_of
from outstep.adapters.traces import SEED, Ids, finished, malformed
from outstep.codec import Json, encode
from outstep.errors import Place
from outstep.events import EVENT_TYPES, SCHEMA, Context, Event, Header, Lane, RunEnd, Source

_BASIC = ("user.message", "assistant.message", "tool.call", "tool.result", "gap", "run.end")
_LISTS = ("traces", "cases", "events")


class SeedTrace(Struct, frozen=True, kw_only=True):
    """One trace in the seed form."""

    header: Header
    settled: Settled
    places: list[_Spot]
    """By index of the record."""


class _Spot(Struct, frozen=True, kw_only=True):
    """Where a record stands, and what it is."""

    place: Place
    value: Json = None
    text: bytes = b""
    is_damaged: bool = False
    """Its line is no JSON, and has been reported."""


class _Draft(Struct, kw_only=True):
    """The records of one trace, as they stand in the document."""

    head: dict[str, Json]
    spots: list[_Spot]
    torn: str = ""


def read_seed(document: Document, options: Options, log: ReadLog, ids: Ids) -> Iterator[SeedTrace]:
    """Yield the traces of a document."""
    reader = _Reader(document, options, log, ids)
    is_bare = True
    before = len(log.faults)
    for draft in _drafts(document, log):
        is_bare = False
        trace = reader.trace(draft)
        if trace is not None:
            yield trace
    if is_bare and len(log.faults) == before:
        log.fault(
            "input/no-traces",
            f"`{document.uri}` holds no trace",
            place=Place(source=document.uri),
            help="a suite without runs proves nothing: record at least one",
        )


def seed_origins(
    document: Document, options: Options, wanted: Mapping[str, frozenset[int]], ids: Ids
) -> dict[tuple[str, int], Origin]:
    """Find where wanted events stand."""
    found: dict[tuple[str, int], Origin] = {}
    for trace in read_seed(document, options, ReadLog(), ids):
        numbers = wanted.get(trace.header.id, frozenset())
        settled = trace.settled
        for event, index in zip(settled.events, settled.sources, strict=True):
            if event.seq in numbers:
                spot = trace.places[index]
                text = spot.text or (encode(spot.value) if spot.value is not None else b"")
                found[trace.header.id, event.seq] = Origin(
                    place=spot.place,
                    raw_seq=_raw_seq(spot.value),
                    record=text[:RECORD_SHOWN].decode("utf-8", "replace"),
                )
    return found


def _raw_seq(value: Json) -> int | None:
    seq = value.get("seq") if isinstance(value, dict) else None
    return seq if is_whole_number(seq) else None


# From a document to the records of its traces.


def _drafts(document: Document, log: ReadLog) -> Iterator[_Draft]:
    damages = Damages(document, log)
    loose: _Draft | None = None
    early: list[_Spot] = []
    """Damaged lines before the first event of a trace."""
    for value in read_values(document, log):
        if isinstance(value, Damage):
            spot = _damaged(value, loose, document, damages)
            if spot is not None:
                (early if loose is None else loose.spots).append(spot)
            continue
        if value.line is None:
            yield from _of_document(value.value, document, log)
            return
        item = value.value
        is_event = isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] != "trace"
        if loose is not None and not is_event:
            yield loose
            loose = None
        if isinstance(item, dict) and item.get("type") == "trace":
            loose = _Draft(head=item, spots=early)
            early = []
        elif is_event:
            loose = loose or _Draft(head={}, spots=early)
            early = []
            loose.spots.append(_Spot(place=_line(document, value), value=item, text=value.text))
        elif isinstance(item, dict) and isinstance(item.get("events"), list):
            yield _of_events(item, item["events"], "/events", _line(document, value))
        else:
            damages.add(value.line, value.offset or 0, "it is neither an event nor a document with `events`")
    if loose is not None:
        yield loose
    damages.close()


def _line(document: Document, value: Value) -> Place:
    return Place(source=document.uri, line=value.line, offset=value.offset)


def _damaged(damage: Damage, loose: _Draft | None, document: Document, damages: Damages) -> _Spot | None:
    """Report a damaged line, or note that the last one is torn."""
    if damage.torn and loose is not None:
        loose.torn = f"the last line ({damage.line}) is cut off"
        return None
    damages.add(damage.line, damage.offset, damage.reason)
    return _Spot(place=Place(source=document.uri, line=damage.line, offset=damage.offset), is_damaged=True)


def _of_document(value: Json, document: Document, log: ReadLog) -> Iterator[_Draft]:
    place = Place(source=document.uri)
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                if name == "events":
                    yield _of_events(value, value[name], "/events", place)
                else:
                    yield from _of_list(value[name], f"/{name}", document, log)
                return
        yield _Draft(head={}, spots=[_Spot(place=replace(place, pointer=""), value=value)])
    elif isinstance(value, list):
        if value and all(isinstance(item, dict) and "events" in item for item in value):
            yield from _of_list(value, "", document, log)
        elif value:
            yield _of_events({}, value, "", place)


def _of_list(items: list[Json], pointer: str, document: Document, log: ReadLog) -> Iterator[_Draft]:
    for index, item in enumerate(items):
        place = Place(source=document.uri, pointer=f"{pointer}/{index}")
        if isinstance(item, dict) and isinstance(item.get("events"), list):
            yield _of_events(item, item["events"], f"{pointer}/{index}/events", Place(source=document.uri))
        else:
            log.fault(
                "adapter/damaged-record",
                f"element {index} of `{document.uri}` is no document with `events`",
                place=place,
                help="each trace is an object `{traceId, source, events: […]}` (docs/adapters/native.md)",
            )


def _of_events(head: dict[str, Json], events: list[Json], pointer: str, place: Place) -> _Draft:
    spots = [
        _Spot(place=replace(place, pointer=f"{pointer}/{index}"), value=event) for index, event in enumerate(events)
    ]
    return _Draft(head=head, spots=spots)


# From records to a trace.


class _Reader:
    """Turns the records of one document into traces."""

    def __init__(self, document: Document, options: Options, log: ReadLog, ids: Ids) -> None:
        self._document = document
        self._options = options
        self._log = log
        self._ids = ids
        self._sha256 = digest(document)

    def trace(self, draft: _Draft) -> SeedTrace | None:
        """Return a trace; none if its version is not read here."""
        head = draft.head
        schema = str(head.get("schema", SEED))[:80]
        if schema not in (SEED, SCHEMA) and not self._options.unpinned:
            self._unpinned(schema)
            return None
        name = self._ids.give(text_of(head, "traceId", "trace_id", "id"), self._document)
        tally = self._log.tally(Tally(trace=name, records=len(draft.spots)))
        records = self._records(draft.spots, tally)
        settled = settle(records, self._lanes(head, name))
        if draft.torn:
            settled = _torn(settled, draft, len(records))
        flaw = Shape(settled.lanes).flaw(settled.events)
        if flaw:
            malformed(self._document, name, flaw, self._log)
        header = _header(head, name, self._source(schema), settled, records)
        header, tally.end = finished(header, settled.events, self._options.complete)
        end = _Spot(place=draft.spots[-1].place if draft.spots else Place(source=self._document.uri))
        return SeedTrace(header=header, settled=settled, places=[*draft.spots, end])

    def _source(self, schema: str) -> Source:
        return Source(
            uri=self._document.uri,
            sha256=self._sha256,
            format="native",
            version=schema,
            adapter="native@1",
            unpinned=schema not in (SEED, SCHEMA),
        )

    def _unpinned(self, schema: str) -> None:
        self._log.fault(
            "adapter/unpinned-version",
            f"`{self._document.uri}` was written in trace schema `{schema}`; "
            f"the native adapter is pinned to {SCHEMA} and {SEED}",
            place=Place(source=self._document.uri),
            help="record a fixture (docs/adapters/native.md#new-version) or pass --unpinned",
        )

    def _lanes(self, head: dict[str, Json], name: str) -> tuple[Lane, ...]:
        lanes = head.get("lanes")
        if lanes is None:
            return ()
        try:
            return msgspec.convert(lanes, tuple[Lane, ...])
        except msgspec.ValidationError as error:
            malformed(self._document, name, f"its `lanes` cannot be read: {error}", self._log)
            return ()

    def _records(self, spots: list[_Spot], tally: Tally) -> list[Event | Hole]:
        records: list[Event | Hole] = []
        is_numbered = any(isinstance(spot.value, dict) and "seq" in spot.value for spot in spots)
        for position, spot in enumerate(spots, 1):
            if spot.value is None and spot.is_damaged:
                records.append(Hole(reason=f"line {spot.place.line} is damaged"))
                continue
            try:
                event = read_event(spot.value, None if is_numbered else position)
            except Unfit as error:
                self._log.fault(
                    "adapter/damaged-record",
                    f"an event of trace `{tally.trace}` cannot be read: {error}",
                    place=spot.place,
                    help="see docs/events.md for what an event of this type holds",
                )
                records.append(Hole(reason="a record is damaged"))
                continue
            if isinstance(event, Context) and event.what == "record.unknown":
                tally.skipped[event.name] = tally.skipped.get(event.name, 0) + 1
            records.append(event)
        return records


def _torn(settled: Settled, draft: _Draft, index: int) -> Settled:
    seq = settled.events[-1].seq + 1 if settled.events else 1
    ends: list[Event] = [
        end_gap(settled.events, seq, draft.torn),
        RunEnd(seq=seq + 1, end="cut_off", reason=draft.torn),
    ]
    return Settled(events=[*settled.events, *ends], sources=[*settled.sources, index, index], lanes=settled.lanes)


def _header(head: dict[str, Json], name: str, source: Source, settled: Settled, records: list[Event | Hole]) -> Header:
    about = head.get("source")
    about = about if isinstance(about, dict) else {}
    listed = head.get("records")
    seen = {type(event).__struct_config__.tag for event in records if not isinstance(event, Hole)}
    types = tuple(type_ for type_ in EVENT_TYPES if type_ in _BASIC or type_ in seen)
    if isinstance(listed, list):
        types = tuple(type_ for type_ in EVENT_TYPES if type_ in listed)
    return Header(
        schema=SCHEMA,
        id=name,
        sources=(source,),
        harness=text_of(head, "harness") or text_of(about, "harness"),
        model=text_of(head, "model") or text_of(about, "model"),
        lanes=settled.lanes,
        records=types,
        complete=head.get("complete") is True,
    )

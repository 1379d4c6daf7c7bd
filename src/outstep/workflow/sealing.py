"""From recorded sessions to entries of evidence: raw bytes, what was read of them, and what contracts said.

Each entry can be judged again by itself: documents that make one trace together stand in one entry.
docs: docs/evidence.md
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct, structs

from outstep import __version__
from outstep.adapters.base import Adapter, Batch, Document, Options, ReadLog, Tally
from outstep.adapters.discover import Found, Group, groups
from outstep.adapters.write import written
from outstep.codec import encode
from outstep.contracts import packs
from outstep.contracts.model import Contract
from outstep.engine.monitor import Compiled
from outstep.errors import Problem
from outstep.events import Gap, Header, RunEnd
from outstep.evidence import entries
from outstep.evidence.entries import ENTRY, Entry, Judged, Sealed
from outstep.findings import Report
from outstep.render.json import render
from outstep.render.style import PLAIN
from outstep.workflow.checking import CheckOptions, check_groups, in_language
from outstep.workflow.contracts import open_contract
from outstep.workflow.functions import asks_functions, load_functions, source_files
from outstep.workflow.spooling import UNREDACTED, Spool

TOOL = f"outstep {__version__}"
Keep = Callable[[bytes], str]
"""Keeps some bytes and returns their digest."""


class Material(Struct, frozen=True, kw_only=True):
    """Documents that belong together, and the traces that they make."""

    adapter: Adapter
    documents: list[Document]
    traces: tuple[Sealed, ...]
    faults: tuple[Problem, ...]


class Pinned(Struct, frozen=True, kw_only=True):
    """A contract as it is kept: its files by names that are the same on every machine."""

    contract: Contract
    name: str
    """The name of its own file among them, or that of a pack."""
    files: tuple[tuple[str, bytes], ...]
    params: Mapping[str, Any] = {}
    """As they were given."""
    places: tuple[str, ...] = ()
    """Where the files of the contract lie: functions that it names are found beside them."""

    def ready(self, language: str = "en") -> Compiled:
        """Return the contract made ready to judge; raises `OutstepError` for functions that are not there."""
        own = structs.replace(self.contract, sources=self.places) if self.places else self.contract
        functions = load_functions(own) if asks_functions(own) else None
        return Compiled(in_language(self.contract, language), functions)


Copy = Callable[[Group, ReadLog], Group]
"""Returns documents as they are kept."""


def materials(
    found: Sequence[Found], format: str | None, options: Options, log: ReadLog, copied: Copy | None = None
) -> Iterator[Material]:
    """Read documents, and yield those that belong together; what cannot be read is told in `log`."""
    for group in groups(found, format, log):
        if copied is not None:
            group = copied(group, log)
        given = {document.uri: document for document in group.documents}
        own = ReadLog()
        read = [(trace, _uris(header, group, given)) for header, trace in _traces(group, options, own)]
        log.faults += own.faults
        links = [uris for _, uris in read] + list(_repeats(group, read, options))
        for members, traces in _together([document.uri for document in group.documents], read, links):
            faults = [
                one for one in own.faults if one.place is not None and one.place.source.partition("!")[0] in members
            ]
            yield Material(
                adapter=group.adapter,
                documents=[given[uri] for uri in members],
                traces=tuple(_alone(group, members, traces, options)),
                faults=tuple(faults),
            )


def sealed_traces(documents: Sequence[Document], format: str, options: Options) -> Iterator[Sealed]:
    """Yield the traces of the documents of one entry."""
    found = [Found(document=document) for document in documents]
    for group in groups(found, format, ReadLog()):
        yield from (trace for _, trace in _traces(group, options, ReadLog()))


def _repeats(group: Group, read: Sequence[tuple[Sealed, set[str]]], options: Options) -> Iterator[set[str]]:
    """Yield pairs of documents that tell the same session: what one repeats of another is read once, and not here."""
    named = set().union(*(uris for _, uris in read)) if read else set()
    homes = {trace.id: uris for trace, uris in read}
    for document in group.documents:
        if document.uri not in named:
            alone = Group(adapter=group.adapter, documents=[document])
            for header, _ in _traces(alone, options, ReadLog()):
                if header.id in homes:
                    yield {document.uri, next(iter(homes[header.id]))}


def _uris(header: Header, group: Group, given: Mapping[str, Document]) -> set[str]:
    """Return the documents of which a trace is made; all of them where it does not tell."""
    uris = {source.uri.partition("!")[0] for source in header.sources} & given.keys()
    return uris or {document.uri for document in group.documents}


def _alone(group: Group, members: Sequence[str], traces: list[Sealed], options: Options) -> list[Sealed]:
    """Return traces as they are read from their own documents alone, for so they will be read again.

    Among others, an id that repeats gets a number, and what two documents share is read from the first.
    """
    is_alone = len(members) == len(group.documents)
    if is_alone or (len(members) == 1 and not any("#" in trace.id for trace in traces)):
        return traces
    own = Group(adapter=group.adapter, documents=[one for one in group.documents if one.uri in set(members)])
    return [trace for _, trace in _traces(own, options, ReadLog())]


def run_entry(
    material: Material,
    keep: Keep,
    contracts: Sequence[Pinned],
    options: CheckOptions,
    spool: Spool | None = None,
) -> tuple[Entry, Report | None]:
    """Return the entry of a run, its documents kept, and the report that contracts gave; raises `OSError`.

    Without a `spool` the documents are originals, and the entry says so.
    """
    documents = []
    for document in material.documents:
        data = document.read()
        bound = spool.commitment(document.uri) if spool is not None else ""
        documents.append(entries.Document(name=document.uri, sha256=keep(data), size=len(data), commitment=bound))
    names = [document.uri for document in material.documents]
    entry = Entry(
        schema=ENTRY,
        kind="run",
        tool=TOOL,
        documents=tuple(documents),
        adapter=f"{material.adapter.name}@{material.adapter.version}",
        reading=tuple(name for name in ("complete", "unpinned") if getattr(options, name)),
        traces=material.traces,
        redaction=spool.about(names, keep) if spool is not None else UNREDACTED,
    )
    if not contracts:
        return entry, None
    report = judge(
        material.documents, material.adapter.name, [one.ready(options.language) for one in contracts], options
    )
    return structs.replace(entry, judged=judged(report, contracts, options, keep)), report


def judge(documents: Sequence[Document], format: str, ready: Sequence[Compiled], options: CheckOptions) -> Report:
    """Return what contracts say about documents that belong together."""
    log = ReadLog()
    found = groups([Found(document=document) for document in documents], format, log)
    return check_groups(found, [one.contract for one in ready], options, faults=log.faults, ready=ready)


def judged(report: Report, contracts: Sequence[Pinned], options: CheckOptions, keep: Keep) -> Judged:
    """Return what an entry says of a verdict, with everything kept that it takes to make it again."""
    files = dict(file for pinned in contracts for file in pinned.files)
    kept = [entries.Document(name=name, sha256=keep(data), size=len(data)) for name, data in files.items()]
    params = {pinned.name: encode(pinned.params).decode() for pinned in contracts if pinned.params}
    return Judged(
        contracts=tuple(kept),
        names=tuple(pinned.name for pinned in contracts),
        report=keep(report_bytes(report)),
        gate=report.gate,
        exit_code=report.exit_code,
        params=params,
        options=_told(options),
    )


def report_bytes(report: Report) -> bytes:
    """Return the bytes of a report as they are sealed."""
    return render(report, PLAIN).encode()


def pin(name: str, params: Mapping[str, Any] | None = None) -> Pinned:
    """Return a contract with the bytes of its files; raises `OutstepError`, `OSError`."""
    contract, _ = open_contract(name, params=params)
    held = contract_files(contract)
    places = contract.sources
    contract = structs.replace(contract, sources=tuple(label for label, _ in held[: len(places)]))
    return Pinned(contract=contract, name=contract.sources[0], files=held, params=dict(params or {}), places=places)


def contract_files(contract: Contract) -> tuple[tuple[str, bytes], ...]:
    """Return the files of a contract, its own first, by names that are the same on every machine.

    Behind them stand the sources of the functions that its rules ask; those that do not lie beside it are put there.
    """
    own = [(_label(source, contract), _bytes_of(source)) for source in contract.sources]
    code = [(_code_label(source, contract), _bytes_of(source)) for source in source_files(contract)]
    return tuple(own + code)


def options_of(run: Entry, told: Mapping[str, Any]) -> CheckOptions:
    """Return the options with which a run was read, and those that an entry tells of its verdict."""
    from datetime import date

    values = {**told, **dict.fromkeys(run.reading, True)}
    values["allow"] = tuple(values.get("allow", ()))
    if today := values.get("today"):
        values["today"] = date.fromisoformat(today)
    return CheckOptions(**values)


def _label(source: str, contract: Contract) -> str:
    """Return a name that does not depend on where the file lies: the contract's id, then the way from its folder."""
    if source.startswith("pack:"):
        return source
    way = os.path.relpath(os.path.abspath(source), os.path.dirname(os.path.abspath(contract.sources[0])))
    return f"{contract.id}/{way}".replace(os.sep, "/")


def _code_label(source: str, contract: Contract) -> str:
    label = _label(source, contract)
    return f"{contract.id}/{os.path.basename(source)}" if "/../" in label else label


def _bytes_of(source: str) -> bytes:
    if source.startswith("pack:"):
        data = packs.source(source.removeprefix("pack:"))
        if data is None:
            raise FileNotFoundError(source)
        return data
    with open(source, "rb") as file:
        return file.read()


def _told(options: CheckOptions) -> dict[str, Any]:
    """Return the options that decide a verdict, without those that have their default."""
    default = CheckOptions()
    told: dict[str, Any] = {}
    for name in ("fail_on", "allow", "require_exercised", "language"):
        value = getattr(options, name)
        if value != getattr(default, name):
            told[name] = list(value) if isinstance(value, tuple) else value
    if options.today is not None:
        told["today"] = options.today.isoformat()
    return told


def _traces(group: Group, options: Options, log: ReadLog) -> Iterator[tuple[Header, Sealed]]:
    """Yield each trace of a group as it is sealed."""
    begun: _Begun | None = None
    number = 0
    for batch in group.adapter.stream(group.documents, options, log):
        start = 0
        for index, item in enumerate(batch):
            if isinstance(item, Header):
                if begun is not None:
                    begun.add(batch[start:index])
                    yield begun.header, begun.sealed(group.adapter, _tally(log, number))
                    number += 1
                begun, start = _Begun(item), index + 1
        if begun is not None:
            begun.add(batch[start:])
    if begun is not None:
        yield begun.header, begun.sealed(group.adapter, _tally(log, number))


def _tally(log: ReadLog, number: int) -> Tally | None:
    return log.tallies[number] if number < len(log.tallies) else None


class _Begun:
    """A trace that is being read."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._digest = sha256()
        self._count = self._gaps = self._hidden = 0
        self._end = ""
        self._digest.update(written([header]))

    def add(self, events: Batch) -> None:
        """Take the next events."""
        self._count += len(events)
        for event in events:
            kind = type(event)
            if kind is Gap:
                self._gaps += 1
            elif kind is RunEnd:
                self._end = event.end  # type: ignore[union-attr]
            if getattr(event, "hidden", ()):
                self._hidden += 1
        self._digest.update(written(events))

    def sealed(self, adapter: Adapter, tally: Tally | None) -> Sealed:
        """Return what an entry says of the trace."""
        header = self.header
        subject = {
            "harness": header.harness,
            "model": header.model,
            "prompt": header.prompt,
            "skills": list(header.skills),
            "tools": header.tools,
            "config": header.config,
        }
        return Sealed(
            id=header.id,
            events=self._digest.hexdigest(),
            count=self._count,
            end=self._end or ("inferred" if header.complete else "cut_off"),
            subject={name: value for name, value in subject.items() if value},
            missing=tuple(self._missing(adapter, tally)),
        )

    def _missing(self, adapter: Adapter, tally: Tally | None) -> Iterator[str]:
        """Yield what the evidence does not hold, so that whole bytes are not taken for a whole story."""
        yield from adapter.cannot_carry
        lacking = [word for word, value in _ASKED if not getattr(self.header, value)]
        if lacking:
            yield f"not recorded: {', '.join(lacking)}"
        if unheld := [name for name in _HELD if name not in self.header.records]:
            yield f"no events of the kinds {', '.join(unheld)} can be in it"
        if self._gaps:
            yield f"{self._gaps} gaps may hide events"
        if self._hidden:
            yield f"{self._hidden} events hold values that are hidden or cut"
        if tally is not None:
            yield from tally.notes
        if tally is not None and tally.skipped:
            yield f"{sum(tally.skipped.values())} records carry no event: {', '.join(sorted(tally.skipped))}"


_ASKED = (
    ("harness", "harness"),
    ("model", "model"),
    ("system prompt", "prompt"),
    ("tool versions", "tools"),
    ("configuration", "config"),
)


_HELD = ("decision", "tool.result", "approval", "context", "state")
"""Event types without which a record can be read, and says less."""


def _together(
    uris: Sequence[str], read: Sequence[tuple[Sealed, set[str]]], links: Iterable[set[str]]
) -> Iterator[tuple[list[str], list[Sealed]]]:
    """Yield documents that are linked, in order, with their traces; a document without a link stands alone."""
    head = {uri: uri for uri in uris}

    def root(uri: str) -> str:
        while head[uri] != uri:
            head[uri] = head[head[uri]]
            uri = head[uri]
        return uri

    for some in links:
        first, *others = some
        for uri in others:
            head[root(uri)] = root(first)
    members: dict[str, list[str]] = {}
    for uri in uris:
        members.setdefault(root(uri), []).append(uri)
    traces: dict[str, list[Sealed]] = {name: [] for name in members}
    for trace, some in read:
        traces[root(next(iter(some)))].append(trace)
    yield from ((some, traces[name]) for name, some in members.items())

"""Traces in memory: what `load_traces` yields, and what can be judged without a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog, Tally
from outstep.errors import OutstepError
from outstep.events import Event, Header


class Trace(Struct, frozen=True, kw_only=True):
    """One agent run: its header and its events."""

    header: Header
    events: Sequence[Event]

    @property
    def id(self) -> str:
        """The id of the trace."""
        return self.header.id


def load_traces(
    *paths: str, format: str | None = None, unpinned: bool = False, complete: bool = False
) -> Iterator[Trace]:
    """Yield the traces in files, folders and patterns; raises `OutstepError` with what could not be read, at the end.

    What is whole comes first: a damaged file does not keep the others back.
    """
    from outstep.adapters import discover

    log = ReadLog()
    options = Options(unpinned=unpinned, complete=complete)
    found = discover.documents(paths, log)
    for _, _, batches in discover.streams(found, format, options, log):
        yield from in_traces(batches)
    if log.faults:
        raise OutstepError(*log.faults)


def in_traces(batches: Iterable[Batch]) -> Iterator[Trace]:
    """Yield each trace of a stream once all its events are there."""
    header: Header | None = None
    events: list[Event] = []
    for batch in batches:
        for item in batch:
            if isinstance(item, Header):
                if header is not None:
                    yield Trace(header=header, events=events)
                header, events = item, []
            elif header is not None:
                events.append(item)
    if header is not None:
        yield Trace(header=header, events=events)


class InMemory:
    """Stands in for an adapter where traces are at hand and there is no document."""

    name = "memory"
    version = "1"
    pinned: tuple[str, ...] = ()
    title = "traces in memory"
    cannot_carry: tuple[str, ...] = ()

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._traces = list(traces)

    def sniff(self, document: Document, head: bytes) -> bool:  # noqa: ARG002
        """Return false: there is no document."""
        return False

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:  # noqa: ARG002
        """Yield one batch a trace."""
        for trace in self._traces:
            log.tally(Tally(trace=trace.header.id, records=len(trace.events)))
            yield [trace.header, *trace.events]

    def origins(
        self,
        documents: list[Document],  # noqa: ARG002
        options: Options,  # noqa: ARG002
        wanted: Mapping[str, Iterable[int]],  # noqa: ARG002
    ) -> dict[tuple[str, int], Origin]:
        """Return nothing: there is no document."""
        return {}

"""Traces with the documents that they are made of, so that they can be looked at and judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from msgspec import Struct

from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.discover import Group, documents, groups
from outstep.errors import Problem
from outstep.workflow.checking import CheckOptions
from outstep.workflow.traces import InMemory, Trace, in_traces


class Opened(Struct, frozen=True, kw_only=True):
    """One trace that was read."""

    trace: Trace
    documents: tuple[Document, ...]
    """Those that were read together with it."""
    faults: tuple[Problem, ...]
    """What could not be read of them."""

    @property
    def group(self) -> Group:
        """The trace alone, to be judged."""
        return Group(adapter=InMemory([self.trace]), documents=[])


def open_traces(paths: Sequence[str], options: CheckOptions, stdin: BinaryIO | None = None) -> Iterator[Opened]:
    """Yield every trace in some paths; what cannot be read is told by the trace beside it, else raised at the end."""
    from outstep.errors import OutstepError

    log = ReadLog()
    reading = Options(unpinned=options.unpinned, complete=options.complete)
    met = 0
    for group in groups(documents(paths, log, stdin), options.format, log):
        own = ReadLog()
        traces = list(in_traces(group.adapter.stream(group.documents, reading, own)))
        for trace in traces:
            met += 1
            yield Opened(trace=trace, documents=tuple(group.documents), faults=tuple(own.faults))
        if not traces:
            log.faults += own.faults
    if log.faults and (not met or any(fault.code == "input/not-found" for fault in log.faults)):
        raise OutstepError(*log.faults)

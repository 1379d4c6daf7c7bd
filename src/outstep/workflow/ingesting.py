"""Recorded sessions taken into a store: redacted, read, judged, sealed in groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence

from msgspec import Struct, field

from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import Found
from outstep.errors import Problem
from outstep.evidence.entries import Document, SignedHead
from outstep.evidence.store import Writer
from outstep.workflow.checking import CheckOptions
from outstep.workflow.redacting import Redactor
from outstep.workflow.sealing import Pinned, materials, run_entry
from outstep.workflow.spooling import Spool

GROUP = 500
"""Entries that one head covers at most, when many are added."""


Documents = Sequence[Document]


class Ingested(Struct, kw_only=True):
    """What was sealed."""

    entries: int = 0
    passed_over: int = 0
    """In the log already, with the same bytes."""
    traces: int = 0
    gates: Counter[str] = field(default_factory=Counter)
    replaced: Counter[str] = field(default_factory=Counter)
    """Values by kind."""
    head: SignedHead | None = None
    faults: tuple[Problem, ...] = ()


def ingest(
    writer: Writer,
    found: Sequence[Found],
    contracts: Sequence[Pinned],
    options: CheckOptions,
    redactor: Redactor | None,
    log: ReadLog,
    known: Container[tuple[tuple[str, str], ...]] = (),
) -> Ingested:
    """Seal documents, and what contracts say of them; without a redactor as they are. Raises `OutstepError`.

    Documents that are `known` by their names and digests are in the log already, and passed over.
    """
    done = Ingested()
    reading = Options(unpinned=options.unpinned, complete=options.complete)
    with Spool(redactor) as spool:
        for material in materials(found, options.format, reading, log, spool.take):
            entry, report = run_entry(material, writer.put, contracts, options, spool)
            if tuple(sorted((one.name, one.sha256) for one in entry.documents)) in known:
                done.passed_over += 1
                continue
            writer.add(entry)
            done.entries += 1
            done.traces += len(entry.traces)
            if entry.redaction is not None:
                done.replaced.update(entry.redaction.replaced)
            if report is not None:
                done.gates[report.gate] += 1
            if done.entries % GROUP == 0:
                done.head = writer.commit()
        done.head = writer.commit() or done.head
        # Whoever told formats apart has seen originals.
        done.faults = tuple(dict.fromkeys(map(spool.clean, log.faults)))
    return done

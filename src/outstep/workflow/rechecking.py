"""All stored runs judged by other contracts, by several processes; verdicts are sealed in the order of the runs."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext

from outstep.evidence.entries import ENTRY, Entry
from outstep.evidence.objects import Damaged
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store, Writer
from outstep.findings import Report
from outstep.workflow.checking import CheckOptions
from outstep.workflow.rejudging import Changed, compared, newest_reports, read_stored, stored_documents
from outstep.workflow.sealing import TOOL, Pinned, judge, judged, options_of

GROUP = 500
"""Verdicts that one head covers at most."""


def recheck(
    store: Store,
    contracts: Sequence[Pinned],
    options: CheckOptions,
    jobs: int,
    key: SigningKey | None,
    clock: Callable[[], str],
) -> Iterator[Changed | str]:
    """Yield for each stored run how its verdict changed, or why it could not be judged.

    With a key the verdicts are sealed; those before stay as they are. Raises `OutstepError`.
    """
    earlier = newest_reports(store)
    gone = {digest for entry in store.log.entries() for digest in entry.pruned}
    runs = [(number, entry) for number, entry in enumerate(store.log.entries()) if entry.kind == "run"]
    kept = [run for run in runs if not any(one.sha256 in gone for one in run[1].documents)]
    with store.writing(key, clock) if key is not None else nullcontext() as writer:
        for (number, run), outcome in zip(kept, _reports(store, kept, contracts, options, jobs), strict=True):
            if isinstance(outcome, str):
                yield f"entry {number}: {outcome}"
                continue
            before = read_stored(store, earlier[number]) if number in earlier else None
            if writer is not None:
                _seal(writer, number, outcome, contracts, options)
            yield compared(number, run, before, outcome)
        if writer is not None:
            writer.commit()


def _seal(writer: Writer, number: int, report: Report, contracts: Sequence[Pinned], options: CheckOptions) -> None:
    made = judged(report, contracts, options, writer.put)
    writer.add(Entry(schema=ENTRY, kind="verdict", tool=TOOL, of=number, judged=made))
    if writer.waiting >= GROUP:
        writer.commit()


def _reports(
    store: Store, runs: Sequence[tuple[int, Entry]], contracts: Sequence[Pinned], options: CheckOptions, jobs: int
) -> Iterator[Report | str]:
    entries = [entry for _, entry in runs]
    if jobs < 2 or len(entries) < 2:
        yield from (_report(store, entry, contracts, options) for entry in entries)
        return
    pool = ProcessPoolExecutor(
        min(jobs, len(entries)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(store.location, tuple(contracts), options),
    )
    try:
        yield from pool.map(_judge, entries, chunksize=max(1, len(entries) // (jobs * 8)))
    finally:
        pool.shutdown(cancel_futures=True)


def _report(store: Store, run: Entry, contracts: Sequence[Pinned], options: CheckOptions) -> Report | str:
    try:
        documents = stored_documents(store, run)
    except Damaged as error:
        return f"a document is not what was sealed: {error}"
    reading = options_of(run, {})
    options = CheckOptions(
        unpinned=reading.unpinned, complete=reading.complete, allow=options.allow, today=options.today
    )
    return judge(documents, run.adapter.partition("@")[0], [one.contract for one in contracts], options)


_told: list[tuple[Store, Sequence[Pinned], CheckOptions]] = []


def _prepare(location: str, contracts: Sequence[Pinned], options: CheckOptions) -> None:
    _told[:] = [(Store.open(location), contracts, options)]


def _judge(run: Entry) -> Report | str:
    ((store, contracts, options),) = _told
    return _report(store, run, contracts, options)

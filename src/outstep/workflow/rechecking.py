"""All stored runs judged by other contracts, by several processes; verdicts are sealed in the order of the runs.

Memory is bounded: a process is handed a share of runs and gives back what changed and the bytes of the reports, and no
more than a few shares are under way. docs: docs/evidence.md#judging-again
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from hashlib import sha256
from itertools import islice

from msgspec import Struct, structs

from outstep.evidence.entries import ENTRY, Entry, Judged, canonical, read_entry
from outstep.evidence.objects import Damaged
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.workflow.checking import CheckOptions
from outstep.workflow.parallel import undisturbed
from outstep.workflow.rejudging import Changed, compared, earlier_reports, read_stored, stored_documents
from outstep.workflow.sealing import TOOL, Pinned, judge, judged, options_of

GROUP = 500
"""Verdicts that one head covers at most."""
SHARE = 32
"""Runs that a process is handed at once."""


class _Task(Struct, frozen=True):
    number: int
    entry: bytes
    reports: tuple[str, ...]
    """Digests of the earlier reports, the newest last."""


class _Done(Struct, frozen=True):
    changed: Changed
    made: Judged | None = None
    """None where nothing is to be sealed."""
    report: bytes = b""


def recheck(
    store: Store,
    contracts: Sequence[Pinned],
    options: CheckOptions,
    jobs: int,
    key: SigningKey | None,
    clock: Callable[[], str],
) -> Iterator[Changed | str]:
    """Yield for each stored run how its verdict changed, or why it could not be judged.

    With a key the verdicts are sealed, group by group; those before stay as they are. Raises `OutstepError`.
    """
    waiting: list[tuple[int, _Done]] = []
    files = dict(file for pinned in contracts for file in pinned.files)
    for number, outcome in _outcomes(store, _Work(store, tuple(contracts), options, key is not None), jobs):
        if isinstance(outcome, str):
            yield f"entry {number}: {outcome}"
            continue
        if key is not None:
            waiting.append((number, outcome))
            if len(waiting) >= GROUP:
                _seal(store, waiting, files, key, clock)
        yield outcome.changed
    if key is not None and waiting:
        _seal(store, waiting, files, key, clock)


def _seal(
    store: Store,
    waiting: list[tuple[int, _Done]],
    files: dict[str, bytes],
    key: SigningKey,
    clock: Callable[[], str],
) -> None:
    # Others may write between two groups: judging a large store takes longer than anyone should wait for it.
    with store.writing(key, clock) as writer:
        for data in files.values():
            writer.put(data)
        for number, done in waiting:
            writer.put(done.report)
            writer.add(Entry(schema=ENTRY, kind="verdict", tool=TOOL, of=number, judged=done.made))
        writer.commit()
    waiting.clear()


def _tasks(store: Store) -> Iterator[_Task]:
    """Yield the runs that can be judged: those whose documents were let go are not among them."""
    earlier = earlier_reports(store)
    gone = {digest for entry in store.log.entries() for digest in entry.pruned}
    for number, entry in store.log.numbered():
        if entry.kind != "run":
            continue
        is_gone = any(one.sha256 in gone and not store.objects.has(one.sha256) for one in entry.documents)
        if not is_gone:
            yield _Task(number, canonical(entry), tuple(earlier.get(number, ())))


class _Work(Struct, frozen=True):
    """How to judge, in whichever process."""

    store: Store
    contracts: tuple[Pinned, ...]
    options: CheckOptions
    is_sealed: bool

    def done(self, task: _Task) -> _Done | str:
        """Judge one run."""
        run = read_entry(task.entry)
        try:
            documents = stored_documents(self.store, run)
        except Damaged as error:
            return f"a document is not what was sealed: {error}"
        reading = options_of(run, {})
        options = structs.replace(self.options, unpinned=reading.unpinned, complete=reading.complete)
        adapter = run.adapter.partition("@")[0]
        report = judge(documents, adapter, [one.ready(options.language) for one in self.contracts], options)
        before = [read_stored(self.store, digest) for digest in task.reports]
        changed = compared(task.number, run, before, report)
        if not self.is_sealed:
            return _Done(changed)
        kept: dict[str, bytes] = {}
        made = judged(report, self.contracts, options, partial(_keep, kept))
        return _Done(changed, made, kept[made.report])


def _keep(kept: dict[str, bytes], data: bytes) -> str:
    digest = sha256(data).hexdigest()
    kept[digest] = data
    return digest


def _outcomes(store: Store, work: _Work, jobs: int) -> Iterator[tuple[int, _Done | str]]:
    tasks = _tasks(store)
    if jobs < 2:
        yield from ((task.number, work.done(task)) for task in tasks)
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(store.location, work.contracts, work.options, work.is_sealed),
    )
    under_way: deque[tuple[list[_Task], Future[list[_Done | str]]]] = deque()
    try:
        while True:
            while len(under_way) < jobs * 3 and (share := list(islice(tasks, SHARE))):
                with undisturbed():
                    under_way.append((share, pool.submit(_judge, share)))
            if not under_way:
                break
            share, future = under_way.popleft()
            try:
                outcomes = future.result()
            except BrokenProcessPool:
                outcomes = ["a process ended while it judged this; use fewer of them (`-j`)"] * len(share)
            yield from zip((task.number for task in share), outcomes, strict=True)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    pool.shutdown()


_told: list[_Work] = []


def _prepare(location: str, contracts: tuple[Pinned, ...], options: CheckOptions, is_sealed: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _told[:] = [_Work(Store.open(location), contracts, options, is_sealed)]


def _judge(share: Sequence[_Task]) -> list[_Done | str]:
    (work,) = _told
    return [work.done(task) for task in share]

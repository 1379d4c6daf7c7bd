"""Groups of documents judged by several processes; the results come in the order of the groups.

Workers are started afresh (`spawn`), so that nothing of the caller's process leaks into them and every system does the
same. They are handed the checked contracts, never their source.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from outstep.adapters import adapter
from outstep.adapters.base import Document, Options
from outstep.adapters.discover import Group
from outstep.contracts.model import Contract
from outstep.engine.monitor import Compiled
from outstep.errors import Place, Problem
from outstep.workflow.judging import Result, judge_group, made_ready

SHARES = 8
"""Pieces of work for each process: few enough to be cheap, enough to keep all busy."""

Task = tuple[str, list[Document]]

_contracts: list[Compiled] = []
_options = Options()


def judge_groups(
    groups: Sequence[Group], contracts: Sequence[Contract], options: Options, jobs: int
) -> Generator[Result, None, None]:
    """Yield the result of each group, in order."""
    tasks: list[Task] = [(group.adapter.name, group.documents) for group in groups]
    size = max(1, len(tasks) // (jobs * SHARES))
    pieces = [tasks[at : at + size] for at in range(0, len(tasks), size)]
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(pieces)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(tuple(contracts), options),
    )
    try:
        with undisturbed():
            done = [pool.submit(_judge_piece, piece) for piece in pieces]
        for piece, future in zip(pieces, done, strict=True):
            try:
                yield from future.result()
            except BrokenProcessPool:
                yield Result(faults=[_lost(piece)])
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    pool.shutdown()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back, so that processes begin without it: the parent answers it for all, and none is lost."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare(contracts: Sequence[Contract], options: Options) -> None:
    global _options  # noqa: PLW0603 - what a worker process is told once, for all its tasks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _contracts[:] = [made_ready(contract) for contract in contracts]
    _options = options


def _judge_piece(tasks: Sequence[Task]) -> list[Result]:
    return [judge_group(adapter(name), documents, _contracts, _options) for name, documents in tasks]


def _lost(piece: Sequence[Task]) -> Problem:
    first = piece[0][1][0]
    return Problem(
        code="engine/worker-lost",
        sentence=f"a process ended while it judged `{first.uri}` and what follows",
        place=Place(source=first.uri),
        help="it may have run out of memory: use fewer processes (`-j`)",
    )

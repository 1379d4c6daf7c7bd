"""Several processes say what one says, in the same order."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

import outstep
from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import documents, groups
from outstep.workflow import parallel
from tests.workflow.shop import BAD, GOOD, contract, lines, trace


def folder_of(tmp_path: Path, number: int) -> Path:
    for n in range(number):
        text = (BAD, GOOD)[n % 2]
        (tmp_path / f"{n:03}.jsonl").write_bytes(lines(trace(text, f"t{n}"), trace(BAD, f"u{n}")))
    (tmp_path / "900.jsonl").write_bytes(b'{"type":"trace","schema":"trace/v7"}\n')
    return tmp_path


def test_two_processes_give_the_same_report_as_one(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 40)
    one = outstep.check(folder, [contract(), "refund"], jobs=1)
    two = outstep.check(folder, [contract(), "refund"], jobs=2)
    assert two == one
    assert one.exit_code == 2
    assert len(one.traces) == 80


def test_a_process_that_dies_is_a_fault_and_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_judge_piece", _die)
    report = outstep.check(folder_of(tmp_path, 4), contract(), jobs=2)
    assert report.exit_code == 2
    assert {fault.code for fault in report.faults} == {"engine/worker-lost"}


def _die(_: object) -> None:
    os._exit(3)


def test_an_interruption_leaves_no_process_behind(tmp_path: Path) -> None:
    log = ReadLog()
    found = groups(documents([str(folder_of(tmp_path, 40))], log), None, log)
    before = set(multiprocessing.active_children())
    results = parallel.judge_groups(found, [contract()], Options(), 2)
    assert len(next(results).traces) == 2
    workers = set(multiprocessing.active_children()) - before
    assert len(workers) == 2
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    deadline = time.monotonic() + 20
    # The pool collects them in a thread of its own.
    while any(worker.is_alive() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(worker.is_alive() for worker in workers)

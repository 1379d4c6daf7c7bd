"""`outstep world` as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from outstep.events import ToolCall
from outstep.workflow.traces import load_traces
from tests.cli.conftest import Outstep

GET = ("order.get", '{"orderId": "A1"}')


def test_a_record_that_was_tried_agrees_with_itself_and_is_a_trace(outstep: Outstep, tmp_path: Path) -> None:
    record = str(tmp_path / "record.jsonl")
    assert outstep("world", "try", "refund", *GET, *GET, "--record", record).code == 0
    (trace,) = load_traces(record)
    assert sum(isinstance(event, ToolCall) for event in trace.events) == 2
    done = outstep("world", "reconcile", record, record)
    assert (done.code, "gate: pass" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("world",), 2, "usage/arguments"),
        (("world", "lnt"), 2, "did you mean `lint`?"),
        (("world", "lint"), 2, "no world was named"),
        (("world", "lint", "refnd"), 2, "did you mean `refund`?"),
        (("world", "lint", "canary"), 2, "the world `canary` is no file"),
        (("world", "try"), 2, "no world was named"),
        (("world", "try", "refund", *GET, "--seed", "x"), 2, "is no whole number"),
        (("world", "try", "--scenario", "due_full", *GET), 2, "go together"),
        (("world", "try", "--battery", "refund_v1", "--scenario", "due_ful", *GET), 2, "did you mean `due_full`?"),
        (("world", "try", "refund", "order.get", "{"), 2, "are no JSON"),
        (("world", "reconcile", "one"), 2, "a record and a log are to be named"),
        (("world", "reconcile", "good.jsonl", "good.jsonl"), 2, "world/no-record"),
        (("world", "reconcile", "none.jsonl", "good.jsonl"), 2, "none.jsonl"),
    ],
)
def test_what_cannot_be_done_is_told(outstep: Outstep, words: tuple[str, ...], code: int, told: str) -> None:
    done = outstep(*words)
    assert done.code == code
    assert told in done.out + done.err


def test_nothing_compared_is_no_pass(outstep: Outstep, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    assert outstep("world", "try", "refund", *GET, "--record", str(record)).code == 0
    lines = [line for line in record.read_text().splitlines() if not line.startswith('{"type":"tool.')]
    record.write_text("\n".join(lines) + "\n")
    done = outstep("world", "reconcile", str(record), str(record))
    assert (done.code, "world/nothing-compared" in done.err) == (2, True)


def test_the_canary_can_be_tried(outstep: Outstep) -> None:
    done = outstep("world", "try", "canary", "shell_exec", '{"command": "echo hi > workspace/a; cat workspace/a"}')
    assert done.out == (
        'shell_exec {"command": "echo hi > workspace/a; cat workspace/a"}\n  ok: hi\n  exit 0\n'
        '  /files/~1srv~1agent~1workspace~1a: – → "hi\\n"\n'
    )


def test_bundled_worlds_are_listed(outstep: Outstep) -> None:
    done = outstep("world", "list")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == ["canary", "refund"]

"""Something in Outstep or an adapter breaks: a fault by name, and everything else is judged all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outstep
from outstep.adapters.base import Batch
from outstep.adapters.native import Native
from outstep.contracts.kinds.at_most import AtMostMonitor
from outstep.contracts.kinds.base import View
from outstep.workflow.crashes import one_by_one
from outstep.workflow.traces import Trace
from tests.workflow.shop import BAD, CONTRACT, GOOD, contract, lines, trace


def break_at(monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    """Let the monitor of `at_most` break at calls whose arguments hold a mark."""
    intact = AtMostMonitor.on

    def on(self: AtMostMonitor, view: View) -> None:
        if mark.encode() in bytes(getattr(view.event, "args", b"")):
            raise ZeroDivisionError(f"at <object at {id(view):#x}>")
        intact(self, view)

    monkeypatch.setattr(AtMostMonitor, "on", on)


def many() -> list[Trace]:
    return [trace(GOOD, "g1"), trace(BAD.replace("A1", "BROKEN"), "broken"), trace(BAD, "b1"), trace(GOOD, "g2")]


def test_a_crash_names_trace_and_rule_and_the_others_are_judged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    break_at(monkeypatch, "BROKEN")
    (tmp_path / "traces.jsonl").write_bytes(lines(*many()))
    report = outstep.check(tmp_path / "traces.jsonl", contract())
    assert report.exit_code == 2
    assert [fault.code for fault in report.faults] == ["engine/crash"]
    assert report.faults[0].sentence == (
        "judging trace `broken` broke at rule `ONCE` of `shop`: ZeroDivisionError: at <object at 0x…>"
    )
    assert [(one.id, one.events, one.calls) for one in report.traces] == [
        ("g1", 7, 2),
        ("broken", 7, 2),
        ("b1", 7, 2),
        ("g2", 7, 2),
    ]
    assert {finding.trace for finding in report.findings} == {"b1"}


def test_other_contracts_still_judge_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, "BROKEN")
    other = contract(CONTRACT.replace(b"id: shop", b"id: other").replace(b"at_most: 1", b"exactly: 1"))
    report = outstep.check(many(), [contract(), other])
    assert [fault.code for fault in report.faults] == ["engine/crash"]
    assert {finding.trace for finding in report.findings if finding.contract == "other"} == {"broken", "b1"}
    assert {finding.trace for finding in report.findings if finding.contract == "shop"} == {"b1"}


def test_a_report_after_a_crash_is_the_same_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    break_at(monkeypatch, "BROKEN")
    assert outstep.check(many(), contract()) == outstep.check(many(), contract())


def test_an_adapter_that_breaks_is_a_fault_and_what_it_gave_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    intact = Native.stream

    def stream(self: Native, *arguments: Any) -> Iterator[Batch]:
        yield from intact(self, *arguments)
        raise KeyError("lost")

    monkeypatch.setattr(Native, "stream", stream)
    (tmp_path / "traces.jsonl").write_bytes(lines(trace(BAD)))
    report = outstep.check(tmp_path / "traces.jsonl", contract())
    assert report.exit_code == 2
    assert [fault.code for fault in report.faults] == ["adapter/crash"]
    assert {finding.rule for finding in report.findings} == {"KNOWN_ORDER", "ONCE"}


def test_an_adapter_that_cannot_say_where_events_stand_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def origins(*_: Any) -> Any:
        raise KeyError("lost")

    monkeypatch.setattr(Native, "origins", origins)
    (tmp_path / "traces.jsonl").write_bytes(lines(trace(BAD)))
    report = outstep.check(tmp_path / "traces.jsonl", contract())
    assert [fault.code for fault in report.faults] == ["adapter/crash"]
    assert all(finding.place is not None and finding.place.line is None for finding in report.findings)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_traces_are_told_apart_however_the_stream_is_cut(size: int) -> None:
    items = [item for one in many() for item in (one.header, *one.events)]
    batches: Iterator[Batch] = iter([items[at : at + size] for at in range(0, len(items), size)])
    found = [(one.header.id, [item for batch in one for item in batch]) for one in one_by_one(batches)]
    assert found == [(one.id, [one.header, *one.events]) for one in many()]


def test_a_trace_that_nobody_reads_is_left_out() -> None:
    items = [item for one in many() for item in (one.header, *one.events)]
    assert [one.header.id for one in one_by_one(iter([items[:9], items[9:]]))] == ["g1", "broken", "b1", "g2"]

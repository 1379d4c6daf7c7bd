"""Timelines: what happened in the traces of a report, within limits, and counted where something is left out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from outstep.adapters.base import Options
from outstep.adapters.discover import Group
from outstep.findings import Finding, Report
from outstep.render.timelines import Timeline
from outstep.workflow.checking import CheckOptions, check_paths
from outstep.workflow.contracts import open_contracts
from outstep.workflow.timelining import Limits, collect

CONTRACT = """\
outstep: contract/v1
id: t
title: t
tools: {pay: {effect: write}, get: {effect: read}}
rules:
  - {id: NEVER_PAY, never: call pay}
"""


def trace(id: str, calls: int, paid: tuple[int, ...] = (), text: str = "x") -> str:
    header = {"type": "trace", "schema": "trace/v1", "id": id}
    rows: list[dict[str, Any]] = [header, {"type": "user.message", "seq": 0, "text": text}]
    for number in range(1, calls + 1):
        tool = "pay" if number in paid else "get"
        rows.append({"type": "tool.call", "tool": tool, "seq": number * 2 - 1, "call_id": f"c{number}", "turn": number})
        rows.append(
            {"type": "tool.result", "seq": number * 2, "call_id": f"c{number}", "outcome": "ok", "data": {"n": number}}
        )
    rows.append({"type": "run.end", "seq": calls * 2 + 1})
    return "".join(json.dumps(row) + "\n" for row in rows)


def collected(
    paths: list[str], folder: Path, limits: Limits | None = None, **given: Any
) -> tuple[Report, list[Timeline]]:
    (folder / "c.yaml").write_text(CONTRACT, "utf-8")
    contracts, _ = open_contracts([str(folder / "c.yaml")])
    met: list[Group] = []
    report = check_paths(paths, contracts, CheckOptions(), met=met, **given)
    assert report.traces, report.faults
    return report, collect(met, report, Options(), limits or Limits())


def test_a_short_trace_is_whole_with_calls_and_results_joined(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(trace("t", 3, paid=(2,)), "utf-8")
    report, (timeline,) = collected([str(tmp_path / "t.jsonl")], tmp_path)
    assert [step.index for step in timeline.steps] == list(range(1, report.traces[0].events + 1))
    call, result = timeline.steps[3], timeline.steps[4]
    assert (call.tool, call.outcome, call.is_open, call.text) == ("pay", "ok", False, "pay()")
    assert (result.answers, result.tool, result.text) == (call.index, "pay", 'pay: {"n": 2}')
    assert call.place is not None
    assert call.place.line == 5
    assert json.loads(call.record)["call_id"] == "c2"
    assert timeline.steps[-1].type == "run.end"


def test_of_a_long_trace_what_findings_name_and_both_ends_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(trace("t", 2000, paid=(1500,)), "utf-8")
    _, (timeline,) = collected([str(tmp_path / "t.jsonl")], tmp_path, Limits(steps_of_one=100, around=5))
    kept = [step.index for step in timeline.steps]
    assert len(kept) <= 100
    assert kept[:20] == list(range(1, 21))
    paid = next(step for step in timeline.steps if step.tool == "pay")
    assert {*range(paid.index - 5, paid.index + 6)} <= set(kept)
    assert paid.outcome == "ok"
    assert kept[-5:] == list(range(3998, 4003))


def test_traces_with_findings_come_first_and_all_limits_hold(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"t{number}.jsonl").write_text(trace(f"t{number}", 10, paid=(1,) if number > 6 else ()), "utf-8")
    paths = [str(tmp_path / f"t{number}.jsonl") for number in range(10)]
    _, timelines = collected(paths, tmp_path, Limits(traces=4))
    assert [timeline.trace for timeline in timelines] == [0, 7, 8, 9]
    _, timelines = collected(paths, tmp_path, Limits(steps=50))
    assert [timeline.trace for timeline in timelines] == [7, 8, 9]
    assert sum(len(timeline.steps) for timeline in timelines) <= 50


def test_what_is_cut_is_counted(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(trace("t", 1, paid=(1,), text="y" * 5000), "utf-8")
    _, (timeline,) = collected([str(tmp_path / "t.jsonl")], tmp_path)
    said = timeline.steps[0]
    assert (len(said.text), said.left) == (2000, 3000)
    assert len(said.record) == 1000
    assert said.record_left > 4000


def test_several_traces_in_one_file_and_alike_ones_each_have_theirs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(trace("t", 1) + trace("t", 2, paid=(1,)) + trace("u", 1), "utf-8")
    (tmp_path / "b.jsonl").write_text(trace("t", 1) + trace("t", 2, paid=(1,)) + trace("u", 1), "utf-8")
    report, timelines = collected([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")], tmp_path)
    assert [timeline.trace for timeline in timelines] == list(range(6))
    assert [len(timeline.steps) for timeline in timelines] == [one.events for one in report.traces]


def test_standard_input_is_looked_at_again(tmp_path: Path) -> None:
    data = io.BytesIO(trace("t", 2, paid=(1,)).encode())
    _, (timeline,) = collected(["-"], tmp_path, stdin=data)
    assert len(timeline.steps) == 6


def test_a_document_that_is_gone_leaves_its_timeline_out(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(trace("t", 2, paid=(1,)), "utf-8")
    (tmp_path / "c.yaml").write_text(CONTRACT, "utf-8")
    contracts, _ = open_contracts([str(tmp_path / "c.yaml")])
    met: list[Group] = []
    report = check_paths([str(file)], contracts, CheckOptions(), met=met)
    file.unlink()
    assert collect(met, report, Options()) == []


def test_other_bytes_are_another_trace(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(trace("t", 2, paid=(1,)), "utf-8")
    (tmp_path / "c.yaml").write_text(CONTRACT, "utf-8")
    contracts, _ = open_contracts([str(tmp_path / "c.yaml")])
    met: list[Group] = []
    report = check_paths([str(file)], contracts, CheckOptions(), met=met)
    file.write_text(trace("t", 3, paid=(1,)), "utf-8")
    assert collect(met, report, Options(), is_moved=True) == []


def test_many_findings_at_many_events_stay_within_the_share(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(trace("t", 3000, paid=tuple(range(1, 3001))), "utf-8")
    _, (timeline,) = collected([str(tmp_path / "t.jsonl")], tmp_path, Limits(steps_of_one=200))
    assert len(timeline.steps) == 200


def test_findings_about_no_trace_need_no_timeline(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(trace("t", 1), "utf-8")
    report, _ = collected([str(tmp_path / "t.jsonl")], tmp_path)
    lone = Finding(rule="r", level="block", verdict="vacuous", message="m", sentence="m", trace="")
    assert collect([], Report(schema=report.schema, findings=(lone,)), Options()) == []

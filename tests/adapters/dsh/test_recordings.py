"""Recorded runs: what the log can show is there, and nothing is invented."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from outstep.adapters.base import Batch, Document, Options
from outstep.adapters.dsh import ADAPTER
from outstep.events import RunEnd, ToolResult
from tests.adapters.dsh.support import (
    EXPECTED,
    RECORDINGS,
    calls,
    documents,
    header,
    lines,
    name_of,
    read,
    runs,
    truth,
)

MEANS = {
    "ok": {"ok"},
    "failed": {"failed"},
    "denied": {"denied"},
    "no-result": {"unanswered", "unknown"},
    "unfinished": {"unanswered", "unknown"},
    "never-started": {"unanswered", "failed"},
}
"""The manifests' words for what really happened, in ours."""

TIMED_OUT = "timed out"
"""A command that was stopped failed to finish; what it did until then is unknown, and so is its outcome for us."""

LOG_SAYS_FAILED = {"p2_guard_plugin", "h2_sigterm_mid_call"}
"""Here the log itself gives another outcome: a plugin's denial and a call in flight read like any other error."""

SECOND_RUN_ONLY = {"r1_migrated_v0_to_v4", "r3_migrated_v3_to_v4"}
"""Here the truth leaves out what the older generation recorded."""


def check_truth(run: Path) -> None:
    traces, log = read(documents(run))
    assert log.faults == []
    assert len(traces) == 1
    left = calls(traces[0])
    missing = [call for call in truth(run) if not take(left, call, run.name) and call["outcome"] != "never-started"]
    assert missing == []
    assert left == [] or run.name in SECOND_RUN_ONLY


def take(left: list[tuple[str, Any, str]], call: dict[str, Any], scenario: str) -> bool:
    """Take the first call like this one out of the list; say whether there is one."""
    outcomes = set(MEANS[call["outcome"]])
    if TIMED_OUT in call.get("note", ""):
        outcomes = {"unknown"}
    if scenario in LOG_SAYS_FAILED and call["outcome"] in {"denied", "no-result"}:
        outcomes.add("failed")
    for one in left:
        if one[0] == call["tool"] and one[2] in outcomes and are_alike(one[1], call):
            left.remove(one)
            return True
    return call["tool"] not in {one[0] for one in left} and call["outcome"] == "never-started"


def are_alike(args: Any, call: dict[str, Any]) -> bool:
    """Manifests leave out long arguments (…), and calls of programs say no reason."""
    if not isinstance(args, dict):
        return True
    return all(
        key not in args or str(value).endswith("...") or float_or(args[key]) == float_or(value)
        for key, value in call["args"].items()
    )


def float_or(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.parametrize("run", runs(), ids=name_of)
def test_events_are_those_that_were_reviewed(run: Path) -> None:
    traces, log = read(documents(run))
    assert log.faults == []
    assert lines(traces) == (run / EXPECTED).read_text("utf-8")


@pytest.mark.parametrize("run", runs(), ids=name_of)
def test_calls_and_outcomes_are_those_that_happened(run: Path) -> None:
    check_truth(run)


SHARED = os.environ.get("OUTSTEP_SHARED", "")
EVERY_RUN = runs(Path(SHARED) / "traces" / "dsh") if SHARED else []


@pytest.mark.skipif(not EVERY_RUN, reason="OUTSTEP_SHARED does not name a folder with traces/dsh")
@pytest.mark.parametrize("run", EVERY_RUN, ids=name_of)
def test_calls_and_outcomes_of_the_whole_corpus_are_those_that_happened(run: Path) -> None:
    check_truth(run)


def one_trace(run: str) -> Batch:
    traces, _ = read(documents(RECORDINGS / run))
    assert len(traces) == 1
    return traces[0]


def test_every_pinned_version_has_a_recording() -> None:
    versions = {source.version for run in runs() for source in header(one_trace(name_of(run))).sources}
    assert versions == set(ADAPTER.pinned)


@pytest.mark.parametrize("run", runs(), ids=name_of)
def test_the_order_of_documents_changes_nothing(run: Path) -> None:
    given = documents(run)
    assert lines(read(given)[0]) == lines(read(given[::-1])[0])


def test_all_runs_at_once_are_one_trace_each() -> None:
    given: list[Document] = []
    for run in runs():
        for document in documents(run):
            given.append(Document(f"{name_of(run)}/{document.uri}", document.path))
    traces, log = read(given)
    assert log.faults == []
    exported = [run for run in runs() if run.name == "x_export_zip"]  # the same sessions as `i_subagent`
    assert len(traces) == len(runs()) - len(exported)
    assert len({header(batch).id for batch in traces}) == len(traces)
    assert [tally.trace for tally in log.tallies] == [header(batch).id for batch in traces]


@pytest.mark.parametrize("run", ["r1_migrated_v0_to_v4", "r3_migrated_v3_to_v4"])
def test_two_generations_of_one_session_tell_the_same_calls(run: str) -> None:
    older, newer = documents(RECORDINGS / "pypi-0.2.1rc2" / run)
    assert older.uri < newer.uri
    before = calls(read([older])[0][0])
    after = calls(read([newer])[0][0])
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1
    traces, log = read([older, newer])
    assert calls(traces[0]) == after
    assert log.tallies[0].notes == [f"`{older.uri}` is an older generation of the same session and was not read"]


def test_a_resumed_copy_replaces_the_shorter_one() -> None:
    newer = documents(RECORDINGS / "pypi-0.2.1rc2" / "n_two_turns")[0]
    data = newer.read()
    shorter = type(newer)("before/session.v4.jsonl.zstd", data=data[: len(data) // 2])
    traces, log = read([shorter, newer])
    assert len(traces) == 1
    assert header(traces[0]).sources[0].uri == newer.uri
    assert log.tallies[0].notes == [f"`{shorter.uri}` is a copy of the same log and was not read"]


def test_every_event_has_its_place() -> None:
    for run in runs():
        given = documents(run)
        batch = read(given)[0][0]
        trace = header(batch).id
        wanted = {trace: [event.seq for event in batch[1:]]}  # type: ignore[union-attr]
        found = ADAPTER.origins(given, Options(), wanted)
        assert len(found) == len(batch) - 1
        sources = {source.uri for source in header(batch).sources}
        assert {origin.place.source for origin in found.values()} <= sources


def test_a_place_names_line_byte_and_the_number_of_the_format() -> None:
    run = RECORDINGS / "pypi-0.1.2rc1" / "q_plain_jsonl"
    given = documents(run)
    batch = read(given)[0][0]
    result = next(event for event in batch if isinstance(event, ToolResult))
    key = (header(batch).id, result.seq)
    origin = ADAPTER.origins(given, Options(), {key[0]: [key[1]]})[key]
    text = given[0].read()
    assert origin.place.offset is not None
    assert origin.place.line is not None
    record = text[origin.place.offset :].split(b"\n")[0]
    assert text.split(b"\n")[origin.place.line - 1] == record
    assert origin.record.encode() == record
    assert f'"seq":{origin.raw_seq},'.encode() in record


def test_a_background_child_stands_where_its_end_was_told() -> None:
    batch = one_trace("pypi-0.2.1rc2/i_subagent")
    child = header(batch).lanes[0].id
    of_child = [index for index, event in enumerate(batch) if getattr(event, "agent", "") == child]
    told = next(index for index, event in enumerate(batch) if getattr(event, "what", "") == "subagent-settled")
    assert of_child == list(range(told - len(of_child), told))


def test_an_awaited_child_stands_before_the_result_of_its_call() -> None:
    batch = one_trace("pypi-0.1.0rc6/i_subagent")
    lane = header(batch).lanes[0]
    of_child = [index for index, event in enumerate(batch) if getattr(event, "agent", "") == lane.id]
    after = batch[of_child[-1] + 1]
    assert isinstance(after, ToolResult)
    assert after.call_id == lane.call
    assert of_child == list(range(of_child[0], of_child[-1] + 1))


def test_a_killed_run_is_cut_off_and_a_failed_one_aborted() -> None:
    assert isinstance(end := one_trace("pypi-0.1.0rc7/h1_sigkill_mid_call")[-1], RunEnd)
    assert end.end == "cut_off"
    assert isinstance(end := one_trace("pypi-0.1.2rc1/l2_llm_error")[-1], RunEnd)
    assert (end.end, end.reason) == ("aborted", "error INVALID_REQUEST: scripted bad request")
    assert isinstance(end := one_trace("pypi-0.2.1rc2/l3_max_tokens")[-1], RunEnd)
    assert (end.end, end.reason) == ("aborted", "max-tokens")

"""Results folders of live runs are compared like any other results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outstep.errors import OutstepError
from outstep.workflow.comparing import read_side


def folder(root: Path, runs: list[dict[str, Any]]) -> str:
    battery = {"version": "shop_v1", "digest": "sha256:00"}
    (root / "runs").mkdir(parents=True)
    (root / "runs.json").write_text(json.dumps({"schema": "runs/v1", "battery": battery}))
    for run in runs:
        place = root / "runs" / run["scenario"] / f"{run['epoch']:03}"
        place.mkdir(parents=True)
        (place / "run.json").write_text(json.dumps({"schema": "run/v1", "model": "m", "seconds": 0.5, **run}))
    return str(root)


@pytest.mark.parametrize(
    ("status", "gate", "outcome"),
    [
        ("completed", "pass", "pass"),
        ("completed", "", "pass"),
        ("completed", "block", "fail"),
        ("completed", "inconclusive", "inconclusive"),
        ("completed", "error", "error"),
        ("cut_off", "pass", "inconclusive"),
        ("max_turns", "pass", "inconclusive"),
        ("max_turns", "block", "fail"),
        ("provider_error", "pass", "not_run"),
        ("refused", "", "not_run"),
        ("provider_error", "block", "fail"),
    ],
)
def test_only_a_completed_run_passes_and_a_violation_stands_whatever_ended_it(
    tmp_path: Path, status: str, gate: str, outcome: str
) -> None:
    run = {"scenario": "due", "epoch": 1, "status": status, "gate": gate, "violated": ["R"] if gate == "block" else []}
    (result,) = read_side(folder(tmp_path / "a", [run])).runs
    assert (result.case, result.model, result.epoch, result.outcome) == ("due", "m", 1, outcome)
    assert result.latency == 0.5


def test_a_folder_in_which_no_run_ended_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(OutstepError, match="no run has ended") as raised:
        read_side(folder(tmp_path / "a", []))
    assert [problem.code for problem in raised.value.problems] == ["run/no-record"]


def test_every_damaged_record_is_named(tmp_path: Path) -> None:
    runs = [{"scenario": "due", "epoch": epoch, "status": "completed"} for epoch in (1, 2, 3)]
    path = folder(tmp_path / "a", runs)
    for epoch in (1, 3):
        (tmp_path / "a" / "runs" / "due" / f"{epoch:03}" / "run.json").write_text("{")
    with pytest.raises(OutstepError) as raised:
        read_side(path)
    assert [problem.place.source[-12:] for problem in raised.value.problems if problem.place] == [
        "001/run.json",
        "003/run.json",
    ]

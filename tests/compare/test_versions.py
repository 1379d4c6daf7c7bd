"""What acted: model, prompt, skills, tools, harness, configuration."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from outstep import cli
from outstep.compare.cards import card
from outstep.compare.results import PARTS, Outcome, Result, Results
from outstep.compare.versions import split, versions
from outstep.errors import OutstepError
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.findings import Report, TraceSummary
from outstep.render.comparison import terminal
from outstep.render.comparison_page import html
from outstep.workflow.comparing import read_side
from tests.evidence.stores import clock, verdict
from tests.evidence.stores import run as kept
from tests.render.reports import finding, report


def run(case: str = "c", outcome: Outcome = "pass", epoch: int = 1, **subject: str) -> Result:
    return Result(case=case, outcome=outcome, epoch=epoch, model=subject.get("model", ""), subject=subject)


def side(name: str, *runs: Result) -> Results:
    return Results(name=name, runs=runs)


OLD = side("old", run(model="m", prompt="a" * 64))
NEW = side("new", run(outcome="fail", model="m", prompt="b" * 64))
OTHER = side("other", run(outcome="fail", model="n", prompt="b" * 64))


def test_the_one_part_that_differs_is_named() -> None:
    (found,) = card([OLD, NEW]).comparisons
    assert [one.part for one in found.differs] == ["prompt"]
    assert "of what acted, only the prompt is recorded to differ: aaaaaaaaaaaa → bbbbbbbbbbbb" in found.notes


def test_where_several_parts_differ_none_is_blamed() -> None:
    (found,) = card([OLD, OTHER]).comparisons
    assert [one.part for one in found.differs] == ["model", "prompt"]
    assert "which of them made a difference cannot be told: model, prompt" in found.notes[0]


def test_a_part_that_one_side_does_not_record_is_not_said_to_differ() -> None:
    (found,) = card([OLD, side("new", run(model="m"))]).comparisons
    assert (found.differs, found.notes) == ((), ())


def test_each_version_has_its_row() -> None:
    told = card([OLD, NEW, OTHER])
    assert [(one.subject["model"], one.score.k, one.score.n) for one in told.versions] == [
        ("m", 1, 1),
        ("m", 0, 1),
        ("n", 0, 1),
    ]
    assert "model  prompt        runs  passed" in terminal(told)
    assert "What acted" in html(told, [OLD, NEW, OTHER], tool="t")


def test_one_version_or_one_a_side_needs_no_table() -> None:
    assert versions([OLD, NEW]) == []
    assert versions([OLD]) == []
    assert len(versions([side("all", *OLD.runs, *NEW.runs)])) == 2


def test_runs_are_split_by_a_part_and_each_is_paired_once() -> None:
    both = [run(model=model, prompt=prompt) for prompt in "xy" for model in "mn"]
    first, second = split([side("all", *both)], "prompt")
    assert (first.name, second.name) == ("prompt x", "prompt y")
    assert [(one.model, one.epoch) for one in first.runs] == [("m", 1), ("n", 1)]
    uneven = split([side("all", *both[:3])], "prompt")
    assert [[one.epoch for one in some.runs] for some in uneven] == [[1, 1], [1]]
    assert [some.name for some in split([OLD, side("bare", run())], "prompt")] == [
        "prompt aaaaaaaaaaaa",
        "prompt not recorded",
    ]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_split_by(part: str) -> None:
    runs = [Result(case="c", outcome="pass", subject={part: value}) for value in "12"]
    assert len(split([side("all", *runs)], part)) == 2


# --- stores of evidence ---


def judged(store: Store, key: SigningKey, of: int, told: Report) -> None:
    with store.writing(key, clock) as writer:
        entry = verdict(writer, of)
        assert entry.judged is not None
        kept = msgspec.structs.replace(entry.judged, report=writer.put(msgspec.json.encode(told)))
        writer.add(msgspec.structs.replace(entry, judged=kept))
        writer.commit()


def begun(folder: Path, key: SigningKey) -> Store:
    store = Store.init(folder, key)
    with store.writing(key, clock) as writer:
        writer.add(kept(writer, 0))
        writer.commit()
    return store


def test_of_a_store_the_newest_verdict_on_each_run_counts(tmp_path: Path) -> None:
    key = SigningKey.generate()
    store = begun(tmp_path / "store", key)
    trace = TraceSummary(id="t0", subject={"model": "m", "prompt": "p"}, verdicts=({},))
    judged(store, key, 0, report(finding(trace="t0"), traces=(trace,)))
    assert [run.outcome for run in read_side(str(tmp_path / "store")).runs] == ["fail"]
    judged(store, key, 0, report(traces=(trace,)))
    (found,) = read_side(str(tmp_path / "store")).runs
    assert (found.case, found.outcome, found.subject) == ("t0", "pass", {"model": "m", "prompt": "p"})


def test_a_kept_run_without_a_verdict_makes_no_comparison(tmp_path: Path) -> None:
    begun(tmp_path / "store", SigningKey.generate())
    found = read_side(str(tmp_path / "store"))
    assert [run.outcome for run in found.runs] == ["not_run"]
    assert card([side("old", run("t0")), found]).comparisons[0].exit_code == 2


def test_an_empty_store_and_a_lost_report_are_said(tmp_path: Path) -> None:
    key = SigningKey.generate()
    Store.init(tmp_path / "empty", key)
    with pytest.raises(OutstepError, match="no run is kept in the store"):
        read_side(str(tmp_path / "empty"))
    store = begun(tmp_path / "store", key)
    judged(store, key, 0, report())
    for file in (tmp_path / "store" / "objects").rglob("*.zst"):
        file.write_bytes(b"")
    with pytest.raises(OutstepError, match="the report of entry 0 in"):
        read_side(str(tmp_path / "store"))


def test_by_and_baseline_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "--by", "model", "--baseline", "a", "b"]) == 2
    assert "`--by` makes the sides itself" in capsys.readouterr().err

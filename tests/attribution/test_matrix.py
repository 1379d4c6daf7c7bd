"""What several runs tell that differ in one factor only."""

from __future__ import annotations

from msgspec import structs

from outstep.attribution.matrix import Cell, contrasts, rejudged
from outstep.findings import Verdict


def _cell(number: int, verdict: Verdict, *, case: str = "a", contract: str = "c", **subject: str) -> Cell:
    return Cell(
        case=case,
        run=f"run-{number}",
        record=f"sha-{number}",
        subject=tuple(sorted(subject.items())),
        contract=contract,
        verdict=verdict,
    )


def _sides(broken: int, held: int, *, first: dict[str, str], second: dict[str, str]) -> list[Cell]:
    cells = [_cell(number, "violated", **first) for number in range(broken)]
    return cells + [_cell(broken + number, "satisfied", **second) for number in range(held)]


OLD = {"model": "m", "prompt": "old", "tools": "t"}
NEW = {"model": "m", "prompt": "new", "tools": "t"}


def test_four_runs_on_each_side_that_differ_in_the_prompt_tell_that_it_is_the_context() -> None:
    cells = _sides(4, 4, first=OLD, second=NEW)
    (one,) = contrasts(cells, cells[0])
    assert (one.factor, one.part, one.is_told, one.counts) == ("context", "prompt", True, (4, 0, 0, 4))
    assert one.unrecorded == ("skills", "harness", "config")


def test_three_runs_on_each_side_may_be_chance() -> None:
    cells = _sides(3, 3, first=OLD, second=NEW)
    (one,) = contrasts(cells, cells[0])
    assert not one.is_told
    assert "chance" in one.says


def test_runs_that_differ_in_two_factors_tell_nothing() -> None:
    cells = _sides(9, 9, first=OLD, second={**NEW, "model": "other"})
    assert contrasts(cells, cells[0]) == []


def test_a_factor_that_one_side_does_not_record_may_differ_or_not() -> None:
    cells = _sides(9, 9, first=OLD, second={"model": "m", "tools": "t"})
    assert contrasts(cells, cells[0]) == []


def test_one_run_that_came_out_the_other_way_keeps_it_from_being_told() -> None:
    cells = _sides(9, 9, first=OLD, second=NEW)
    cells.append(_cell(99, "satisfied", **OLD))
    (one,) = contrasts(cells, cells[0])
    assert not one.is_told


def test_a_rule_that_nothing_exercised_does_not_count_as_held() -> None:
    cells = [
        structs.replace(one, verdict="vacuous") if one.verdict == "satisfied" else one
        for one in _sides(9, 9, first=OLD, second=NEW)
    ]
    assert contrasts(cells, cells[0]) == []


def test_other_cases_and_other_contracts_are_no_comparison() -> None:
    cells = _sides(5, 0, first=OLD, second=NEW)
    cells += [_cell(50 + number, "satisfied", case="b", **NEW) for number in range(9)]
    cells += [_cell(70 + number, "satisfied", contract="d", **NEW) for number in range(9)]
    assert contrasts(cells, cells[0]) == []


def test_one_record_given_many_times_counts_once() -> None:
    cells = _sides(1, 1, first=OLD, second=NEW) * 9
    (one,) = contrasts(cells, cells[0])
    assert one.counts == (1, 0, 0, 1)
    assert not one.is_told


def test_several_factors_are_corrected_for_being_several() -> None:
    first = {**OLD, "skills": "s"}
    cells = _sides(4, 4, first=first, second={**first, "prompt": "new"})
    cells += [_cell(90 + number, "satisfied", **{**first, "skills": "other"}) for number in range(4)]
    assert [one.is_told for one in contrasts(cells, cells[0])] == [False, False]


def test_the_same_record_held_by_another_contract_shows_that_the_rule_changed() -> None:
    run = _cell(1, "violated", **OLD)
    other = structs.replace(run, contract="d", verdict="satisfied")
    assert rejudged([run, other], run) == [other]
    assert rejudged([run, structs.replace(other, record="sha-2")], run) == []
    assert rejudged([run, structs.replace(other, verdict="vacuous")], run) == []

"""From results before to results after: what is worse, and what is no comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from outstep.compare.cards import card
from outstep.compare.results import Results, is_table, of_report, of_table
from outstep.compare.scores import paired, scores
from outstep.compare.transitions import compare
from outstep.errors import OutstepError, Place, Problem
from outstep.findings import TraceSummary
from outstep.render.comparison import terminal
from tests.render.reports import finding, report


def side(name: str, *runs: dict[str, Any]) -> Results:
    filled = [{"epoch": 1, "model": "m", "findings": [], **run} for run in runs]
    return of_table(json.dumps({"runs": filled}).encode(), name)


def run(case: str, verdict: str, *findings: str, **more: Any) -> dict[str, Any]:
    return {"case": case, "verdict": verdict, "findings": list(findings), **more}


@pytest.mark.parametrize(
    ("before", "after", "change", "code"),
    [
        (run("c", "pass"), run("c", "pass"), "same", 0),
        (run("c", "pass"), run("c", "fail", "R"), "pass→fail", 1),
        (run("c", "fail", "R"), run("c", "pass"), "fail→pass", 0),
        (run("c", "fail", "R"), run("c", "fail", "R"), "still fails", 0),
        (run("c", "fail", "R"), run("c", "fail", "S"), "fail for a new reason", 1),
        (run("c", "fail", "R", "S"), run("c", "fail", "S"), "still fails", 0),
        (run("c", "pass"), run("c", "inconclusive", "R"), "became inconclusive", 1),
        (run("c", "inconclusive", "R"), run("c", "pass"), "decided", 0),
        (run("c", "pass", "R"), run("c", "pass", "R"), "same", 0),
        (run("c", "pass"), run("c", "pass", "R"), "new finding", 1),
        (run("c", "inconclusive", "R"), run("c", "inconclusive", "R", "S"), "new finding", 1),
        (run("c", "inconclusive", "R"), run("c", "fail", "R"), "pass→fail", 1),
        (run("c", "pass"), run("c", "error"), "error", 2),
        (run("c", "error"), run("c", "pass"), "error", 2),
        (run("c", "pass"), run("c", "not_run"), "error", 2),
    ],
)
def test_each_change_has_its_name_and_its_exit_code(
    before: dict[str, Any], after: dict[str, Any], change: str, code: int
) -> None:
    found = compare(side("a", before), side("b", after))
    assert [one.change for one in found.transitions] == [change]
    assert found.exit_code == code


def test_cases_come_and_go() -> None:
    found = compare(
        side("a", run("kept", "pass"), run("left", "pass")), side("b", run("kept", "pass"), run("came", "pass"))
    )
    assert {one.case: one.change for one in found.transitions} == {"kept": "same", "left": "gone", "came": "new"}
    assert found.exit_code == 1
    failing = compare(side("a", run("kept", "pass")), side("b", run("kept", "pass"), run("came", "fail", "R")))
    assert failing.exit_code == 1


def test_one_errored_case_makes_the_whole_no_comparison() -> None:
    found = compare(side("a", run("c", "pass"), run("d", "pass")), side("b", run("c", "fail", "R"), run("d", "error")))
    assert found.exit_code == 2
    assert "1 case did not run or could not be checked: `d`" in found.obstacles


def test_nothing_in_common_is_no_comparison() -> None:
    assert compare(side("a", run("c", "pass")), side("b", run("d", "pass"))).exit_code == 2


def test_of_several_epochs_the_worst_counts() -> None:
    before = side("a", run("c", "pass", epoch=1), run("c", "pass", epoch=2))
    after = side("b", run("c", "pass", epoch=1), run("c", "fail", "R", epoch=2))
    (one,) = compare(before, after).transitions
    assert (one.change, one.passed, one.passes, one.new) == ("pass→fail", (2, 2), (1, 2), ("R",))


def epochs(case: str, passes: int, runs: int) -> list[dict[str, Any]]:
    return [
        run(case, "pass", epoch=number) if number < passes else run(case, "fail", "R", epoch=number)
        for number in range(runs)
    ]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [(19, 0, "passes less often"), (19, 13, "passes less often"), (19, 14, "still fails"), (0, 19, "still fails")],
)
def test_a_case_that_failed_at_times_may_not_fail_ever_more_often(before: int, after: int, change: str) -> None:
    found = compare(side("a", *epochs("c", before, 20)), side("b", *epochs("c", after, 20)))
    assert [one.change for one in found.transitions] == [change]
    assert found.exit_code == (change == "passes less often")


def test_of_many_cases_that_come_and_go_one_that_falls_is_no_news() -> None:
    def wavering(passing: Sequence[int]) -> list[dict[str, Any]]:
        cases = [f"c{number}" for number in range(40)]
        return [
            run(case, "pass", epoch=number) if number in passing else run(case, "fail", "R", epoch=number)
            for case in cases
            for number in range(7)
        ]

    before = side("a", *epochs("falls", 6, 7), *wavering((0, 1, 2)))
    after = side("b", *epochs("falls", 0, 7), *wavering((3, 4, 5)))
    assert {one.change for one in compare(before, after).transitions} == {"still fails"}
    alone = compare(side("a", *epochs("falls", 6, 7)), side("b", *epochs("falls", 0, 7)))
    assert [one.change for one in alone.transitions] == ["passes less often"]


def test_runs_that_pass_less_often_over_all_cases_are_worse_although_no_case_is() -> None:
    before = side("a", *(one for number in range(10) for one in epochs(f"c{number}", 3, 4)))
    after = side("b", *(one for number in range(10) for one in epochs(f"c{number}", 2, 4)))
    (found,) = card([before, after]).comparisons
    assert {one.change for one in found.transitions} == {"still fails"}
    assert (found.passes_less, found.exit_code) == (True, 1)
    assert "worse, runs pass less often over all cases" in terminal(card([before, after]))
    assert (card([after, before]).comparisons[0].exit_code) == 0


def test_nothing_green_is_said_of_sides_that_are_not_alike() -> None:
    told = card([side("a", run("c", "pass"), run("d", "pass")), side("b", run("c", "pass"), run("d", "error"))])
    assert "nothing worse" not in terminal(told)
    assert "not comparable: 1 case did not run" in terminal(told)


def test_several_models_are_held_against_themselves() -> None:
    before = side("a", run("c", "pass", model="m"), run("c", "fail", "R", model="n"))
    after = side("b", run("c", "fail", "R", model="m"), run("c", "fail", "R", model="n"))
    found = compare(before, after)
    assert {(one.model, one.change) for one in found.transitions} == {("m", "pass→fail"), ("n", "still fails")}


def test_a_model_that_fails_does_not_hide_behind_another_one_that_is_gone() -> None:
    before = side("a", run("c", "pass", model="m"), run("c", "fail", "R", model="n"))
    after = side("b", run("c", "fail", "R", model="m"))
    found = compare(before, after)
    assert {(one.model, one.change) for one in found.transitions} == {("m", "pass→fail"), ("n", "gone")}
    assert found.exit_code == 1
    (test,) = paired([before, after])
    assert (test.pairs, test.only_before, test.only_after) == (1, 1, 0)
    assert compare(before, side("b", run("c", "pass", model="x"))).exit_code == 2


def trace(verdicts: dict[str, Any], **more: Any) -> TraceSummary:
    return TraceSummary(id="t1", sources=("s.jsonl",), events=3, verdicts=(verdicts,), **more)


def test_reports_tell_rules_that_nothing_exercises_any_more() -> None:
    before = of_report(report(traces=(trace({}),)), "a")
    after = of_report(report(traces=(trace({"VERIFY": "vacuous"}),)), "b")
    (one,) = compare(before, after).transitions
    assert (one.change, one.vacuous) == ("same", ("VERIFY",))


def test_a_report_with_a_fault_on_a_trace_is_an_error_of_that_case() -> None:
    fault = Problem(code="adapter/damaged-record", sentence="x", place=Place(source="s.jsonl", line=3))
    told = of_report(report(traces=(trace({}),), faults=(fault,), gate="error", exit_code=2), "b")
    assert told.runs[0].outcome == "error"
    elsewhere = Problem(code="adapter/damaged-record", sentence="x", place=Place(source="other.jsonl"))
    assert of_report(report(traces=(trace({}),), faults=(elsewhere,)), "b").runs[0].outcome == "pass"


def test_findings_of_a_report_are_the_reasons() -> None:
    found = of_report(report(finding(), traces=(trace({"VERIFY": "violated"}),)), "a")
    assert (found.runs[0].outcome, found.runs[0].findings) == ("fail", ("VERIFY",))
    waived = of_report(report(finding(waived="known"), traces=(trace({"VERIFY": "violated"}),)), "a")
    assert (waived.runs[0].outcome, waived.runs[0].findings) == ("pass", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"runs": []}', "has no runs"),
        ('{"runs": [{"case": "c"}]}', "missing required field `verdict`"),
        ('{"runs": [{"case": "c", "verdict": "maybe"}]}', "`maybe` is no verdict"),
        ('{"runs": [{"case": "c", "verdict": "pass"}, {"case": "c", "verdict": "fail"}]}', "has epoch 1 twice"),
        ('{"runs": 3}', "expected `array`"),
    ],
)
def test_a_table_with_a_mistake_says_where(text: str, said: str) -> None:
    assert is_table(text.encode())
    with pytest.raises(OutstepError) as caught:
        of_table(text.encode(), "t.json")
    assert said in caught.value.problems[0].sentence
    assert caught.value.problems[0].place is not None


def test_a_score_says_how_sure_it_is() -> None:
    runs = [run("c", "pass", epoch=n) for n in range(1, 4)] + [run("c", "fail", "R", epoch=4), run("d", "error")]
    (one,) = scores([side("a", *runs)])
    assert (one.name, one.cases, one.n, one.k, one.broken) == ("m", 2, 4, 3, 1)
    assert one.rate == 0.75
    assert (round(one.low, 3), round(one.high, 3)) == (0.301, 0.954)
    assert one.pass_hat == {1: 0.75, 2: 0.5, 3: 0.25, 4: 0.0}
    assert one.pass_at[2] == 1.0


def test_two_sides_are_paired_run_by_run() -> None:
    good = [run("c", "pass", epoch=n) for n in range(8)]
    bad = [run("c", "fail", "R", epoch=n) for n in range(8)]
    (one,) = paired([side("a", *good), side("b", *bad)])
    assert (one.pairs, one.only_before, one.only_after, one.says) == (8, 8, 0, "worse")
    assert one.p == pytest.approx(2 / 2**8)
    (few,) = paired([side("a", *good[:3]), side("b", *bad[:3])])
    assert few.says.startswith("too few to tell")

"""The terminal report: what a person reads."""

from __future__ import annotations

import re

from outstep.errors import Place, Problem
from outstep.findings import RuleSummary, TraceSummary, Witness
from outstep.render import terminal
from outstep.render.problems import problem_text
from outstep.render.style import PLAIN, Style
from outstep.render.wording import folded
from tests.render.reports import HOSTILE, finding, hostile, report


def shown(*findings: object, **style: object) -> str:
    return terminal.render(report(*findings), Style(**style))  # type: ignore[arg-type]


def test_a_finding_says_rule_level_place_quote_and_contract() -> None:
    text = shown(finding(values=("3500 > 3000",), missing=('`verified["C7"]`: not known',)))
    assert text.startswith(
        "violated[VERIFY] block: not verified\n"
        "  --> s.jsonl line 5, event 4 of 7 (turn 2)\n"
        '   |  call pay(id="A1")\n'
        "   |  3500 > 3000\n"
        '   |  missing: `verified["C7"]`: not known\n'
        "   = contract: c.yaml:9\n"
    )


def test_other_events_are_quoted_with_their_note_and_line() -> None:
    other = Witness(seq=5, note="its result", quote="result failed pay", place=Place(source="s.jsonl", line=6))
    text = shown(finding(witness=(*finding().witness, other)))
    assert "   |  its result (line 6): result failed pay\n" in text


def test_findings_at_one_event_that_lack_the_same_evidence_are_folded() -> None:
    one = finding(missing=("`order`",))
    other = finding(
        rule="PAID", message="not paid", missing=("`order`",), contract_place=Place(source="c.yaml", line=12)
    )
    text = shown(one, other)
    assert text.startswith("violated[VERIFY] block: not verified\nviolated[PAID] block: not paid\n  --> s.jsonl line 5")
    assert text.count("-->") == 1
    assert "= contract: c.yaml:9, 12" in text


def test_findings_that_lack_different_evidence_stand_apart() -> None:
    assert len(folded([finding(missing=("a",)), finding(missing=("b",))])) == 2
    assert len(folded([finding(missing=("a",)), finding(missing=("a",), seq=5)])) == 2
    assert len(folded([finding(missing=("a",)), finding(missing=("a",), trace="t2")])) == 2
    assert len(folded([finding(), finding()])) == 2


def test_what_one_gap_hides_is_folded() -> None:
    gap = Witness(seq=2, quote="gap lost")
    undecided = [
        finding(rule=rule, verdict="inconclusive", reason="hidden-trigger", seq=None, event=None, witness=(gap,))
        for rule in ("A", "B")
    ]
    assert len(folded(undecided)) == 1


def test_observed_findings_are_counted_unless_asked_for() -> None:
    observed = [finding(level="observe", seq=seq) for seq in (4, 5, 6)]
    text = shown(*observed)
    assert text.count("violated[VERIFY]") == 1
    assert "and 2 more like this: `-v` shows all" in text
    assert shown(*observed, verbose=True).count("violated[VERIFY]") == 3


def test_colours_come_only_when_asked_for() -> None:
    assert "\x1b" not in shown(finding())
    assert "\x1b[1;31mviolated[VERIFY]\x1b[0m" in shown(finding(), colour=True)


def test_a_long_quote_is_cut_to_the_columns() -> None:
    long = finding(witness=(Witness(seq=4, quote="call " + "x" * 1000),))
    line = next(line for line in shown(long, columns=60).splitlines() if "xxx" in line)
    assert line == "   |  call " + "x" * 54 + "…"


def test_text_from_a_trace_cannot_act_or_fake_a_line() -> None:
    text = terminal.render(hostile(), Style(verbose=True))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert not [line for line in text.splitlines() if line.startswith("  --> fake")]


def test_a_fault_cannot_act_either() -> None:
    text = problem_text(hostile().faults[0], PLAIN)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert HOSTILE not in text


def test_the_mark_under_an_excerpt_counts_what_is_shown() -> None:
    one = Problem(code="contract/x", sentence="s", excerpt="退款\tbad", underline=(3, 6))
    assert problem_text(one).splitlines()[1:] == ["   |  退款\\tbad", "   |        ^^^"]


def test_the_end_counts_rules_by_their_worst_verdict() -> None:
    rules = (
        RuleSummary(rule="A", level="block", satisfied=3),
        RuleSummary(rule="B", level="block", satisfied=2, violated=1),
        RuleSummary(rule="C", level="block", inconclusive=1, vacuous=2),
        RuleSummary(rule="D", level="block", vacuous=3),
        RuleSummary(rule="E", level="block", pack="integrity", satisfied=3),
        RuleSummary(rule="F", level="observe", pack="integrity", violated=1),
    )
    text = terminal.render(report(rules=rules), PLAIN)
    assert "rules: 1 held, 1 violated, 1 inconclusive, 1 never exercised (D)\n" in text
    assert "record: holds together (observed: F)\n" in text
    assert text.endswith("gate: pass (exit code 0)\n")


def test_of_several_traces_the_end_names_what_went_wrong_and_in_how_many() -> None:
    several = (TraceSummary(id="t1", events=1), TraceSummary(id="t2", events=1))
    rules = (
        RuleSummary(rule="A", level="block", satisfied=2),
        RuleSummary(rule="B", level="block", violated=2),
        RuleSummary(rule="C", level="block", satisfied=1, inconclusive=1),
    )
    text = terminal.render(report(rules=rules, traces=several), PLAIN)
    assert "rules: 1 held, 1 violated (B ×2), 1 inconclusive (C ×1)\n" in text


def test_a_rule_about_the_record_is_named_once_whatever_the_number_of_contracts() -> None:
    rules: list[RuleSummary] = []
    for contract in ("c1", "c2"):
        rules.append(RuleSummary(rule="E", level="block", contract=contract, pack="integrity", violated=1))
        rules.append(RuleSummary(rule="F", level="observe", contract=contract, pack="integrity", violated=1))
    assert "record: E violated (observed: F)\n" in terminal.render(report(rules=tuple(rules)), PLAIN)


def test_a_rule_that_nobody_judged_is_not_called_held_or_idle() -> None:
    text = terminal.render(report(rules=(RuleSummary(rule="A", level="block"),)), PLAIN)
    assert "rules: 1 not judged\n" in text


def test_the_trace_is_named_only_where_there_are_several() -> None:
    several = (TraceSummary(id="t1", events=1), TraceSummary(id="t2", events=1))
    assert "trace t1" not in shown(finding())
    assert ", trace t1\n" in terminal.render(report(finding(), traces=several), PLAIN)

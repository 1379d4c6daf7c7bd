"""What a contract is worth: coverage, mutation, promotion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep import cli
from outstep.contracts.loader import load_contract
from outstep.contracts.model import Contract
from outstep.events import ToolCall
from outstep.mutation.contracts import weakened
from outstep.mutation.traces import WAYS, Concern, mutants
from outstep.tracetext import parse_trace, trace_text
from outstep.workflow.coverage import coverage
from outstep.workflow.mutating import mutate
from outstep.workflow.promoting import promote, runs_for, upper
from outstep.workflow.traces import Trace
from tests.command_line import ROOT

REFUND = str(ROOT / "examples" / "refund" / "dsh-refund.yaml")
RECORDINGS = ROOT / "examples" / "refund" / "recordings"

HEAD = "outstep: contract/v1\nid: c\ntools: {look: {effect: read}, pay: {effect: write}}\n"


def contract(rules: str) -> Contract:
    return load_contract((HEAD + rules).encode(), name="c.yaml")


def trace(text: str, id: str = "t") -> Trace:
    header, events = parse_trace(f"id {id}\n{text}")
    return Trace(header=header, events=events)


GOOD = """
user "pay 5 to A1"
call look {"id": "A1"} turn 1
result ok {"id": "A1", "max": 10}
call pay {"id": "A1", "cents": 5} turn 2
result ok {"receipt": "R1"}
say "Paid 5." turn 3
end completed
"""
RULES = """
facts:
  seen: {from: ok result look, key: data.id}
rules:
  - {id: BOUND, for: call pay, require: [args.cents > 0, 'args.cents <= seen[args.id].max']}
  - {id: ONCE, for: call pay, at_most: 1, per: args.id}
  - {id: DONE, for: call pay, then: ok its result}
  - {id: DUE, for: ok result pay, at_least: 1}
  - {id: TRUE_TO_TELL, for: claim paid, needs: ok result pay}
claims: {paid: [paid]}
"""


# --- coverage ---


def test_each_part_of_a_condition_is_counted_by_itself() -> None:
    rules = "rules:\n  - {id: R, for: call pay, require: 'args.a == 1 || !(args.b > 2) || args.c'}\n"
    found = coverage(
        contract(rules),
        [trace('call pay {"a": 1, "b": 3}\nend completed'), trace('call pay {"a": 1, "b": 1}\nend completed')],
    )
    assert [(one.text, one.true, one.false, one.missing, one.lacks) for one in found.conditions] == [
        ("args.a == 1", 2, 0, 0, "never false"),
        ("args.b > 2", 1, 1, 0, ""),
        ("args.c", 0, 0, 2, "never decided"),
    ]
    assert found.sides == (3, 6)
    assert [(one.rule, one.satisfied) for one in found.rules if one.rule == "R"] == [("R", 2)]


def test_what_nothing_triggers_is_never_evaluated() -> None:
    rules = "rules:\n  - {id: R, for: call pay, when: args.big, require: args.ok}\n"
    found = coverage(contract(rules), [trace("call look\nresult ok\nend completed")])
    assert {one.text: one.lacks for one in found.conditions} == {
        "args.big": "never evaluated",
        "args.ok": "never evaluated",
    }
    assert not next(one for one in found.rules if one.rule == "R").is_exercised


def test_coverage_is_a_gate_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["contract", "coverage", "-c", REFUND, str(RECORDINGS)]
    assert cli.main([*words, "--require", "10"]) == 0
    assert cli.main([*words, "--require", "99"]) == 1
    assert cli.main([*words, "--require", "x"]) == 2
    assert cli.main(["contract", "coverage", "-c", REFUND]) == 2
    capsys.readouterr()
    assert cli.main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "coverage/v1"
    assert told["sides"]["shown"] < told["sides"]["of"]


# --- mutation ---


def concerns(tool: str) -> Concern:
    return Concern(name=tool, is_read=tool == "look")


def test_every_way_gives_whole_traces_that_differ_from_the_good_one() -> None:
    good = trace(
        GOOD.replace('"max": 10', '"max": 10, "open": true').replace(
            "user", 'context skill name "s" "text" digest d1\nuser', 1
        )
    )
    ways = set()
    for mutant in mutants(good.header, good.events, concerns):
        ways.add(mutant.way)
        assert [event.seq for event in mutant.events] == list(range(1, len(mutant.events) + 1))
        assert trace_text(good.header, mutant.events) != trace_text(good.header, good.events), mutant.detail
        assert mutant.detail
    assert ways == set(WAYS)


def test_a_strong_contract_notices_all_of_it() -> None:
    found = mutate(contract(RULES), [trace(GOOD)])
    slipped = {(one.way, one.what) for one in found.slipped}
    assert slipped == set()
    assert found.trace_score[0] == found.trace_score[1] > 10


def test_a_weak_one_says_what_slips_through_with_a_case_to_paste() -> None:
    weak = contract("rules:\n  - {id: DONE, for: call pay, then: ok its result}\n")
    found = mutate(weak, [trace(GOOD)])
    doubled = next(one for one in found.slipped if one.way == "doubled")
    assert (doubled.what, doubled.count, doubled.of) == ("pay", 1, 1)
    again = trace(doubled.example)
    # What the contract does not look at is gone; both payments are there, for one alone would be no second one.
    assert [event.tool for event in again.events if isinstance(event, ToolCall)] == ["pay", "pay"]
    assert len(again.events) <= 5


def test_what_a_contract_does_not_read_is_not_about_it() -> None:
    told = contract("rules:\n  - {id: BOUND, for: call pay, require: args.cents < 10}\n")
    found = mutate(told, [trace(GOOD.replace('"cents": 5', '"cents": 5, "note": "n1", "tip": 3'))], weaken=False)
    broken = {(one.way, one.what, one.of) for one in found.noticed}
    assert ("another amount", "pay", 1) in broken
    assert {way for way, _, _ in broken} & {"another id", "failed", "unknown", "denied", "said too early"} == set()


def test_those_that_are_tried_do_not_depend_on_what_comes_first() -> None:
    told = contract("rules:\n  - {id: ONCE, for: call pay, at_most: 1, per: args.id}\n")
    good = [trace(GOOD.replace("A1", f"A{number}"), f"t{number}") for number in range(12)]
    one = mutate(told, good, limit=3, weaken=False)
    other = mutate(told, good[::-1], limit=3, weaken=False)
    assert sorted(map(repr, one.noticed)) == sorted(map(repr, other.noticed))
    assert {each.of for each in one.noticed} == {3}


def test_a_rule_that_asks_for_nothing_loses_nothing() -> None:
    rules = "params: {due: 0}\nrules:\n  - {id: DUE, for: ok result pay, at_least: params.due}\n"
    found = mutate(contract(rules + "  - {id: ONCE, for: call pay, at_most: 1}\n"), [trace(GOOD)])
    assert found.cannot_fail == ("DUE",)
    assert "DUE" not in {one.rule for one in found.unseen}


def test_tools_that_a_contract_is_not_about_are_left_alone() -> None:
    found = mutate(contract("rules:\n  - {id: DONE, for: call pay, then: ok its result}\n"), [trace(GOOD)])
    assert {one.what for one in found.noticed} <= {"pay", "message"}


def test_a_trace_that_is_not_good_is_left_out() -> None:
    bad = GOOD.replace('"cents": 5', '"cents": 50')
    found = mutate(contract(RULES), [trace(GOOD, "one"), trace(bad, "two")])
    assert (found.good, found.not_good) == (1, ("two",))


def test_every_part_of_a_contract_is_weakened_once_and_means_something_else() -> None:
    told = contract(
        "facts: {seen: {from: ok result look where data.ok, key: data.id}}\nrules:\n"
        "  - id: R\n    for: call pay where args.x\n    when: args.y > 3\n    since: call look\n"
        "    at_most: 2\n    per: args.id\n    counting: unless_failed\n    in_a_row: true\n"
        "  - {id: S, for: call pay, require: ['seen[args.id].a == 1 && !args.b', args.c]}\n"
    )
    changes = list(weakened(told))
    assert {change.way for change in changes} == {
        "rule dropped",
        "key dropped",
        "condition dropped",
        "outcome dropped",
        "term dropped",
        "comparison turned",
        "bound moved",
        "negation dropped",
    }
    assert all(change.contract != told for change in changes)
    assert len({(change.way, change.rule, change.detail) for change in changes}) == len(changes)


def test_a_change_that_no_trace_shows_is_named() -> None:
    found = mutate(contract(RULES), [trace(GOOD)])
    assert ("bound moved", "BOUND") in {(one.way, one.rule) for one in found.unseen}
    assert found.seen + len(found.unseen) == found.changes


def test_mutation_is_a_gate_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["contract", "mutate", REFUND, "--traces", str(RECORDINGS / "good"), str(RECORDINGS / "good-format-3")]
    assert cli.main([*words, "--traces-only", "--min-score", "100"]) == 0
    assert cli.main([*words, "--min-score", "100"]) == 1
    capsys.readouterr()
    assert cli.main([*words, "--json", "--limit", "1"]) == 0
    first = capsys.readouterr().out
    assert cli.main([*words, "--json", "--limit", "1"]) == 0
    assert capsys.readouterr().out == first
    told: dict[str, Any] = json.loads(first)
    assert told["scores"]["traces"]["of"] > 10
    assert cli.main(["contract", "mutate", REFUND, "--traces", str(RECORDINGS / "duplicate-refund")]) == 2


# --- promotion ---


def test_a_bound_is_that_of_clopper_and_pearson() -> None:
    # With no alarm it is 1 - 0.05^(1/n); with one in twenty, the published upper limit.
    assert upper(0, 59) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert upper(1, 20) == pytest.approx(0.2161, abs=1e-4)
    assert upper(0, 0) == upper(5, 5) == 1.0
    assert runs_for(0.05) == 59


@pytest.mark.parametrize(
    ("good", "bad", "ready"),
    [
        ([GOOD] * 59, ["call pay\nend completed"], "block"),
        ([GOOD] * 58, ["call pay\nend completed"], "warn"),
        ([GOOD] * 59, [GOOD], "warn"),
        ([GOOD] * 59, [], "block"),
        ([GOOD] * 59 + ["call pay\nend completed"], [], "observe"),
        ([GOOD] * 59 + ["call pay"], [], "warn"),
        (["call look\nresult ok\nend completed"], [], "observe"),
    ],
)
def test_what_a_rule_is_ready_for(good: list[str], bad: list[str], ready: str) -> None:
    told = contract("rules:\n  - {id: DONE, for: call pay, then: ok its result}\n")
    (standing,), _, _ = promote(told, map(trace, good), map(trace, bad))
    assert (standing.ready, bool(standing.why)) == (ready, True)


def test_a_rule_that_is_not_ready_for_its_level_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["contract", "promote", REFUND, "--traces", str(RECORDINGS / "good")]
    assert cli.main([*words, "--bad", str(RECORDINGS / "duplicate-refund")]) == 1
    assert "in `VERIFY_BEFORE_REFUND` write `level: warn`" in capsys.readouterr().out
    assert cli.main(["contract", "promote", REFUND]) == 2


def test_levels_are_pasted_for_rules_of_a_pack_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["contract", "promote", "refund", "--traces", str(ROOT / "tests/cli/shop/good.jsonl")]) == 1
    out = capsys.readouterr().out
    assert "  levels: {VERIFY_BEFORE_REFUND: warn" in out
    assert "write `level:" not in out


# --- spelling ---


def all_recorded() -> list[Path]:
    return sorted(RECORDINGS.iterdir())


def test_what_is_spelled_reads_back_as_the_same_events() -> None:
    from outstep import load_traces

    for path in all_recorded():
        if path.is_dir():
            for one in load_traces(str(path)):
                header, again = parse_trace(trace_text(one.header, one.events))
                assert [type(event) for event in again] == [type(event) for event in one.events]
                assert trace_text(header, again) == trace_text(one.header, one.events)


@given(st.text(max_size=20), st.text(min_size=1, max_size=8))
def test_any_text_can_be_spelled(text: str, name: str) -> None:
    try:
        text.encode()
        name.encode()
    except UnicodeEncodeError:
        return
    from outstep.codec import encode, raw
    from outstep.events import Event, UserMessage

    events: list[Event] = [
        UserMessage(seq=0, text=text),
        ToolCall(seq=1, tool=name, call_id="c1", args=raw({name: text})),
    ]
    header = trace(GOOD).header
    again = parse_trace(trace_text(header, events))[1]
    assert encode(again[0]) == encode(events[0])
    assert encode(again[1]) == encode(events[1])


def test_an_answer_of_no_is_a_failure_of_whoever_goes_on() -> None:
    rules = (
        "facts: {seen: {from: ok result look, key: data.id}}\nrules:\n  - id: R\n    for: call pay\n    require: X\n"
    )
    good = trace(GOOD.replace('"max": 10', '"open": true, "odd": true'))
    deaf = mutate(contract(rules.replace("X", "has(seen[args.id].open)")), [good], weaken=False)
    keen = mutate(contract(rules.replace("X", "seen[args.id].open")), [good], weaken=False)
    for found, noticed in ((deaf, 0), (keen, 1)):
        assert [(one.noticed, one.of) for one in found.noticed if one.way == "answered no"] == [(noticed, 1)]

"""Drafts of contracts: what held in every run, written so that the same runs pass and lint has nothing to say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from outstep.contracts.formatting import formatted
from outstep.contracts.loader import load
from outstep.errors import OutstepError
from outstep.events import Event, Header
from outstep.tracetext import parse_trace
from outstep.workflow.api import check
from outstep.workflow.drafting import Draft, draft
from outstep.workflow.traces import Trace, load_traces
from tests.command_line import ROOT

RECORDINGS = ROOT / "examples" / "refund" / "recordings"
GOOD = [RECORDINGS / name for name in ("good", "good-format-0", "good-format-3", "good-with-compaction")]
SHOP = """
user "refund {order}, please"
call order_get {{"id": "{order}"}} as g turn 1
result g ok {{"id": "{order}", "customer_id": "C-771", "state": "{state}", "left": 900}}
call {checked} {{"customer_id": "C-771"}} as v turn 2
result v ok {{"ok": true}}
call refund_create {{"id": "{order}", "amount": {amount}, "kind": "card"}} as r turn 3
result r ok {{"refund": "RF-{order}"}}
say "done"
end completed
"""
LOOK = """
user "what of {order}?"
call order_get {{"id": "{order}"}} as g turn 1
result g ok {{"id": "{order}", "customer_id": "C-771", "state": "{state}", "left": 900}}
say "it is {state}"
end completed
"""


def trace(number: int, text: str) -> Trace:
    header, events = parse_trace(text)
    return Trace(header=header, events=events) if number < 0 else Trace(header=named(header, number), events=events)


def named(header: Header, number: int) -> Header:
    from msgspec.structs import replace

    return replace(header, id=f"run-{number}")


def shop(checked: str = "identity_verify", amount: int = 500) -> list[Trace]:
    runs = [SHOP.format(order=f"A-{n}", state="PAID", checked=checked, amount=amount + n) for n in range(4)]
    runs += [LOOK.format(order=f"B-{n}", state=state) for n, state in enumerate(("SENT", "OPEN"))]
    return [trace(number, text) for number, text in enumerate(runs)]


def rules(made: Draft) -> dict[str, Any]:
    return {rule.id: rule for rule in load(made.text.encode())[0].rules if not rule.pack}


def assert_passes(made: Draft, runs: Iterable[Trace]) -> None:
    contract, warnings = load(made.text.encode())
    assert warnings == ()
    assert formatted(made.text.encode(), "draft.yaml") == made.text
    report = check(list(runs), contract)
    assert report.exit_code == 0
    assert [
        finding.rule for finding in report.findings if finding.verdict == "violated" and finding.level == "block"
    ] == []


def test_a_draft_says_what_held_and_in_how_many_runs() -> None:
    text = draft(shop(), id="shop").text
    assert text.startswith("# A draft, made from 6 runs with 14 calls.")
    assert "id: shop\n" in text
    assert "refund_create:  # 4 calls in 4 runs\n    effect: write  # guessed from its name\n" in text
    assert "order_get:  # 6 calls in 6 runs\n    effect: read  # guessed from its name\n" in text
    assert "# held in 4 of 4 runs with refund_create: " in text
    assert "level: observe" in text


def test_joins_states_bounds_and_orders_are_found() -> None:
    found = {
        rule: [expr.text for expr in getattr(one.kind, "all", ())] for rule, one in rules(draft(shop(), id="x")).items()
    }
    texts = [text for expressions in found.values() for text in expressions]
    assert "args.id in order" in texts
    assert 'order[args.id].state == "PAID"' in texts
    assert "identity_verify_for_customer_id[order[args.id].customer_id].ok == true" in texts
    assert "REFUND_CREATE_ONCE" in found


def test_a_run_that_breaks_what_was_found_takes_the_rule_away() -> None:
    runs = [*shop(), trace(9, SHOP.format(order="Z-9", state="OPEN", checked="identity_verify", amount=1))]
    texts = [expr.text for one in rules(draft(runs, id="x")).values() for expr in getattr(one.kind, "all", ())]
    assert 'order[args.id].state == "PAID"' not in texts
    assert "args.id in order" in texts


def test_a_draft_passes_the_runs_that_it_was_made_from() -> None:
    runs = shop()
    assert_passes(draft(runs, id="x"), runs)


def test_a_draft_of_recorded_refunds_asks_for_the_policy_and_the_check() -> None:
    runs = list(load_traces(*map(str, GOOD)))
    made = draft(runs, id="refunds")
    assert_passes(made, runs)
    assert "IDENTITY_VERIFY_BEFORE_REFUND_CREATE" in rules(made)
    assert "refund_policy[args.order_id].refundable == true" in made.text


def test_equal_runs_give_an_equal_draft() -> None:
    assert draft(shop(), id="x") == draft(shop(), id="x")


def test_there_are_no_more_rules_than_someone_reads() -> None:
    made = draft(list(load_traces(*map(str, GOOD))), id="x")
    assert made.rules <= 24
    assert made.rules < made.proposed


@pytest.mark.parametrize("folder", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
def test_any_recording_gives_a_draft_that_lints_clean(folder: str) -> None:
    runs = list(load_traces(str(RECORDINGS / folder)))
    assert_passes(draft(runs, id="x"), runs)


def test_names_from_strangers_stay_text() -> None:
    header, events = parse_trace('call get_x {"id": "A-1"} as a turn 1\nresult a ok {}\nend completed\n')
    odd = [_renamed(event, 'get\n  x: {"}\u2028\U0001f600') for event in events]
    runs = [Trace(header=header, events=odd)]
    assert_passes(draft(runs, id="x"), runs)


def _renamed(event: Event, name: str) -> Any:
    from msgspec.structs import replace

    return replace(event, tool=name) if hasattr(event, "tool") else event


def test_runs_without_calls_give_nothing_to_draft() -> None:
    with pytest.raises(OutstepError, match="none of 1 traces holds a call"):
        draft([trace(-1, 'user "hi"\nsay "hello"\nend completed\n')], id="x")


def test_words_are_listed_only_where_they_are_evident() -> None:
    from outstep.draft.guesses import schema_of

    few = [{"kind": "card"}, {"kind": "cash"}] * 8
    assert schema_of(few)["properties"]["kind"] == {"type": "string", "enum": ["card", "cash"]}
    assert "enum" not in json.dumps(schema_of([{"kind": "card"}, {"kind": "cash"}]))
    assert "enum" not in json.dumps(schema_of([{"from": "JFK"}, {"from": "SFO"}] * 8))


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        ("order_get", "read"),
        ("get_order_status", "read"),
        ("update_order_status", "write"),
        ("refund_policy", "read"),
        ("refund.create", "write"),
        ("book_reservation", "write"),
        ("bash", ""),
    ],
)
def test_effects_are_guessed_from_the_ends_of_a_name(tool: str, effect: str) -> None:
    from outstep.draft.guesses import effect_of

    assert effect_of(tool) == effect

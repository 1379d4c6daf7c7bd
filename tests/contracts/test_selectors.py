"""Selectors: the grammar, and names held against what the contract declares."""

from __future__ import annotations

import pytest

from outstep.contracts.grammar import SelectorError, parse_selector
from outstep.contracts.selectors import EVENT_TYPE, Selector
from tests.contracts.loading import brief, codes, contract, problems, rule, rule_codes


def selector(text: str) -> Selector:
    return contract(f"rules:\n  - id: R\n    for: '{text}'\n    require: agent == 'main'\n").rules[0].triggers[0]


@pytest.mark.parametrize("what", [what for what in EVENT_TYPE if what not in ("its result",)])
def test_every_sort_of_event_can_be_picked(what: str) -> None:
    found = selector(what)
    assert (found.what, found.names, found.by, found.where) == (what, (), None, None)
    assert found.event_type == EVENT_TYPE[what]


@pytest.mark.parametrize("outcome", ["ok", "failed", "denied", "unknown"])
def test_a_result_may_be_asked_for_its_outcome(outcome: str) -> None:
    found = selector(f"{outcome} result order.get")
    assert (found.outcome, found.what, found.names) == (outcome, "result", ("order.get",))


@pytest.mark.parametrize(
    "written",
    ["order.get | refund.create", "order.get|refund.create", "order.get| refund.create", "order.get |refund.create"],
)
def test_names_are_joined_by_a_bar(written: str) -> None:
    assert selector(f"call {written}").names == ("order.get", "refund.create")


def test_names_may_be_globs_effects_and_tags() -> None:
    found = contract(
        "tools: {pay: {effect: write, tags: [money]}}\nrules:\n  - {id: R, never: call pay* | @write | @money | *}"
    )
    assert found.rules[0].triggers[0].names == ("pay*", "@write", "@money", "*")


@pytest.mark.parametrize("who", ["main", "user", "harness", "any", "sub-*"])
def test_by_says_who(who: str) -> None:
    assert selector(f"call by {who}").by == who
    assert selector(f"call order.get by {who} where args.x == 1").by == who


def test_where_is_the_rest_of_the_text() -> None:
    found = selector("call order.get where args.by == 1 && args.where != 2")
    assert found.where is not None
    assert found.where.text == "args.by == 1 && args.where != 2"


def test_a_selector_keeps_its_text_on_one_line() -> None:
    text = "rules:\n  - id: R\n    for: >-\n      call   order.get\n      where args.x == 1\n    require: args.x == 1\n"
    found = contract(text)
    assert found.rules[0].triggers[0].text == "call order.get where args.x == 1"


def test_a_list_means_any() -> None:
    found = rule("for: [message, call @write], require: agent == 'main'")
    assert [picked.what for picked in found.triggers] == ["message", "call"]


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("", "'"),
        ("calls", "calls"),
        ("order.get", "order.get"),
        ("ok", "ok"),
        ("ok call order.get", "ok call"),
        ("ok message", "ok message"),
        ("call order.get refund.create", "refund.create"),
        ("call order.get |", "|"),
        ("call | order.get", "|"),
        ("call a || b", "|"),
        ("call order.get by", "by"),
        ("call by main order.get", "order.get"),
        ("call order.get where", "where"),
        ("message order.get", "order.get"),
        ("approval deploy", "deploy"),
        ("state by main", "by main"),
        ("end by main", "by main"),
        ("its result", "its result"),
        ("ok its result", "ok its result"),
        ("final messages", "final"),
    ],
)
def test_a_text_that_is_no_selector_is_shown_the_grammar(written: str, part: str) -> None:
    found = problems(f"rules:\n  - id: R\n    for: '{written}'\n    require: agent == 'main'\n")
    assert [problem.code for problem in found][:1] == ["contract/selector"] if written else ["contract/selector"]
    if written:
        assert brief(found[0]) == f"selector {part}"
    if written not in ("its result", "ok its result"):
        assert "[ok | failed | denied | unknown]" in found[0].help


def test_the_words_of_a_selector_know_their_place() -> None:
    with pytest.raises(SelectorError) as error:
        parse_selector("call  order.get   refund.create")
    assert (error.value.at, error.value.end) == (18, 31)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("for: call refund.creat", "unknown-tool refund.creat"),
        ("for: call refund_create", "unknown-tool refund_create"),
        ("for: result order.get | refund.creat", "unknown-tool refund.creat"),
        ("for: call @wriet", "unknown-tag @wriet"),
        ("for: claim paid", "unknown-claim paid"),
        ("for: claim pa*", "unknown-claim pa*"),
    ],
)
def test_names_stand_in_the_contract(written: str, expected: str) -> None:
    assert rule_codes(f"{written}, require: agent == 'main'") == [expected]


def test_globs_are_free_and_effects_always_known() -> None:
    assert rule_codes("for: [call shop.*, call @read, call @write, call *], require: agent == 'main'") == []


def test_its_result_belongs_to_the_calls_of_for() -> None:
    assert rule("for: call *, then: ok its result").kind.any[0].what == "its result"  # type: ignore[union-attr]
    assert rule_codes("for: ok result *, then: ok its result") == ["selector ok its result"]
    assert rule_codes("for: call *, needs: ok its result") == ["selector ok its result"]


@pytest.mark.parametrize("key", ["needs", "since", "after", "until"])
def test_a_final_message_is_known_too_late_for_most(key: str) -> None:
    text = "needs: final message" if key == "needs" else f"at_most: 1, {key}: final message"
    assert rule_codes(f"for: call *, {text}") == ["selector final message"]


def test_nothing_is_never_the_final_message_but_by_require() -> None:
    assert rule_codes("never: final message") == ["selector final message"]
    assert rule_codes("for: call *, then: final message") == []


@pytest.mark.parametrize("key", ["needs", "since", "after", "until"])
@pytest.mark.parametrize(
    ("where", "is_refused"),
    [
        ("data.id == this.args.orderId", False),
        ("this.args.orderId == data.id", False),
        ("data.id == this.args.orderId && data.x > 1", False),
        ("data.x > 1 && this.args.y > 1", False),
        ("data.id == the_id", False),
        ("data.amount < this.args.amount", True),
        ("data.id == this.args.a || data.id == this.args.b", True),
        ("data.id in this.args.ids", True),
        ("mentions(text, this.args.id)", True),
        ("data.id + this.args.id == 1", True),
        ("data.id == this.args.a + data.b", True),
        ("facts_of[data.id] == this.args.id", False),
        ("data.x > params.limit", False),
    ],
)
def test_a_join_is_an_equality(key: str, where: str, is_refused: bool) -> None:
    more = "params: {limit: 1}\nfacts: {facts_of: {from: ok result order.get, key: data.id}}"
    picked = f"'result order.get where {where}'"
    text = f"needs: {picked}" if key == "needs" else f"at_most: 1, {key}: {picked}"
    found = rule_codes(f"for: call refund.create, let: {{the_id: args.orderId}}, {text}", more)
    assert [code.split()[0] for code in found] == (["unbounded-where"] if is_refused else [])


def test_then_may_hold_anything_over_both_events() -> None:
    then = "message where mentions(text, this.data.id) || this.data.x < calls"
    assert rule_codes(f"for: ok result *, then: '{then}'") == []


def test_selectors_inside_known_are_kept_by_their_text() -> None:
    text = "ok result order.get where data.x > 1"
    found = contract(f"rules:\n  - id: R\n    for: call *\n    require: known(args.x, '{text}')\n")
    assert list(found.known) == [text]
    assert found.known[text].names == ("order.get",)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("known(args.x, 'ok results order.get')", "selector"),
        ("known(args.x, 'call refund.creat')", "unknown-tool"),
        ("known(args.x, 'call where this.args.x == 1')", "not-bound-here"),
        ("known(args.x, args.y)", "selector"),
        ("known(args.x, 'final message')", "selector"),
    ],
)
def test_they_are_held_to_the_same_grammar(written: str, code: str) -> None:
    found = problems(f'rules:\n  - id: R\n    for: call *\n    require: "{written}"\n')
    assert [problem.code for problem in found] == [f"contract/{code}"]


def test_a_selector_that_is_a_map_is_told_so() -> None:
    assert codes("rules: [{id: R, for: [[call *]], require: agent == 'main'}]") == ["value [call *]"]

"""Warnings that need only the contract: unused things, money, patterns, keys of facts; see `test_lint_logic.py`."""

from __future__ import annotations

import pytest

from tests.contracts.loading import brief, warnings

RULE = "rules: [{id: R, for: message, require: calls == 0}]\n"


def found(text: str) -> list[str]:
    return [brief(problem) for problem in warnings(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("facts: {f: {from: message}}\n" + RULE, "unused f"),
        ("claims: {paid: [paid]}\n" + RULE, "unused paid"),
        ("params: {limit: 1}\n" + RULE, "unused limit"),
    ],
)
def test_what_nothing_uses_is_told(text: str, expected: str) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "facts: {f: {from: message}}\nrules: [{id: R, for: message, require: f != text}]",
        "facts: {f: {from: message}, g: {from: message, value: f}}\nrules: [{id: R, for: message, require: g != text}]",
        "facts: {f: {from: call *, key: args.x}}\nclaims: {c: [paid]}\n"
        "rules: [{id: R, for: claim c, about: f, require: it != 1}]",
        "claims: {c: [paid]}\nrules: [{id: R, for: claim, require: text != 'a'}]",
        "params: {limit: 1}\nrules: [{id: R, for: call *, at_most: params.limit}]",
        "params: {limit: 1}\nrules: [{id: R, for: call *, require: args in params}]",
        "params: {open: [x]}\nrules: [{id: R, scope: {read: params.open}}]",
        "params: {limit: 1}\napplies_when: params.limit > 0\n" + RULE,
        "facts: {f: {from: message}}\n"
        "rules: [{id: R, for: call *, require: 'known(args.x, \"call where args.y == f\")'}]",
        "facts: {f: {from: message}}\nrules: [{id: R, for: call *, require: args.x == 1, message: 'x {f}'}]",
    ],
)
def test_what_something_uses_is_not(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("expression", "is_told"),
    [
        ("args.amount <= args.refundableCents", True),
        ("args.total == args.total_cents", True),
        ("args.amountCents <= args.refundableCents", False),
        ("args.amount <= args.limit", False),
        ("args.cents == args.count", False),
        ("args.recents == args.amount", False),
        ("args.priceUSD < args.maxCents", True),
        ("args.amount * 100 <= args.refundableCents", False),
        ("args.amountCents <= 49.99", True),
        ("args.amountCents <= 5000", False),
        ("args.amountCents <= 5000.0", False),
        ("args.amount_minor == args.price_usd", True),
        ("0.5 < args.cents_total", True),
    ],
)
def test_an_amount_held_against_cents_is_told(expression: str, is_told: bool) -> None:
    assert bool(found(f"rules: [{{id: R, for: call *, require: {expression}}}]")) is is_told


@pytest.mark.parametrize("pattern", ["a*", "(paid)?", ".*"])
def test_a_pattern_that_matches_every_sentence_is_told(pattern: str) -> None:
    text = f"claims: {{c: ['{pattern}']}}\nrules: [{{id: R, for: claim c, require: text != 'a'}}]"
    assert found(text) == [f"regex '{pattern}'"]


def test_a_word_edge_beside_a_chinese_character_is_told() -> None:
    claim = r"claims: {c: ['\b退款成功']}" + "\nrules: [{id: R, for: claim c, require: text != 'a'}]"
    assert found(claim) == [r"regex '\b退款成功'"]
    rule = "rules:\n  - id: R\n    for: message\n    require: text.matches(r'退款\\b')\n"
    assert [text.split()[0] for text in found(rule)] == ["regex"]


def test_a_member_of_a_map_by_key_is_told() -> None:
    facts = "facts: {order: {from: ok result order.get, key: data.id}}\n"
    text = facts + "rules: [{id: R, for: call *, require: order.state == 1}]"
    (problem,) = warnings(text)
    assert "`order[key].state`" in problem.help


def test_a_distance_in_events_is_told() -> None:
    (problem,) = warnings("rules: [{id: R, for: call *, then: ok its result, within: 9 events}]")
    assert problem.help == "write `turns`"


def test_an_effect_that_no_tool_has_is_told() -> None:
    assert found("tools: {a: {}}\nrules: [{id: R, never: call @write}]") == ["never-picks call @write"]
    assert found("tools: {a: {effect: write}}\nrules: [{id: R, never: call @write}]") == []


def test_an_argument_that_looks_like_a_slip_is_told() -> None:
    tools = "tools: {pay: {args: {properties: {amountCents: {}}}}}\n"
    (problem,) = warnings(tools + "rules: [{id: R, for: call pay, require: args.amountCent > 0}]")
    assert problem.help == "did you mean `amountCents`?"
    assert found(tools + "rules: [{id: R, for: call pay, require: args.orderId > 0}]") == []


def test_warnings_come_in_the_order_of_the_file_with_their_places() -> None:
    problems = warnings("claims: {c: [paid]}\nfacts: {f: {from: message}}\nparams: {p: 1}\n" + RULE)
    lines = [problem.place.line or 0 for problem in problems if problem.place]
    assert lines == sorted(lines)
    assert {problem.level for problem in problems} == {"warning"}

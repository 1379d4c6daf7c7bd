"""The section `rules`: kinds, their keys, groups, and names by event."""

from __future__ import annotations

from typing import Any

import pytest

from outstep.contracts import keys
from outstep.contracts.bindings import BOUND
from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Needs, Never, Python, Require, Scope, Then, Within
from outstep.contracts.model import Rule
from outstep.contracts.selectors import Expr
from tests.contracts.loading import brief, codes, contract, problems, rule, rule_codes

FACTS = (
    "facts: {order: {from: ok result order.get, key: data.id}, limit: {from: ok result order.get, value: data.limit}}"
)


def test_every_kind_is_read() -> None:
    assert isinstance(rule("for: call *, require: args.x == 1").kind, Require)
    assert isinstance(rule("never: call *").kind, Never)
    assert isinstance(rule("for: call *, needs: ok result order.get").kind, Needs)
    assert isinstance(rule("for: call *, then: ok its result").kind, Then)
    assert isinstance(rule("for: call *, at_most: 3").kind, AtMost)
    assert isinstance(rule("for: call *, at_least: 1").kind, AtLeast)
    assert isinstance(rule("for: call *, exactly: 1").kind, Exactly)
    assert isinstance(rule("scope: {read: ['./**']}").kind, Scope)
    assert rule("python: my.rules:check").kind == Python(function="my.rules:check")


def test_what_is_left_out_is_the_default() -> None:
    found = rule("for: call *, require: args.x == 1")
    assert (found.level, found.cls, found.missing, found.judge, found.counting) == (
        "block",
        "",
        "violated",
        "run",
        "attempts",
    )
    assert (found.when, found.let, found.each, found.about, found.after, found.until, found.since) == (
        (),
        (),
        None,
        None,
        (),
        (),
        (),
    )


def test_every_key_is_read() -> None:
    found = rule(
        """level: warn, class: process, for: call refund.create, when: [args.x == 1, args.y == 2], let: {a: args.z},
    each: args.items, after: message, until: user message, missing: inconclusive, judge: record,
    since: ok result order.get, per: [it.id, a], in_a_row: true, sum: it.amount, counting: unless_failed, at_most: 3,
    message: too much""",
        FACTS,
    )
    assert (found.level, found.cls, found.missing, found.judge) == ("warn", "process", "inconclusive", "record")
    assert texts(*found.when, found.each, found.total, *found.per) == [
        *("args.x == 1", "args.y == 2", "args.items", "it.amount", "it.id", "a"),
    ]
    assert [name for name, _ in found.let] == ["a"]
    assert [selector.text for selector in (*found.after, *found.until, *found.since)] == [
        *("message", "user message", "ok result order.get"),
    ]
    assert (found.in_a_row, found.counting, found.per_turn) == (True, "unless_failed", False)


def texts(*exprs: Expr | None) -> list[str]:
    return [expr.text for expr in exprs if expr is not None]


def test_never_names_its_own_event() -> None:
    found = rule("never: [call order.get where args.x == 1, message]")
    assert [selector.text for selector in found.triggers] == ["call order.get where args.x == 1", "message"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3 turns", Within(count=3, unit="turns")),
        ("1 turn", Within(count=1, unit="turns")),
        ("60 seconds", Within(count=60, unit="seconds")),
        ("20 events", Within(count=20, unit="events")),
        ("run", None),
    ],
)
def test_within(written: str, expected: Within | None) -> None:
    kind = rule(f"for: call *, then: ok its result, within: {written}").kind
    assert isinstance(kind, Then)
    assert kind.within == expected


@pytest.mark.parametrize("written", ["0 turns", "3", "3 days", "turns", "-1 turns", "1.5 turns", "3 turns or so"])
def test_what_is_no_distance(written: str) -> None:
    assert rule_codes(f"for: call *, then: ok its result, within: {written}") == [f"value {written}"]


def test_per_turn_is_one_count_for_each_response() -> None:
    found = rule("for: call *, at_most: 1, per: turn")
    assert (found.per_turn, found.per) == (True, ())
    found = rule("for: call *, at_most: 1, per: [turn, tool]")
    assert (found.per_turn, texts(*found.per)) == (True, ["tool"])


def test_scope_looks_at_every_call_unless_for_says_otherwise() -> None:
    found = rule("scope: {write: {except: params.closed}, run: [ls **]}", "params: {closed: ['./.git/**', '*.lock']}")
    assert found.kind == Scope(write=("./.git/**", "*.lock"), run=("ls **",), outside=("write",))
    assert [selector.text for selector in found.triggers] == ["call *"]
    assert [selector.text for selector in rule("for: call @write, scope: {read: ['*']}").triggers] == ["call @write"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("scope: {}", "useless-rule {}"),
        ("scope: {wrote: [x]}", "unknown-key wrote"),
        ("scope: {write: params.closd}", "unknown-name params.closd"),
        ("scope: {write: params.number}", "value params.number"),
        ("scope: {write: {exept: [x]}}", "unknown-key exept"),
        ("scope: {write: [[x]]}", "value [x]"),
        ("for: message, scope: {write: [x]}", "key-not-for-kind message"),
        ("python: rules", "value rules"),
        ("python: 'rules:'", "value 'rules:'"),
        ("python: 'a:b', for: call *", "key-not-for-kind for"),
        ("for: call *, in_a_row: true, at_most: 1", "missing-key in_a_row"),
        ("for: call *, in_a_row: true, at_most: 1, per: turn", "key-not-for-kind in_a_row"),
        ("for: call *, at_most: 1, per: []", "value []"),
        ("for: call *, at_most: 1, in_a_row: maybe, per: tool", "value maybe"),
        ("for: call *, at_most: 1, sum: args.x, counting: effects", "key-not-for-kind sum"),
        ("for: ok result *, at_most: 1, counting: effects", "key-not-for-kind counting"),
        ("for: call *, at_most: limit, counting: effects", "not-bound-here limit"),
        ("for: call *, at_least: limit", "not-bound-here limit"),
        ("for: call *, exactly: args.x", "not-bound-here args"),
        ("for: call *, at_most: -1", "value at_most"),
        ("for: claim, about: limit, require: it == 1", "unknown-fact limit"),
        ("for: claim, about: nothing, require: it == 1", "unknown-fact nothing"),
        ("for: message, about: order, require: it == 1", "key-not-for-kind about"),
        ("for: claim, about: order, each: match.x, require: it == 1", "key-not-for-kind about"),
        ("level: off, for: message, require: calls == 0", "value off"),
        ("class: money, for: message, require: calls == 0", "value money"),
        ("missing: ok, for: message, require: calls == 0", "value ok"),
        ("judge: model, for: message, require: calls == 0", "value model"),
        ("require: args.x == 1", "missing-key require"),
        ("for: call *, require: []", "value []"),
        ("for: call *, require: {a: 1}", "yaml-quote {a: 1}"),
        ("for: [], require: agent == 'main'", "selector []"),
        ("for: message, metric: kindness", "block-needs-deterministic kindness"),
        ("for: call *, integrity: true, require: args.x == 1", "unknown-key integrity"),
    ],
)
def test_mistakes_in_a_rule(text: str, expected: str) -> None:
    assert rule_codes(text, FACTS + "\nparams: {number: 3, closed: [x]}") == [expected]


@pytest.mark.parametrize("kind", keys.KINDS)
@pytest.mark.parametrize("key", [key for key in keys.KNOWN if key not in (*keys.KINDS, "rules", "id")])
def test_a_key_that_a_kind_does_not_take_is_told_with_the_kinds_that_do(kind: str, key: str) -> None:
    values = {
        "require": "agent == 'main'",
        "never": "call *",
        "needs": "message",
        "then": "message",
        "scope": "{read: ['*']}",
        "python": "a:b",
        "for": "call *",
        "when": "agent == 'main'",
        "let": "{a: agent}",
        "each": "params.list",
        "about": "order",
        "after": "message",
        "until": "message",
        "since": "message",
        "per": "agent",
        "in_a_row": "false",
        "counting": "attempts",
        "sum": "params.list.size()",
        "within": "3 turns",
        "level": "warn",
        "class": "tool",
        "missing": "violated",
        "judge": "run",
        "message": "x",
    }
    trigger = {"about": "claim"}.get(key, "call *")
    needs_for = "for" in keys.TAKES[kind] and kind != "scope"
    text = f"{kind}: {values.get(kind, '3')}, {key}: {values[key]}" + (
        f", for: {trigger}" if needs_for and key != "for" else ""
    )
    found = [problem for problem in problems(f"{FACTS}\nparams: {{list: []}}\nrules: [{{id: R, {text}}}]")]
    if key in keys.TAKES[kind]:
        assert found == []
    else:
        assert brief(found[0]) == f"key-not-for-kind {key}"
        assert all(f"`{name}`" in found[0].help for name in keys.takers(key))


@pytest.mark.parametrize("first", keys.KINDS)
def test_a_rule_has_one_kind(first: str) -> None:
    second = "require" if first != "require" else "at_most"
    found = [problem.code for problem in problems(f"rules: [{{id: R, for: call *, {first}: 'x:y', {second}: 1}}]")]
    assert "contract/two-kinds" in found


def test_a_rule_has_a_kind_and_an_id() -> None:
    assert codes("rules: [{id: R, for: call *}]") == ["no-kind R"]
    assert codes("rules: [{for: call *, at_most: 1}]") == ["missing-key {"]
    assert codes("rules: [{id: '', for: call *, at_most: 1}]") == ["value ''"]
    assert codes("rules: [{id: a b, for: call *, at_most: 1}]") == ["value a b"]


def test_a_mistyped_kind_is_one_mistake() -> None:
    (found,) = problems("rules: [{id: R, for: call *, requires: args.x == 1}]")
    assert brief(found) == "unknown-key requires"
    assert found.help == "did you mean `require`?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("require: true", True),
        ("require: [true, true && true]", True),
        ("require: [true, args.x == 1]", False),
        ("require: args.x == 1 || true", True),
        ("at_least: 0", True),
        ("at_least: 1, per: tool", True),
        ("at_least: 1, per: turn", True),
        ("at_least: 2, per: tool", False),
        ("at_least: 1", False),
        ("at_least: params.least", False),
        ("at_least: 1, per: tool, sum: args.x", False),
        ("require: args.x == 1, when: false", True),
        ("require: args.x == 1, when: 'args.y == 1 && false'", True),
    ],
)
def test_a_rule_that_cannot_fail_is_useless(text: str, expected: bool) -> None:
    found = rule_codes(f"for: call *, {text}", "params: {least: 0}")
    assert [code.split()[0] for code in found] == (["useless-rule"] if expected else [])


def test_a_rule_that_selects_nothing_is_useless() -> None:
    assert rule_codes("never: call * where false") == ["useless-rule never"]


# --- groups ---


def grouped(text: str) -> tuple[Rule, ...]:
    found = contract(f"{FACTS}\nrules:\n{text}")
    return tuple(rule for rule in found.rules if rule.id in "ABCD")


def test_a_group_shares_its_keys_and_a_rule_may_replace_them() -> None:
    a, b = grouped(
        """
  - for: call refund.create
    level: warn
    class: tool
    missing: inconclusive
    rules:
      - {id: A, require: args.x == 1}
      - {id: B, for: message, level: block, class: evidence, missing: violated, require: calls == 0}
"""
    )
    assert [selector.text for selector in a.triggers] == ["call refund.create"]
    assert (a.level, a.cls, a.missing) == ("warn", "tool", "inconclusive")
    assert [selector.text for selector in b.triggers] == ["message"]
    assert (b.level, b.cls, b.missing) == ("block", "evidence", "violated")


def test_when_and_let_add_up_through_groups() -> None:
    a, b = grouped(
        """
  - for: call refund.create
    when: args.a == 1
    let: {x: args.x}
    rules:
      - when: [args.b == 1]
        let: {y: x + 1}
        rules:
          - {id: A, when: args.c == 1, let: {z: y + 1}, require: z == x}
      - {id: B, require: x == 1}
"""
    )
    assert texts(*a.when) == ["args.a == 1", "args.b == 1", "args.c == 1"]
    assert [(name, expr.text) for name, expr in a.let] == [("x", "args.x"), ("y", "x + 1"), ("z", "y + 1")]
    assert [name for name, _ in b.let] == ["x"]


def test_a_rule_keeps_only_the_names_it_uses_in_order_of_dependence() -> None:
    (a,) = grouped("  - {id: A, for: call *, let: {c: b + 1, unused: args.u, b: a + 1, a: args.x}, require: c == 3}\n")
    assert [name for name, _ in a.let] == ["a", "b", "c"]


def test_names_of_let_may_be_used_in_a_where_and_a_message() -> None:
    a, b = grouped(
        """
  - for: call refund.create
    let: {the_id: args.orderId, never_used: args.n}
    rules:
      - {id: A, needs: ok result order.get where data.id == the_id}
      - {id: B, require: args.x == 1, message: "for {the_id}"}
"""
    )
    assert [name for name, _ in a.let] == [name for name, _ in b.let] == ["the_id"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let: {a: a}", "cycle a"),
        ("let: {a: b, b: c, c: a}", "cycle a"),
        ("let: {args: 1}", "reserved-name args"),
        ("let: {order: 1}", "reserved-name order"),
        ("let: {a-b: 1}", "reserved-name a-b"),
        ("let: {a: data.x}", "not-bound-here data"),
        ("let: [a]", "value [a]"),
    ],
)
def test_mistakes_in_let(text: str, expected: str) -> None:
    assert rule_codes(f"for: call *, {text}, require: args.x == 1", FACTS) == [expected]


def test_a_name_of_let_is_given_once() -> None:
    group = "rules:\n  - for: call *\n    let: {a: args.x}\n    rules:\n"
    text = group + "      - {id: A, let: {a: args.y}, require: a == 1}\n"
    assert codes(text) == ["duplicate-id a"]


def test_what_a_group_says_for_one_event_is_not_held_against_another() -> None:
    text = """
rules:
  - for: call *
    let: {x: args.x}
    rules:
      - {id: A, require: x == 1}
      - {id: B, for: message, require: calls == 0}
      - {id: C, for: message, require: x == 0}
"""
    assert codes(text) == ["not-bound-here args"]


@pytest.mark.parametrize("key", ["per", "sum", "counting", "require", "after", "judge", "message", "each"])
def test_a_group_shares_no_other_keys(key: str) -> None:
    found = codes(f"rules: [{{for: call *, {key}: x, rules: [{{id: R, at_most: 1}}]}}]")
    expected = "two-kinds" if key in keys.KINDS else "key-not-for-kind"
    assert found == [f"{expected} {key}"]


@pytest.mark.parametrize("kind", ["never: call *", "python: 'a:b'"])
def test_a_group_s_for_does_not_reach_what_takes_none(kind: str) -> None:
    found = codes(f"rules: [{{for: message, rules: [{{id: R, {kind}}}]}}]")
    assert found == [f"key-not-for-kind {kind.split(':', maxsplit=1)[0]}"]
    assert codes(f"rules: [{{level: warn, rules: [{{id: R, {kind}}}]}}]") == []


@pytest.mark.parametrize("text", ["rules: []", "rules: [{for: call *, rules: []}]", "rules: {a: 1}", "rules: [text]"])
def test_rules_are_a_list_of_maps(text: str) -> None:
    assert [code.split()[0] for code in codes(text)] == ["value"]


def test_an_id_is_given_once() -> None:
    (found,) = problems("rules:\n  - {id: R, never: call *}\n  - {id: R, never: message}\n")
    assert brief(found) == "duplicate-id R"


# --- names by event ---

EVERYWHERE = ("params", "trace", "agent", "turn", "this", "order")


@pytest.mark.parametrize("what", [what for what in BOUND if what != "its result"])
def test_each_event_binds_its_names_and_no_other(what: str) -> None:
    every = dict.fromkeys(name for names in BOUND.values() for name in names)
    for name in (*every, *EVERYWHERE):
        found = rule_codes(f"for: {what}, require: {name} != 1", FACTS)
        expected = [] if name in (*BOUND[what], *EVERYWHERE) else [f"not-bound-here {name}"]
        assert found == expected, name


@pytest.mark.parametrize("what", [what for what in BOUND if what not in ("its result", "end")])
def test_so_does_this(what: str) -> None:
    every = dict.fromkeys(name for names in BOUND.values() for name in names)
    for name in every:
        found = rule_codes(f"for: {what}, require: this.{name} != 1", FACTS)
        assert found == ([] if name in BOUND[what] else [f"not-bound-here this.{name}"]), name
    assert rule_codes(f"for: {what}, require: this.nothing != 1") == ["unknown-name this.nothing"]


def test_several_events_bind_what_all_of_them_bind() -> None:
    assert rule_codes("for: [call *, ok result *], require: args.x == 1") == []
    assert rule_codes("for: [call *, ok result *], require: data.x == 1") == ["not-bound-here data"]
    assert rule_codes("for: [message, user message], require: text != ''") == []
    assert rule_codes("for: [message, call *], require: secrets(this).size() == 0") == []


def test_element_and_index_are_bound_with_each() -> None:
    assert rule_codes("for: call *, each: args.items, when: at > 0, require: it.x == 1") == []
    assert rule_codes("for: call *, require: it.x == 1") == ["not-bound-here it"]
    assert rule_codes("for: call *, each: it.items, require: it.x == 1") == ["not-bound-here it"]
    assert rule_codes("for: call * where it == 1, each: args.items, require: it == 1") == ["not-bound-here it"]


def test_about_binds_the_key_and_claim_the_match() -> None:
    text = "claims: {paid: '(?P<order>RF-[0-9]+) paid'}\n" + FACTS
    assert rule_codes("for: claim paid, about: order, require: it in order", text) == []
    assert rule_codes("for: claim paid, require: 'order[match.order] != null'", text) == []
    assert rule_codes("for: claim paid, needs: ok result order.get where data.id == match.order", text) == []


def test_in_where_bare_names_are_of_the_picked_event() -> None:
    assert rule_codes("for: call *, needs: ok result * where data.x == this.args.x") == []
    assert rule_codes("for: call *, needs: ok result * where data.x == said") == ["not-bound-here said"]
    assert rule_codes("for: call *, needs: ok result * where data.x == this.data.x") == ["not-bound-here this.data"]


def test_a_name_that_exists_nowhere_is_told_with_what_is_near() -> None:
    (found,) = problems("rules: [{id: R, for: call *, require: arg.x == 1}]")
    assert found.code == "contract/unknown-name"
    assert found.help == "did you mean `args`?"


def test_text_that_lost_its_own_quotes_is_told_so() -> None:
    (found,) = problems('facts: {f: {from: message, value: "CANCELLED"}}')
    assert found.code == "contract/unknown-name"
    assert found.help == "text inside an expression has quotes of its own: '\"CANCELLED\"'"


def test_params_are_members_of_params() -> None:
    assert rule_codes("for: call *, require: args.x < params.limit", "params: {limit: 3}") == []
    (found,) = problems("params: {limit: 3}\nrules: [{id: R, for: call *, require: args.x < params.limt}]")
    assert (found.code, found.help) == ("contract/unknown-name", "did you mean `limit`?")


# --- messages ---


def parts(text: str) -> list[Any]:
    message = rule(f"for: call *, require: args.x == 1, message: {text}").message["en"]
    return [part.text if isinstance(part, Expr) else [part] for part in message.parts]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'plain'", [["plain"]]),
        ("'over {args.x} by {args.x - 1}!'", [["over "], "args.x", [" by "], "args.x - 1", ["!"]]),
        ("'{args.x}'", ["args.x"]),
        ("'{{not}} {args.x}'", [["{not} "], "args.x"]),
        ("""'{args.exists(k, k == "}")}'""", ['args.exists(k, k == "}")']),
        ("""'{{"a": args.x}.a}'""", None),
        ("""'{ {"a": args.x}.a }'""", [' {"a": args.x}.a ']),
        ("'退款 {args.x}'", [["退款 "], "args.x"]),
    ],
)
def test_a_message_shows_values_in_braces(written: str, expected: list[Any] | None) -> None:
    if expected is None:
        assert rule_codes(f"for: call *, require: args.x == 1, message: {written}") == ["value }"]
    else:
        assert parts(written) == expected


def test_a_message_may_be_given_by_language() -> None:
    found = rule("for: call *, require: args.x == 1, message: {en: 'over {args.x}', zh-CN: '超过 {args.x}'}")
    assert list(found.message) == ["en", "zh-CN"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'{args.x'", "value {"),
        ("'args.x}'", "value }"),
        ("'{}'", "expression {}"),
        ("'{ }'", "expression { }"),
        ("'{data.x}'", "not-bound-here data"),
        ("{}", "value {}"),
        ("{'e n': x}", "value 'e n'"),
        ("{en: {a: b}}", "value {a: b}"),
        ("[x]", "value [x]"),
    ],
)
def test_mistakes_in_a_message(written: str, expected: str) -> None:
    assert rule_codes(f"for: call *, require: args.x == 1, message: {written}") == [expected]

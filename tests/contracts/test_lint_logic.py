"""Warnings about conditions: what can never be true, always fails, never fails, or contradicts another rule."""

from __future__ import annotations

import pytest

from outstep.contracts.loader import load
from outstep.errors import OutstepError
from tests.contracts.loading import brief, codes, warnings, whole

TOOLS = """tools:
  pay:
    args:
      type: object
      properties:
        id: {type: string}
        kind: {enum: [card, cash]}
        flag: {type: boolean}
        cents: {type: integer}
  ship: {}
  refund.create: {}
"""


def told(*rules: str) -> list[str]:
    return [
        brief(one).split()[0] for one in warnings(TOOLS + "rules:\n" + "".join(f"  - {{{rule}}}\n" for rule in rules))
    ]


def refused(*rules: str) -> list[str]:
    return words(TOOLS + "rules:\n" + "".join(f"  - {{{rule}}}\n" for rule in rules))


def words(text: str) -> list[str]:
    return [code.split()[0] for code in codes(text)]


@pytest.mark.parametrize(
    "rule",
    [
        "id: A, for: call pay, require: 1 == 1",
        "id: A, for: call pay, require: '!false'",
        "id: A, for: call pay, require: 'true || args.id == \"x\"'",
        "id: A, for: call pay, require: ['size(\"abc\") == 3']",
        "id: A, for: call pay, when: args.cents > 10 && args.cents < 5, require: args.flag",
        "id: A, for: call pay, when: [args.cents > 10, args.cents <= 5], require: args.flag",
        'id: A, for: call pay, when: args.kind == "card" && args.kind == "cash", require: args.flag',
        'id: A, for: call pay, when: args.flag && !args.flag, require: args.id != ""',
        "id: A, never: call pay where args.cents > 5 && args.cents < 3",
        "id: A, never: call pay where 1 > 2",
        "id: A, never: call pay where args.cents > 5, when: args.cents < 3",
        "id: A, for: call pay, at_least: 1 - 1",
        "id: A, for: call pay, at_least: 2 - 1, per: args.id",
    ],
)
def test_a_rule_that_cannot_fail_is_useless(rule: str) -> None:
    assert refused(rule) == ["useless-rule"]


@pytest.mark.parametrize(
    "rule",
    [
        "id: A, for: call pay, require: args.id == 3",
        'id: A, for: call pay, require: args.cents != "3"',
        "id: A, for: call pay, require: args.id > 3",
        "id: A, for: call pay, then: result pay where args.id == 3",
    ],
)
def test_what_the_schema_makes_another_type_is_a_mistake(rule: str) -> None:
    assert refused(rule) == ["type"]


@pytest.mark.parametrize("name", ["args.amount == 1", "args.id.x == 1", "args.foo != 2"])
def test_an_argument_that_a_closed_schema_does_not_name_is_a_mistake(name: str) -> None:
    inner = "{type: object, additionalProperties: false, properties: {y: {}}}"
    tools = f"tools: {{pay: {{args: {{additionalProperties: false, properties: {{id: {inner}}}}}}}}}\n"
    assert words(tools + f"rules: [{{id: A, for: call pay, require: {name}}}]") == ["unknown-name"]
    asked = tools + "rules: [{id: A, for: call pay, require: '!has(args.foo)'}]"
    assert codes(asked) == []


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ('id: A, for: call pay, require: args.kind == "bank"', "never-true"),
        ('id: A, for: call pay, require: args.kind != "Card"', "never-true"),
        ("id: A, for: call pay where args.kind == 'bank' || args.flag, require: args.flag", "never-true"),
        ("id: A, for: result pay, require: 'this.args.kind == \"bank\"'", "never-true"),
        ('id: A, for: result pay, require: outcome != "error"', "never-true"),
        ('id: A, for: call pay|ship, when: tool == "shp", require: args.id != ""', "never-true"),
        ('id: A, for: approval, require: decision == "granted"', "never-true"),
        ('id: A, for: result *, require: approval != "approved"', "never-true"),
        ('id: A, for: call pay, require: by == "agent"', "never-true"),
        ("id: A, for: call pay, require: false", "always-fails"),
        ("id: A, for: call pay, require: 1 == 2", "always-fails"),
        ("id: A, for: call pay, require: [args.cents > 5, args.cents < 3]", "always-fails"),
        ("id: A, for: call pay, when: args.cents > 5, require: args.cents < 3", "always-fails"),
        ("id: A, for: call pay, needs: call pay", "always-fails"),
        ("id: A, for: call pay, needs: ok result pay where args.id == this.args.id", "always-fails"),
        ("id: A, for: call *, then: call pay|ship", "always-fails"),
        ("id: A, for: call pay, require: args.id == args.id", "never-fails"),
        ("id: A, for: call pay, require: args.cents > 0 || args.cents <= 0", "never-fails"),
        ("id: A, for: call pay, when: args.cents > 5, require: args.cents > 3", "never-fails"),
        ("id: A, for: ok result pay, require: ok", "never-fails"),
        ("id: A, for: call pay, needs: call ship where args.a == 1 && args.a == 2", "never-picks"),
        ('id: A, for: ok result pay, when: outcome == "failed", require: args.flag', "never-picks"),
        ("id: A, for: call refunds.*, require: args.flag == true", "never-picks"),
        ("id: A, for: message, require: '!text.lowerAscii().contains(\"Refund\")'", "never-matches"),
        ("id: A, for: message, require: 'text.upperAscii() != \"Refund\"'", "never-matches"),
        ("id: A, for: call ship, require: 'runs(args.command, \"make && make test\")'", "never-matches"),
        ("id: A, for: message, require: 'text.matches(\"a^b\")'", "regex"),
        ("id: A, for: message, require: 'text.matches(\"^(paid$)\\\\w\")'", ""),
        ("id: A, for: message, require: 'text.matches(\"done$.\")'", "regex"),
        ('id: A, for: call pay, let: {a: args.id, b: args.id}, require: a != ""', "unused"),
        ("id: A, for: call pay, let: {a: args.id}, require: 'a != \"\" && [1].all(a, a > args.cents)'", "shadowed"),
    ],
)
def test_what_is_probably_not_meant_is_told(rule: str, code: str) -> None:
    assert told(rule) == ([code] if code else [])


@pytest.mark.parametrize(
    "rules",
    [
        ("id: A, never: call pay", "id: B, for: call pay, at_least: 1"),
        ("id: A, never: call *", "id: B, for: call ship, needs: call pay"),
        ("id: A, never: call pay", "id: B, for: call ship, needs: ok result pay where args.id == this.args.id"),
        ("id: A, for: call pay, at_most: 0", "id: B, for: call ship, then: call pay"),
        ("id: A, for: call pay, at_most: 1", "id: B, for: call pay, at_least: 2"),
        ("id: A, for: call pay, exactly: 1", "id: B, for: call pay, exactly: 2"),
        ("id: A, for: call pay, require: args.flag", "id: B, for: call pay, require: '!args.flag'"),
        ("id: A, for: call pay, require: args.cents <= 10", "id: B, for: call pay, require: 20 < args.cents"),
        ("id: A, for: call pay, needs: call ship", "id: B, for: call ship, needs: ok result pay"),
    ],
)
def test_rules_that_contradict_each_other_are_told_once(rules: tuple[str, str]) -> None:
    assert told(*rules) == ["contradiction"]


@pytest.mark.parametrize(
    "rules",
    [
        ("id: A, for: call pay, then: ok its result",),
        ("id: A, for: call pay, needs: call ship",),
        (
            'id: A, for: call ship, needs: call pay where args.kind == "card"',
            "id: B, for: call pay where args.flag, needs: call ship",
        ),
        ("id: A, never: call pay where args.cents > 5", "id: B, for: call pay, at_least: 1"),
        ("id: A, never: call pay, after: call ship", "id: B, for: call ship, needs: call pay"),
        ("id: A, level: observe, for: call pay, require: args.flag", "id: B, for: call pay, require: '!args.flag'"),
        (
            "id: A, for: call pay, when: args.cents > 5, require: args.flag",
            "id: B, for: call pay, require: '!args.flag'",
        ),
        ("id: A, for: call pay, at_most: 1, per: args.id", "id: B, for: call pay, at_least: 2"),
        ("id: A, for: call pay, require: args.cents > 0 && args.cents <= 100",),
        ('id: A, for: call pay, require: args.id != "" || args.cents == 0',),
        ("id: A, for: call pay, require: args.cents < 0",),
        ("id: A, never: call git_*",),
        ("id: A, for: call pay, when: args.kind == null, require: args.flag",),
        ("id: A, for: message, require: 'text.matches(\"(^| )paid( |$)\")'",),
        ("id: A, for: call ship, require: 'runs(args.command, [\"git push ** --force **\"])'",),
    ],
)
def test_what_may_well_be_meant_is_not_told(rules: tuple[str, ...]) -> None:
    assert told(*rules) == []


def test_a_parameter_may_be_replaced_so_its_value_settles_nothing() -> None:
    text = "params: {limit: 0}\nrules: [{id: A, for: call *, when: params.limit > 5, require: args.x <= params.limit}]"
    assert warnings(text) == ()


def test_a_contradiction_names_both_conditions() -> None:
    text = TOOLS + "rules: [{id: A, for: call pay, when: args.cents > 5, require: args.cents < 3}]"
    (problem,) = warnings(text)
    assert "`args.cents > 5` and `args.cents < 3` exclude each other" in problem.sentence


def test_what_a_file_offers_to_others_is_not_unused() -> None:
    common = "outstep: contract/v1\nfacts: {f: {from: message}}\nparams: {limit: 1}\n"
    main = "include: [./common.yaml]\nrules: [{id: R, for: message, require: calls == 0}]\n"
    assert warnings(main, {"common": common}) == ()


def test_warnings_are_told_beside_mistakes_but_not_of_what_a_mistake_touches() -> None:
    text = (
        TOOLS
        + """rules:
  - {id: A, for: call pay, require: args.amountCents <= args.price}
  - {id: B, never: call pya}
  - {id: C, for: call pay, when: ags.x == 1, require: args.flag}
  - {id: D, for: call pay, require: "!args.flag"}
  - {id: E, for: call ship, require: 1 == 2}
facts: {unused: {from: message}}
"""
    )
    with pytest.raises(OutstepError) as raised:
        load(whole(text).encode())
    assert [brief(one).split()[0] for one in raised.value.problems] == ["unknown-tool", "unknown-name"]
    assert [brief(one).split()[0] for one in raised.value.warnings] == ["money", "always-fails"]


def test_a_fact_that_takes_the_place_of_one_kept_otherwise_is_told() -> None:
    common = "outstep: contract/v1\nfacts: {f: {from: call *, key: args.x}}\n"
    common += "rules: [{id: C, for: call *, require: args.x in f}]\n"
    main = (
        "include: [./common.yaml]\nfacts: {f: {from: call *, %s}}\nrules: [{id: R, for: call *, require: f != null}]\n"
    )
    assert [brief(one) for one in warnings(main % "value: args.x", {"common": common})] == ["shadowed f"]
    assert warnings(main % "key: args.y", {"common": common}) == ()

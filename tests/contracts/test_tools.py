"""The section `tools`."""

from __future__ import annotations

from decimal import Decimal

import pytest

from outstep.contracts.model import Tool
from tests.contracts.loading import codes, contract, rule_codes, warnings


def tool(text: str, name: str = "pay") -> Tool:
    found = contract(f"tools: {text}")
    return next(item for item in found.tools if item.name == name)


def test_a_tool_needs_nothing_but_its_name() -> None:
    assert tool("{pay: {}}").name == "pay"
    assert tool("{pay: }").name == "pay"


def test_every_key_of_a_tool_is_read() -> None:
    found = tool(
        """
  pay:
    names: [pay_money, PayMoney]
    effect: write
    tags: [money]
    args: {type: object, properties: {amount: {type: number, minimum: 0.01}}}
    reads: json
    denied_when: exit == 126
    unknown_when: error.contains("timeout")
    fails_when: data.status == "FAILED"
    succeeds_when: data.status == "OK"
    targets: {path: [args.file_path, args.path], url: args.url}
"""
    )
    assert (found.names, found.effect, found.tags, found.reads) == (
        ("pay_money", "PayMoney"),
        "write",
        ("money",),
        "json",
    )
    assert found.args == {"type": "object", "properties": {"amount": {"type": "number", "minimum": Decimal("0.01")}}}
    outcomes = (found.denied_when, found.unknown_when, found.fails_when, found.succeeds_when)
    assert [expr.text for expr in outcomes if expr] == [
        "exit == 126",
        'error.contains("timeout")',
        'data.status == "FAILED"',
        'data.status == "OK"',
    ]
    assert {key: [expr.text for expr in exprs] for key, exprs in found.targets.items()} == {
        "path": ["args.file_path", "args.path"],
        "url": ["args.url"],
    }


def test_globs_give_defaults_key_by_key_and_declare_nothing() -> None:
    found = contract(
        """tools:
  "*": {effect: read, reads: text, fails_when: exit != 0}
  "pay*": {effect: write, tags: [money]}
  pay.now: {reads: json}
  look: {}
"""
    )
    assert [item.name for item in found.tools] == ["pay.now", "look"]
    assert [item.name for item in found.defaults] == ["*", "pay*"]
    now, look = found.tools
    assert (now.effect, now.tags, now.reads, now.fails_when is not None) == ("write", ("money",), "json", True)
    assert (look.effect, look.tags, look.reads) == ("read", (), "text")


def test_a_later_glob_wins_over_an_earlier_one_wherever_the_tool_stands() -> None:
    found = tool('{pay: {}, "p*": {effect: write}, "*": {effect: read}}')
    assert found.effect == "read"


def test_a_glob_is_held_against_normal_forms_too() -> None:
    assert tool('{shop_pay: {}, "shop.*": {effect: write}}', "shop_pay").effect == "write"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{pay: {effect: writes}}", "value writes"),
        ("{pay: {efect: write}}", "unknown-key efect"),
        ("{pay: {tags: [write]}}", "value [write]"),
        ("{pay: [write]}", "value [write]"),
        ("{'pay*': {names: [x]}}", "key-not-for-kind [x]"),
        ("{pay: {reads: xml}}", "value xml"),
        ("{pay: {reads: '(?P<id>[0-9'}}", "regex '(?P<id>[0-9'"),
        ("{pay: {fails_when: dta.x == 1}}", "unknown-name dta"),
        ("{pay: {fails_when: said == ''}}", "not-bound-here said"),
        ("{pay: {targets: {path: data.x}}}", "not-bound-here data"),
        ("{pay: {targets: {file: args.x}}}", "unknown-key file"),
        ("{'@pay': {}}", "value '@pay'"),
        ("{'a b': {}}", "value 'a b'"),
        ("{pay: {args: {type: integr}}}", "value integr"),
        ("{pay: {args: {required: x}}}", "value x"),
        ("{pay: {args: {properties: [x]}}}", "value [x]"),
        ("{pay: {args: {properties: {x: {minimum: low}}}}}", "value low"),
        ("{pay: {args: {properties: {x: {minLength: -1}}}}}", "value -1"),
        ("{pay: {args: {properties: {x: {pattern: '(?!x)'}}}}}", "regex '(?!x)'"),
        ("{pay: {args: {properties: {x: {enum: a}}}}}", "value a"),
        ("{pay: {args: {anyOf: {}}}}", "value {}"),
        ("{pay: {args: text}}", "value text"),
        ("[pay]", "value [pay]"),
    ],
)
def test_mistakes_in_a_tool(text: str, expected: str) -> None:
    assert codes(f"tools: {text}") == [expected]


def test_an_outcome_does_not_depend_on_facts() -> None:
    text = "tools: {pay: {fails_when: paid == 1}}\nfacts: {paid: {from: ok result pay}}"
    assert codes(text) == ["not-bound-here paid"]


def test_a_pattern_with_named_groups_reads_a_text() -> None:
    assert tool("{pay: {reads: '(?P<id>RF-[0-9]+)'}}").reads == "(?P<id>RF-[0-9]+)"


def test_a_json_schema_may_hold_anything_that_its_drafts_know() -> None:
    schema = (
        "{type: [object, 'null'], properties: {a: true, b: {oneOf: [{const: 1}, {type: array, items: {}}]}}, x-ui: 1}"
    )
    assert codes(f"tools: {{pay: {{args: {schema}}}}}") == []


def test_a_slip_in_a_keyword_of_a_schema_is_warned_of() -> None:
    (found,) = warnings("tools: {pay: {args: {requird: [x]}}}")
    assert "`requird`" in found.sentence
    assert found.help == "did you mean `required`?"


SCHEMA = (
    "tools: {pay: {args: {properties: {amount: {type: integer}, id: {type: [string, 'null']}, tags: {type: array}}}}}"
)


@pytest.mark.parametrize(
    ("expression", "is_wrong"),
    [
        ("args.amount < '10'", True),
        ("args.amount < 10", False),
        ("args.amount < 1.5", False),
        ("args.id < 10", True),
        ("args.id < 'x'", False),
        ("this.args.amount < 'x'", True),
        ("args.other < 10", False),
        ("args.tags + 1 == 2", True),
        ("args.amount.startsWith('x')", True),
    ],
)
def test_the_schema_of_a_tool_settles_types(expression: str, is_wrong: bool) -> None:
    found = rule_codes(f'for: call pay, require: "{expression}"', SCHEMA)
    assert [code.split()[0] for code in found] == (["type"] if is_wrong else [])


def test_it_settles_nothing_where_another_tool_may_be_meant() -> None:
    assert rule_codes("for: call *, require: \"args.amount < '10'\"", SCHEMA) == []
    assert rule_codes("for: [call pay, call @write], require: \"args.amount < '10'\"", SCHEMA) == []


def test_it_settles_the_side_of_this_too() -> None:
    text = "for: call pay, then: \"ok result * where data.x == 1 && this.args.amount < 'x'\""
    assert [code.split()[0] for code in rule_codes(text, SCHEMA)] == ["type"]

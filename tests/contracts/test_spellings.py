"""Every mistake that the language names, in several spellings: the same code, whichever way it is made."""

from __future__ import annotations

import pytest

from tests.contracts.loading import codes

HEAD = """outstep: contract/v1
id: p
params: {limit: 10}
tools:
  order.get: {effect: read}
  pay:
    tags: [money]
    args:
      type: object
      additionalProperties: false
      properties: {id: {type: string}, amountCents: {type: integer}, kind: {enum: [a, b]}, flag: {type: boolean}}
  ship: {}
facts:
  order: {from: ok result order.get, key: data.id}
  last: {from: ok result order.get}
claims: {paid: [paid]}
rules:
  - {id: USE, for: claim paid, about: order, when: params.limit > 0 && last.x == 1, require: it in order}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('  - {id: A, for: call pay, require: args.id == "x", ~}', "yaml"),
        ('  - id: A\n    for: call pay\n    require: "args.id', "yaml"),
        ("  - !!str {id: A, never: call pay}", "yaml"),
        ('  - id: A\n    for: call pay\n    require: [args.id in ["a", "b"]]', "yaml-quote"),
        ('  - id: A\n    for: call pay\n    require: {"a": 1}.a == args.amountCents', "yaml-quote"),
        ("  - id: A\n    for: call pay\n    require: *x == 1", "yaml-quote expression"),
        ("  - id: A\n    for: call pay\n    require: args.flag ? true : false", "yaml-quote"),
        ('  - id: A\n    for: call pay\n    require: [args.id, args.kind] == ["a", "b"]', "yaml-quote"),
        ('  - id: A\n    for: call pay\n    per: [args.kind in ["a"], tool]\n    at_most: 1', "yaml-quote"),
        ('  - {id: A, for: call pay, Require: args.id == "x"}', "unknown-key"),
        ("  - {id: A, for: call pay, atmost: 3}", "unknown-key"),
        ('  - {id: A, for: call pay, when: args.id == "x"}', "no-kind"),
        ("  - {id: A, for: call pay, need: call ship}", "unknown-key"),
        ("  - {id: A, needs: call ship, then: call ship, for: call pay}", "two-kinds"),
        ('  - {id: A, never: call pay, require: args.id == "x"}', "two-kinds"),
        ('  - {id: A, for: call pay, require: arg.id == "x"}', "unknown-name"),
        ("  - {id: A, for: call pay, require: param.limit > 1}", "unknown-name"),
        ("  - {id: A, for: call pay, require: has(args.id) && existz(args.id)}", "expression"),
        ("  - {id: A, never: call pya}", "unknown-tool"),
        ('  - {id: A, for: call pay|shp, require: args.id == "x"}', "unknown-tool"),
        ("  - {id: A, for: call pay, needs: ok result order_get}", "unknown-tool"),
        ("  - {id: A, for: call pay, then: result order.gett}", "unknown-tool"),
        ('  - {id: A, for: call @mony, require: args.id == "x"}', "unknown-tag"),
        ('  - {id: A, for: "claim payd", require: text != "x"}', "unknown-claim"),
        ('  - {id: A, for: claim paid|refunded, require: text != "x"}', "unknown-claim"),
        ("  - {id: A, for: claim paid, about: orders, require: it in order}", "unknown-fact"),
        ("  - {id: USE, never: call ship}", "duplicate-id"),
        ('  - {id: A, for: call pay of order, require: args.id == "x"}', "selector"),
        ('  - {id: A, for: successful result pay, require: args.id == "x"}', "selector"),
        ('  - {id: A, for: pay, require: args.id == "x"}', "selector"),
        ('  - {id: A, for: tool call pay, require: args.id == "x"}', "selector"),
        ('  - {id: A, for: call pay where, require: args.id == "x"}', "selector"),
        ('  - {id: A, for: call pay, require: args.id = "x"}', "expression"),
        ('  - {id: A, for: call pay, require: "args.id == \'x"}', "expression"),
        ("  - {id: A, for: call pay, require: args.id and args.kind}", "expression"),
        ("  - {id: A, for: call pay, require: \"args.id === 'x'\"}", "expression"),
        ('  - {id: A, for: call pay, require: args.amountCents + "1" == "11"}', "type"),
        ("  - {id: A, for: call pay, require: args.id.startsWith(3)}", "type"),
        ('  - {id: A, for: call pay, require: args.amountCents.contains("x")}', "type"),
        ("  - {id: A, for: call pay, require: size(args.amountCents) > 1}", "type"),
        ('  - {id: A, for: call pay, require: "!args.id"}', "type"),
        ("  - {id: A, for: call pay, require: args.id && args.flag}", "type"),
        ('  - {id: A, for: call pay, require: outcome == "ok"}', "not-bound-here"),
        ("  - {id: A, for: call pay, require: exit == 0}", "not-bound-here"),
        ('  - {id: A, for: message, require: args.id == "x"}', "not-bound-here"),
        ('  - {id: A, for: result pay, require: said == ""}', "not-bound-here"),
        ("  - {id: A, for: call pay, require: it == 1}", "not-bound-here"),
        ('  - {id: A, for: end, require: text == ""}', "not-bound-here"),
        ("  - {id: A, for: message, require: 'text.matches(\"(abc\")'}", "regex"),
        ("  - {id: A, for: message, require: 'text.matches(\"a{2,1}\")'}", "regex"),
        ("  - {id: A, for: message, require: 'text.matches(\"*a\")'}", "regex"),
        ("  - {id: A, for: message, require: 'text.matches(\"(?<=a)b\")'}", "regex"),
        ("  - {id: A, for: call pay, then: call ship, per: args.id}", "key-not-for-kind"),
        ("  - {id: A, for: call pay, require: args.flag, since: call ship}", "key-not-for-kind"),
        ("  - {id: A, never: call pay, within: 3 turns}", "key-not-for-kind"),
        ("  - {id: A, for: call pay, at_most: 1, within: 3 turns}", "key-not-for-kind"),
        ("  - {id: A, for: call pay, needs: call ship, counting: effects}", "key-not-for-kind"),
        (
            "  - {id: A, for: call pay, needs: ok result order.get where data.total >= this.args.amountCents}",
            "unbounded-where",
        ),
        ("  - {id: A, for: call pay, needs: ok result order.get where mentions(text, this.args.id)}", "yaml-quote"),
        (
            "  - {id: A, for: call pay, needs: result ship where data.a == this.args.id || data.b == this.args.id}",
            "unbounded-where",
        ),
        (
            "  - {id: A, for: call pay, require: args.flag, after: call ship where args.n < this.args.amountCents}",
            "unbounded-where",
        ),
        ("  - {id: A, for: call pay, metric: helpful}", "block-needs-deterministic"),
        ("  - {id: A, level: warn, metric: score, for: message}", "block-needs-deterministic"),
        ('  - {id: A, for: call pay, require: metric("helpful") > 0.5}', "expression"),
        ("  - {id: A, for: call pay, require: metrics.helpful > 0.5}", "unknown-name"),
        ("  - {id: A, for: call pay, require: [true]}", "useless-rule"),
        ("  - {id: A, for: call pay, require: [true, true]}", "useless-rule"),
        ("  - {id: A, for: call pay, at_least: 1, per: [args.id, args.kind]}", "useless-rule"),
        ("  - {id: A, for: decision, at_least: 1, per: turn}", "useless-rule"),
        ("  - {id: A, for: message, at_least: -3}", "useless-rule"),
        ("  - {id: A, for: call pay, require: args.flag || true}", "useless-rule"),
        ("  - {id: A, for: call pay, require: args.flag || !false}", "useless-rule"),
    ],
)
def test_a_mistake_has_its_code(text: str, expected: str) -> None:
    assert " ".join(code.split()[0] for code in codes(f"{HEAD}{text}\n")) == expected

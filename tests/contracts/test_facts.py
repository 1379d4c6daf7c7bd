"""The sections `facts` and `claims`."""

from __future__ import annotations

import pytest

from outstep.contracts.model import Fact
from tests.contracts.loading import codes, contract, problems


def fact(text: str, name: str = "f") -> Fact:
    return next(item for item in contract(f"facts: {{{name}: {text}}}").facts if item.name == name)


def test_a_fact_is_one_value_or_a_map_by_key() -> None:
    assert not fact("{from: ok result order.get}").keyed
    assert fact("{from: ok result order.get, key: data.id}").keyed


def test_what_is_left_out_is_the_default() -> None:
    found = fact("{from: ok result order.get}")
    (source,) = found.sources
    assert (source.value, source.key, source.each, found.keep, found.forget) == (None, None, None, "last", ())


def test_a_list_of_selectors_shares_what_stands_beside_it() -> None:
    found = fact("{from: [ok result order.get, ok result refund.create], key: args.id, value: data.state}")
    (source,) = found.sources
    assert [selector.text for selector in source.selectors] == ["ok result order.get", "ok result refund.create"]
    assert source.key is not None
    assert source.key.text == "args.id"


def test_a_list_of_maps_takes_what_stands_beside_it_as_defaults() -> None:
    found = fact(
        """{key: data.id, value: data.state, from: [{from: ok result order.get},
        {from: ok result refund.create, key: args.id, value: '"CANCELLED"'}, ok result order.get]}"""
    )
    keys = [source.key.text if source.key else "" for source in found.sources]
    values = [source.value.text if source.value else "" for source in found.sources]
    assert keys == ["data.id", "args.id", "data.id"]
    assert values == ["data.state", '"CANCELLED"', "data.state"]
    assert found.keyed


def test_each_binds_element_and_index() -> None:
    found = fact("{from: ok result order.get, each: data.items, key: it.id, value: it.price + at}")
    assert found.sources[0].each is not None
    assert codes("facts: {f: {from: ok result order.get, key: it.id}}") == ["not-bound-here it"]
    assert codes("facts: {f: {from: ok result order.get, each: it.items}}") == ["not-bound-here it"]


def test_forget_is_a_selector_or_one_with_a_key() -> None:
    found = fact("{from: ok result order.get, key: data.id, forget: {from: ok result refund.create, key: args.id}}")
    assert found.forget[0].key is not None
    assert found.forget[0].key.text == "args.id"
    assert fact("{from: ok result order.get, forget: user message}").forget[0].key is None
    both = fact("{from: ok result order.get, key: data.id, forget: [user message, {from: call *, key: args.id}]}")
    assert [forget.key is None for forget in both.forget] == [True, False]


@pytest.mark.parametrize("keep", ["last", "first", "all"])
def test_keep(keep: str) -> None:
    assert fact(f"{{from: message, keep: {keep}}}").keep == keep


def test_a_fact_uses_the_facts_above_it() -> None:
    above = "facts: {a: {from: ok result order.get}, b: {from: ok result order.get, value: a.x}}"
    assert [item.name for item in contract(above).facts] == ["a", "b"]
    (found,) = problems("facts: {b: {from: ok result order.get, value: a.x}, a: {from: ok result order.get}}")
    assert found.code == "contract/not-bound-here"
    assert "further below" in found.sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{key: data.id}", "missing-key {"),
        ("{from: ok result order.gt}", "unknown-tool order.gt"),
        ("{from: ok result order.get, vlue: 1}", "unknown-key vlue"),
        ("{from: ok result order.get, keep: newest}", "value newest"),
        ("{from: call order.get, value: data.x}", "not-bound-here data"),
        ("{from: approval}", "missing-key from"),
        ("{from: decision}", "missing-key from"),
        ("{from: end}", "missing-key from"),
        ("{from: final message}", "selector final message"),
        ("{from: its result}", "selector its result"),
        ("{from: []}", "selector []"),
        ("{from: [{key: data.id}]}", "missing-key {"),
        ("{from: [{from: message, keep: all}]}", "unknown-key keep"),
        ("{from: message, forget: {key: args.x}}", "missing-key {"),
        ("{from: message, forget: {from: call *, key: args.x}}", "value key"),
        ("ok result order.get", "value ok result order.get"),
    ],
)
def test_mistakes_in_a_fact(text: str, expected: str) -> None:
    assert codes(f"facts: {{f: {text}}}") == [expected]


def test_all_sources_have_a_key_or_none_has() -> None:
    assert codes("facts: {f: {from: [{from: message, key: text}, user message]}}") == ["value f"]


@pytest.mark.parametrize("name", ["args", "text", "it", "params", "this", "ok", "a-b", "退款"])
def test_a_fact_takes_no_name_of_the_language(name: str) -> None:
    assert codes(f"facts: {{{name}: {{from: message}}}}") == [f"reserved-name {name}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{from: ok result *, value: true}", True),
        ("{from: ok result *, value: -1}", True),
        ("{from: ok result *, value: null}", False),
        ("{from: ok result *}", False),
        ("{from: ok result *, value: data.id}", False),
        ("{from: ok result * where has(data.id), value: data.id}", True),
        ("{from: ok result * where data.id != null, value: data.id}", True),
        ("{from: 'ok result * where data.id == \"x\"', value: data.id}", True),
        ("{from: ok result * where data.id == null, value: data.id}", False),
        ("{from: ok result * where has(data.id), value: data.other}", False),
        ("{from: ok result * where has(data.id) || ok, value: data.id}", False),
        ("{from: [ok result * where has(data.id), ok result order.get], value: data.id}", False),
        ("{from: ok result *, value: ok && data.verified == true}", False),
    ],
)
def test_the_loader_sees_where_a_value_is_never_null(text: str, expected: bool) -> None:
    assert fact(text).sources[0].never_null is expected


def test_a_claim_has_one_pattern_or_several() -> None:
    found = contract("claims: {paid: 'paid', sent: [sent, mailed]}").claims
    assert [(claim.name, claim.patterns) for claim in found] == [("paid", ("paid",)), ("sent", ("sent", "mailed"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{paid: []}", "value []"),
        ("{paid: {a: b}}", "value {a: b}"),
        ("{paid: '(?=x)'}", "regex (?="),
        ("{paid: 'a{2000}'}", "regex 2000"),
        ("{'a b': x}", "value 'a b'"),
    ],
)
def test_mistakes_in_a_claim(text: str, expected: str) -> None:
    found = codes(f"claims: {text}")
    assert len(found) == 1
    assert found[0].split()[0] == expected.split(maxsplit=1)[0]


def test_a_pattern_of_a_claim_is_shown_where_it_breaks() -> None:
    (found,) = problems(
        "outstep: contract/v1\nclaims:\n  paid:\n    - paid (now\n"
        "rules: [{id: R, for: claim paid, require: text != ''}]"
    )
    assert str(found.place) == "contract.yaml:4:12"

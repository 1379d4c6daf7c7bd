"""Rules of one's own: what they find, and every mistake in them at once."""

from __future__ import annotations

import json

import pytest

from outstep.errors import OutstepError
from outstep.redaction.rules import Rules
from outstep.redaction.rules_file import load_rules
from tests.redaction.values import SPELLINGS, clean, pieces_left

RULES = r"""
outstep: redaction/v1
keep:
  - support@shop\.example
  - '.*@shop\.test'
rules:
  - name: customer
    arguments: [customer_name, pin]
  - name: ticket
    pattern: 'TCK-[0-9]{4,8}'
  - name: password
    pattern: 'password is (?P<value>\S+)'
  - name: street
    pointers: [/events/*/data/address/street, /events/1/args/note]
"""
DOCUMENT = {
    "events": [
        {
            "type": "tool.call",
            "name": "find",
            "args": json.dumps({"customer_name": "王小明", "pin": "0417", "id": "7"}),
        },
        {"type": "tool.call", "name": "note", "args": {"note": "Ring at Müller & Söhne", "n": "0417"}},
        {"type": "tool.result", "data": {"address": {"street": "Elm Road 11", "city": "Bern"}, "name": "王小明"}},
        {"type": "assistant.message", "content": "王小明 of Elm Road 11, TCK-99881, password is hunter22! 0417"},
        {"type": "user.message", "content": "write to support@shop.example or wei@shop.test or wei@shop.example"},
    ]
}


@pytest.fixture
def rules() -> Rules:
    return load_rules(RULES.encode(), "rules.yaml")


@pytest.mark.parametrize("ascii", [True, False])
def test_values_that_rules_find_are_gone_wherever_they_stand(rules: Rules, ascii: bool) -> None:
    new = json.loads(clean(json.dumps(DOCUMENT, ensure_ascii=ascii), rules).data)
    arguments = json.loads(new["events"][0]["args"])
    name, pin = arguments["customer_name"], arguments["pin"]
    street = new["events"][2]["data"]["address"]["street"]
    assert (name[:18], pin[:18], street[:16]) == ("redacted_customer_", "redacted_customer_", "redacted_street_")
    assert arguments["id"] == "7"
    assert new["events"][2]["data"]["name"] == name
    assert new["events"][1]["args"]["note"].startswith("redacted_street_")
    said = new["events"][3]["content"]
    assert said.startswith(f"{name} of {street}, redacted_ticket_")
    assert "password is redacted_password_" in said


def test_short_values_are_replaced_where_they_were_named_and_nowhere_else(rules: Rules) -> None:
    new = json.loads(clean(json.dumps(DOCUMENT), rules).data)
    assert new["events"][1]["args"]["n"] == "0417"
    assert new["events"][3]["content"].endswith(" 0417")


def test_what_is_named_as_harmless_stays(rules: Rules) -> None:
    said = json.loads(clean(json.dumps(DOCUMENT), rules).data)["events"][4]["content"]
    assert said.startswith("write to support@shop.example or wei@shop.test or redacted_email_")


def test_a_rule_holds_in_each_line_of_json_lines(rules: Rules) -> None:
    lines = [{"events": [{"data": {"address": {"street": f"Elm Road {at}00"}}}]} for at in range(1, 4)]
    done = clean(b"\n".join(json.dumps(line).encode() for line in lines), rules)
    assert b"Elm" not in done.data
    assert [place.line for place in done.places] == [1, 2, 3]


def test_a_value_of_a_rule_is_found_in_every_spelling(rules: Rules) -> None:
    for spell in SPELLINGS.values():
        document = {"args": {"customer_name": "Anneliese Huber"}, "other": spell("Anneliese Huber")}
        assert pieces_left("Anneliese Huber", clean(json.dumps(document), rules).data) == set()


def test_profile_none_with_rules_replaces_only_what_rules_find() -> None:
    rules = load_rules(RULES.replace("keep:", "profile: none\nkeep:").encode(), "rules.yaml")
    new = clean('{"a": "wei@example.com TCK-12345"}', rules).data
    assert new.startswith(b'{"a": "wei@example.com redacted_ticket_')


def test_every_mistake_is_told_at_once() -> None:
    text = """
outstep: redaction/v2
profile: strict
keeps: [x]
rules:
  - nam: a
    pattern: 'a('
  - name: No Name
    pointers: [a/b]
  - name: empty
    pattern: 'x*'
  - name: empty
  - 7
"""
    with pytest.raises(OutstepError) as raised:
        load_rules(text.encode(), "rules.yaml")
    told = [(one.code, one.place and one.place.line) for one in raised.value.problems]
    assert sorted(told, key=lambda pair: (pair[1] or 0, pair[0])) == [
        ("redact/value", 2),
        ("redact/value", 3),
        ("redact/unknown-key", 4),
        ("redact/unknown-key", 6),
        ("redact/pattern", 7),
        ("redact/value", 8),
        ("redact/pointer", 9),
        ("redact/pattern", 11),
        ("redact/missing-key", 12),
        ("redact/name-twice", 12),
        ("redact/value", 13),
    ]

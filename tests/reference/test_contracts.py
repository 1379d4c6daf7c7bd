"""The small contracts use everything that a verdict depends on."""

from __future__ import annotations

from outstep.contracts.keys import KINDS, TAKES

from .contracts import RULES, contract, rule_id

SHOWN_ONLY = {"id", "level", "class", "message"}
"""Keys that change what people see, and no verdict."""


def test_they_use_every_kind_and_key_that_the_reference_judges() -> None:
    kinds = [kind for kind in KINDS if kind not in ("scope", "python")]
    keys = {key for kind in kinds for key in TAKES[kind]} - SHOWN_ONLY
    text = "\n".join(RULES.values())
    assert [key for key in (*kinds, *sorted(keys)) if f"{key}:" not in text] == []


def test_each_is_a_contract_of_its_own() -> None:
    for name in RULES:
        assert contract(name).rules[0].id == rule_id(name)

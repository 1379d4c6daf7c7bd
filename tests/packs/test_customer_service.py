"""The pack `customer-service`: what it finds and what it lets be, in traces that fit in the head."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from outstep.casefiles import SHARED
from outstep.contracts.bundled import compile_pack, load_pack
from outstep.contracts.loader import load
from outstep.contracts.model import Contract
from outstep.contracts.packs import compiled, source
from outstep.tracetext import parse_trace
from tests.laws.harness import described, engine_outcomes, exact_outcomes
from tests.packs.test_refund import findings

HERE = Path(__file__).parent / "customer-service"
LOOSE = {"identity_required": False, "confirmation_required": False}
IGNORED = frozenset(("UNDECLARED_TOOL", "INCOMPLETE_TRACE"))


def cases() -> list[Any]:
    found = []
    for file in sorted(HERE.glob("*.yaml")):
        for name, case in yaml.safe_load(file.read_text("utf-8")).items():
            if name in SHARED:
                continue
            found.append(pytest.param(file.stem, case["trace"], case["findings"], id=f"{file.stem}:{name}"))
    return found


@lru_cache
def pack(file: str = "rules") -> Contract:
    return load_pack("customer-service", LOOSE if file == "loose" else None)[0]


@pytest.mark.parametrize(("file", "trace", "expected"), cases())
def test_the_pack_finds_this_and_nothing_else(file: str, trace: str, expected: list[list[Any]]) -> None:
    header, events = parse_trace(trace)
    outcomes = engine_outcomes(pack(file), header, events)
    found = [finding for finding in findings(outcomes) if finding[0] not in IGNORED]
    assert found == sorted((tuple(finding) for finding in expected), key=str)
    assert described(exact_outcomes(pack(file), header, events)) == described(outcomes)
    assert described(engine_outcomes(pack(file), header, events, streaming=True)) == described(outcomes)


def test_every_rule_has_a_case_that_violates_it() -> None:
    violated = {rule for case in cases() for rule, verdict, _ in case.values[2] if verdict == "violated"}
    assert {rule.id for rule in pack().rules if not rule.pack} == violated


def test_every_rule_says_what_failed_in_english_and_chinese() -> None:
    for rule in pack().rules:
        if not rule.pack:
            assert rule.cls in ("context", "process", "tool", "evidence"), rule.id
            assert set(rule.message) == {"en", "zh"}, rule.id


def test_the_compiled_pack_is_the_one_that_is_written() -> None:
    assert compiled("customer-service") == compile_pack("customer-service"), "run `make packs`"


def test_the_pack_has_no_warning() -> None:
    text = source("customer-service")
    assert text is not None
    assert load(text, name="pack:customer-service")[1] == ()


def test_a_contract_says_which_of_its_tools_write_and_identify() -> None:
    own = b"""outstep: contract/v1
include: [customer-service, refund]
tools:
  shop.pay_back: {effect: write}
  shop.who_is: {tags: [identity]}
"""
    contract, warnings = load(own, name="own.yaml")
    assert warnings == ()
    trace = 'user "yes, pay back"\ncall shop.pay_back {} turn 1\nresult ok {}\nend completed\n'
    known = "call shop.who_is {} turn 0\nresult ok {}\n" + trace
    assert "CUSTOMER_IDENTIFIED" in {rule for rule, *_ in findings(engine_outcomes(contract, *parse_trace(trace)))}
    assert "CUSTOMER_IDENTIFIED" not in {rule for rule, *_ in findings(engine_outcomes(contract, *parse_trace(known)))}

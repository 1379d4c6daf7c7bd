"""The pack `refund`, held against small traces: `refund/*.yaml`.

A case is a sentence, a trace as text, and every violated or inconclusive finding in it: rule, verdict, and the number
of the offending event (none where the run itself is the place).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from outstep.casefiles import SHARED
from outstep.contracts.bundled import compile_pack, load_pack
from outstep.contracts.loader import load_contract
from outstep.contracts.model import Contract
from outstep.contracts.packs import compiled, source
from outstep.expr.claims import ClaimFinder
from outstep.tracetext import parse_trace
from tests.laws.harness import Outcomes, described, engine_outcomes, exact_outcomes

HERE = Path(__file__).parent / "refund"
PARAMS: dict[str, dict[str, Any]] = {"partial": {"partial_refunds": True}, "due": {"refunds_expected": 1}}
"""Parameters that the cases of a file are judged with."""

NINE = (
    "VERIFY_BEFORE_REFUND",
    "VALID_ORDER_REQUIRED",
    "POLICY_REQUIRED",
    "REFUND_AMOUNT_BOUNDARY",
    "NO_DUPLICATE_REFUND",
    "ORPHAN_TOOL_RESULT",
    "REFUND_RESULT_REQUIRED",
    "NO_FALSE_SUCCESS_CLAIM",
    "WEAK_USER_EVIDENCE",
)

Finding = tuple[str, str, int | None]


def cases() -> list[Any]:
    found = []
    for file in sorted(HERE.glob("*.yaml")):
        if file.stem != "sentences":
            for name, case in yaml.safe_load(file.read_text("utf-8")).items():
                if name in SHARED:
                    continue
                found.append(pytest.param(file.stem, case["trace"], case["findings"], id=f"{file.stem}:{name}"))
    return found


@lru_cache
def pack(file: str = "") -> Contract:
    return load_pack("refund", PARAMS.get(file))[0]


def findings(outcomes: Outcomes) -> list[Finding]:
    found: list[Finding] = []
    for rule, outcome in outcomes.items():
        places = [(instance.seq, instance.verdict) for instance in outcome.instances]
        if outcome.verdict in ("violated", "inconclusive"):
            found += [(rule, verdict, place) for place, verdict in places or [(None, outcome.verdict)]]
    return sorted(found, key=str)


@pytest.mark.parametrize(("file", "trace", "expected"), cases())
def test_the_pack_finds_this_and_nothing_else(file: str, trace: str, expected: list[list[Any]]) -> None:
    header, events = parse_trace(trace)
    outcomes = engine_outcomes(pack(file), header, events)
    assert findings(outcomes) == sorted((tuple(finding) for finding in expected), key=str)
    assert described(exact_outcomes(pack(file), header, events)) == described(outcomes)
    assert described(engine_outcomes(pack(file), header, events, streaming=True)) == described(outcomes)


def test_every_rule_of_the_gate_has_a_case_that_violates_it() -> None:
    rules = {rule for case in cases() for rule, verdict, _ in case.values[2] if verdict == "violated"}
    assert set(NINE) <= {rule.id for rule in pack().rules}
    assert {rule.id for rule in pack().rules if not rule.pack} <= rules
    assert set(NINE) <= rules


def test_every_rule_says_what_failed_in_english_and_chinese() -> None:
    for rule in pack().rules:
        if not rule.pack:
            assert rule.cls in ("context", "process", "tool", "evidence"), rule.id
            assert set(rule.message) == {"en", "zh"}, rule.id


def test_the_compiled_pack_is_the_one_that_is_written() -> None:
    assert compiled("refund") == compile_pack("refund"), "run `make packs`"


def test_the_pack_has_no_warning() -> None:
    text = source("refund")
    assert text is not None
    assert load_pack("refund")[1] == ()
    assert load_contract(text, name="pack:refund") == pack()


SENTENCES: dict[str, dict[str, list[str]]] = yaml.safe_load((HERE / "sentences.yaml").read_text("utf-8"))


def sentences(kind: str) -> list[str]:
    return [sentence for group in SENTENCES[kind].values() for sentence in group]


@lru_cache
def finder() -> ClaimFinder:
    return ClaimFinder({claim.name: claim.patterns for claim in pack().claims})


@pytest.mark.parametrize("sentence", sentences("claimed"))
def test_this_sentence_claims_that_a_refund_was_made(sentence: str) -> None:
    assert [claim.name for claim in finder().find(sentence)] == ["refunded"]


@pytest.mark.parametrize("sentence", sentences("not_claimed"))
def test_this_sentence_does_not_claim_that_a_refund_was_made(sentence: str) -> None:
    assert finder().find(sentence) == []

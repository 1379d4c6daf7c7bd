"""What a sentence claims, and that finding it stays cheap and never breaks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.claims import ClaimFinder, languages
from outstep.expr.patterns import PatternError
from outstep.expr.sentences import sentences
from outstep.expr.spelling import nfkc

HERE = Path(__file__).parent


def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return data


EN, ZH = _data("claims_en.yaml"), _data("claims_zh.yaml")


def finder(claims: Mapping[str, Sequence[str]]) -> ClaimFinder:
    return ClaimFinder(claims)


@pytest.mark.parametrize(("sentence", "names"), EN["sentences"])
def test_an_english_sentence_claims_what_it_asserts(sentence: str, names: list[str]) -> None:
    assert [claim.name for claim in finder(EN["contract"]).find(sentence)] == names


@pytest.mark.parametrize(("sentence", "names"), ZH["sentences"])
def test_a_chinese_sentence_claims_what_it_asserts(sentence: str, names: list[str]) -> None:
    assert [claim.name for claim in finder(ZH["contract"]).find(sentence)] == names


@pytest.mark.parametrize("data", [EN, ZH])
def test_sentences_claim_the_same_one_after_another(data: dict[str, Any]) -> None:
    one = finder(data["contract"])
    lines = [(text, names) for text, names in data["sentences"] if "\n" not in text]
    found = one.find("\n\n".join(text for text, _ in lines))
    assert [claim.name for claim in found] == [name for _, names in lines for name in names]


def test_both_languages_have_a_versioned_word_list() -> None:
    assert languages() == {"en": 4, "zh": 4}


def test_a_claim_carries_sentence_groups_and_index() -> None:
    claims = {"refunded": [r"refund (?P<id>[A-Z0-9-]+)(?P<extra> early)? ... issued"]}
    (claim,) = finder(claims).find("Hello.\nThe  **refund** RF-1 was issued to you. Bye.")
    assert (claim.name, claim.sentence, claim.groups, claim.index) == (
        "refunded",
        "The refund RF-1 was issued to you.",
        {"id": "RF-1"},
        1,
    )


def test_a_sentence_claims_a_name_once() -> None:
    found = finder({"a": ["done", "finished"], "b": ["done"]}).find("It is done and finished. Done.")
    assert [(claim.name, claim.index) for claim in found] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


@pytest.mark.parametrize(
    ("pattern", "text", "claims"),
    [
        ("refund not needed", "The refund not needed.", True),  # the pattern spells the negation itself
        ("could not ... refund", "I could not issue the refund", True),
        ("could not ... refund", "I never could not issue the refund", False),  # but not this one
        ("couldn't ... refund", "I couldn’t issue the refund", True),
        ("will be refunded", "You will be refunded", True),
        ("退款不成功", "退款不成功", True),
        ("无法退款", "无法退款", True),
        ("refund (is|was).*", "The refund was not issued", False),  # a greedy tail reaches the negation
        ("refund", "The refund was not issued", True),  # here the match ends before it
        ("refund：已发", "Refund：已发", True),  # patterns read as sentences do
        ("refund … issued", "refund was issued", True),
        ("order ... 退款", "order A-1 已退款", True),
        ("订单 ... 退款", "订单A-1已退款", True),
        ("(?P<what>tests) ... pass", "tests pass", True),
        (r"\d+ passed", "12 passed", True),
        ("[a ... b]+", "a", True),  # dots in a class are dots
        ("don't ... worry", "I don't worry", True),
    ],
)
def test_patterns(pattern: str, text: str, claims: bool) -> None:
    assert bool(finder({"x": [pattern]}).find(text)) is claims


@pytest.mark.parametrize(
    ("pattern", "position"), [("refund (issued", 7), ("a(?=b)", 1), ("", None), ("  ", None), ("x" * 3000, None)]
)
def test_a_bad_pattern_is_named_with_its_place(pattern: str, position: int | None) -> None:
    with pytest.raises(PatternError) as error:
        finder({"x": [pattern]})
    assert error.value.position == position
    assert error.value.sentence


def test_without_claims_nothing_is_claimed() -> None:
    assert finder({}).find("The refund has been issued.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Version 1.2 costs $3.50. See https://a.example/b.c?d=e;f. Done", ["Version 1.2 costs $3.50.",
         "See https://a.example/b.c?d=e;f.", "Done"]),
        ("一。二！三？四；五", ["一。", "二!", "三?", "四;", "五"]),
        ('He said "done." Then left', ['He said "done."', "Then left"]),
        ("e.g. this, Mr. X. Order no. 5 is fine", ["e.g. this, Mr. X.", "Order no. 5 is fine"]),
        ("a\r\nb\u2028c", ["a", "b", "c"]),
        ("order_id is `x_1` and _this_ is *it*", ["order_id is x_1 and this is it"]),
        ("    ```py\ncode. x\n    ```\nafter", ["after"]),
        ("````\n```\ncode\n````\nafter", ["after"]),
        ("``` inline ``` text", ["inline text"]),
        ("", []),
    ],
)  # fmt: skip
def test_where_a_sentence_ends(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


WORDS = ["refund", "issued", "has been", "not", "but", ",", ".", "?", "if", "tests", "pass", "退款", "已",
         "成功", "，", "如果", "不", "但", "。", "\n", " ", "**", "`", "[", "](", ")", ">", "\\", "’", "ﬁ", "\u200b",
         "will", "<b>"]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=4)), max_size=25).map("".join)
BOTH = {
    "refunded": [*EN["contract"]["refunded"], *ZH["contract"]["refunded"]],
    "tests_pass": EN["contract"]["tests_pass"],
}
ONE = finder(BOTH)


@given(texts)
@settings(max_examples=300, deadline=None)
def test_the_prefilter_loses_no_claim(text: str) -> None:
    # A pattern that nothing is required of switches the prefilter off.
    unfiltered = finder({**BOTH, "zz": [r"\x{e001}|[\x{e002}]"]})
    assert unfiltered._always
    assert ONE.find(text) == unfiltered.find(text)


@given(texts)
@settings(max_examples=200, deadline=None)
def test_equal_text_gives_equal_claims(text: str) -> None:
    assert ONE.find(text) == ONE.find(str(text)) == finder(BOTH).find(text)


@given(texts)
@settings(max_examples=200, deadline=None)
def test_the_sentence_shown_claims_the_same_by_itself(text: str) -> None:
    for claim in ONE.find(text):
        assert nfkc(claim.sentence) == claim.sentence
        assert "\n" not in claim.sentence


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    ONE.find(text)
    ONE.find("refund issued " + text)


@pytest.mark.parametrize("text", [
    "a " * 200_000, "如果" * 100_000, "refund " * 100_000, "refund a " * 80_000, "if refund, " * 50_000 + "issued",
    "refund not issued, " * 30_000, "." * 300_000 + "refund x", "refund ;" * 50_000, "*_`" * 100_000 + "refund",
    "[a](" * 100_000 + "refund", "<a" * 100_000 + "refund", "不退款成功，" * 50_000, "```\n" * 100_000 + "refund",
    "\u0315\u0300" * 100_000 + "refund issued", "but " * 100_000 + "refund issued", "refund issued. " * 20_000,
    "not " * 100_000 + "refund issued", "refund\n" * 100_000, "://" * 100_000 + "refund issued",
])  # fmt: skip
def test_time_is_linear_in_the_text(text: str) -> None:
    start = time.process_time()
    ONE.find(text)
    assert time.process_time() - start < 3


def test_a_greedy_pattern_stays_linear_too() -> None:
    one = finder({"x": ["refund.*done", "refund.*"]})
    start = time.process_time()
    one.find("refund, not it, " * 20_000 + "done")
    assert time.process_time() - start < 3

"""That claims found fast are the claims found the long way, whatever the text and the patterns."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import outstep.expr.words
from outstep.expr.claims import _FEW, _MOST_LOOKS, Claim, ClaimFinder
from outstep.expr.clauses import asserts_until
from outstep.expr.patterns import PatternError
from outstep.expr.sentences import sentences
from outstep.expr.words import LANGUAGES, words
from tests.expr.text.claims_slowly import SlowClaimFinder, read, slow_sentences

HERE = Path(__file__).parent


def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return data


LABELLED = [_data("claims_en.yaml"), _data("claims_zh.yaml")]

SAID = ["refund", "refunded", "Your refund", "Refund for order A-1 has been issued", "issued", "completed",
        "has been", "was", "order A-1", "tests", "passed", "done", "退款", "已", "成功", "已退款"]  # fmt: skip
DENIED = ["not", "never", "no", "couldn't", "has yet to", "failed to", "will", "going to", "would", "to be",
          "is being", "have", "not only", "no problem", "until now", "no. 5", "尚未", "不", "将"]  # fmt: skip
CONDITIONS = ["if", "once", "When", "so if", "unless", "in case", "once again", "如果", "若", "一旦", "除非"]
CLAUSES = [",", "，", "、", ":", "but", "however", "although", "但", "不过", "却"]
QUESTIONS = ["?", "？", "吗", "没有", '?"']
ENDS = [".", "!", ";", "。", "！", "；", ". ", "...", '."', ".)", ";;", "．", "?!"]
WRITTEN = ["e.g.", "Mr.", "no. 5", "p. 3", "(id. 7", "'ref. 1", "max.", "https://a.b/c.d?e=f;g", "http://x.y/z.", "://",
           "$1,200.00", "49.90", "10:30", "1.2", "a;b"]  # fmt: skip
MARKDOWN = ["**", "_", "`", "~~", "[", "](", ")", "[x](u)", "<b>", "</b>", "<", ">", "\n> ", "|", "\\", "\n- ",
            "\n1. ", "# ", "\n- [ ] ", "[x] ", "\n```\n", "\n~~~\n", "re**fun**d", "re<b>fund"]  # fmt: skip
ODD = ["’", "“", "」", "（", "）", "ﬁ", "Ｒefund", "ſ", "\u212a", "e\u0301", "\u0301", "🙂", "\ud800", "\ue000", "\x00",
       "İ", "＊", "＜", "：", "r\u200befund", "\u3000", "\u00a0", "\u2028", "\t", "\r\n", "  ", "\x1c"]  # fmt: skip
plain = st.sampled_from([*SAID * 4, *DENIED, *CONDITIONS, *CLAUSES, *ENDS * 2, *WRITTEN, "?"])
marked = st.one_of(
    plain, *(st.sampled_from(each) for each in (DENIED, CONDITIONS, CLAUSES, QUESTIONS, ENDS, WRITTEN, MARKDOWN, ODD))
)
texts = st.one_of(
    st.lists(plain, max_size=30).map(" ".join),
    st.lists(st.one_of(marked, st.just(" "), st.text(max_size=3)), max_size=40).map("".join),
    st.lists(marked, max_size=30).map(" ".join),
)

ATOMS = ["refund", "issued", "tests?", "pass(ed)?", "the", " ... ", " … ", r"order (?P<order>\S+)", "has been",
         "(issued|completed)", "(has|was)", r"(?P<id>[A-Z]+-\d+)", r"\b", "^", "$", r"\brefund\b", "退款", "已",
         "(成功|完成)", r"\S+", ".*", "[^a]", "[^.]+", r"\s", "not", "could not", "will", " ", r"\w+", "(?:the )?",
         "(been )?", r"\.", r"\.$", r";\b", r"\B", "[;.]", "：", ",", "don't", "[[:alpha:](]+", "(?-i)Refund",
         "(a|b|)", "x*", r"\Qrefund\E", r"\A", r"\z", r"[\^$]", "(?P<what>refund|退款)", "o(?:rd)?er"]  # fmt: skip
patterns = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=5).map("".join)
contracts = st.one_of(
    st.sampled_from([data["contract"] for data in LABELLED]),
    st.just({"refunded": [r"refund for order (?P<order>\S+) has been issued"], "done": ["done", r"\btests\b"]}),
    st.dictionaries(st.sampled_from("abc"), st.lists(patterns, min_size=1, max_size=2), min_size=1, max_size=3),
    st.lists(patterns, min_size=_FEW + 1, max_size=_FEW + 3).map(lambda each: {"many": each[:2], "more": each[2:]}),
)


@given(contracts, st.lists(texts, min_size=1, max_size=8))
@settings(max_examples=400, deadline=None)
def test_found_fast_is_found_slowly(contract: dict[str, list[str]], several: list[str]) -> None:
    try:
        fast = ClaimFinder(contract)
    except PatternError:
        assume(False)
    slow = SlowClaimFinder(contract)
    for text in several:
        assert fast.find(text) == slow.find(text)


@given(texts)
@settings(max_examples=400, deadline=None)
def test_sentences_end_where_they_did(text: str) -> None:
    assert list(sentences(text)) == list(slow_sentences(text))


@pytest.mark.parametrize("data", LABELLED)
def test_labelled_sentences_alone_and_together(data: dict[str, Any]) -> None:
    fast, slow = ClaimFinder(data["contract"]), SlowClaimFinder(data["contract"])
    lines = [text for text, _ in data["sentences"]]
    for text in [*lines, " ".join(lines), "\n".join(lines), "Well. " + "; ".join(lines)]:
        assert fast.find(text) == slow.find(text)


def test_every_word_of_the_lists_is_seen() -> None:
    claims = {"refunded": ["refund ... issued", "退款已成功"], "any": ["refund"]}
    fast, slow = ClaimFinder(claims), SlowClaimFinder(claims)
    for language in words():
        for word in (*language.negations, *language.futures, *language.conditionals, *language.exceptions,
                     *language.openers, *language.leaders):  # fmt: skip
            spelled = word.replace("*", "could").replace("0", "7")
            for said in ("Your refund has been issued", "退款已成功"):
                for text in (f"{spelled} {said}", f"We {spelled.upper()} {said}.", f"Hello, {spelled}: {said}",
                             f"{said} {spelled}", f"refund {spelled} issued", f"And \"{spelled}\", {said}",
                             f"x_{spelled} {said}", f"{spelled}2 {said}"):  # fmt: skip
                    assert fast.find(text) == slow.find(text), text


@given(texts)
@settings(max_examples=300, deadline=None)
def test_up_to_where_a_sentence_surely_asserts_every_pattern_asserts(text: str) -> None:
    for sentence in sentences(text):
        structure = read(sentence)
        start, end = next(structure.windows(lambda _: False), (0, 0))
        reach = asserts_until(structure.data)
        assert reach == 0 or (start == 0 and reach <= end)


@pytest.mark.parametrize(
    ("pattern", "text", "claims"),
    [
        (r"issued;\b", "refund issued;then", []),  # behind the sentence's end there is no word
        (r"issued;", "refund issued;then", ["refund issued;"]),
        (r"refund\b.*\bissued", "No refund. Issued it was.", []),  # a match that spans two sentences is none
        (r"refund ... issued", "A refund. Was issued. A refund was issued.", ["A refund was issued."]),
        (r".*issued", "It was issued. It was not", ["It was issued."]),
        (r"[^a]issued", "So. issued", []),  # the blank between two sentences belongs to none
        ("^issued", "So. Issued it was", ["Issued it was"]),
        ("issued.$", "Issued. Thanks", ["Issued."]),
        (r"\Aissued\z", "So; issued\nissued", ["issued", "issued"]),
        ("[[:alpha:](]+ issued", "refund( issued", ["refund( issued"]),
    ],
)
def test_a_match_is_one_of_its_sentence(pattern: str, text: str, claims: list[str]) -> None:
    assert [claim.sentence for claim in ClaimFinder({"x": [pattern]}).find(text)] == claims
    assert [claim.sentence for claim in SlowClaimFinder({"x": [pattern]}).find(text)] == claims


def test_no_claim_is_lost_behind_many() -> None:
    claims = {"a": ["refund ... issued"], "b": ["tests pass"]}
    text = "The refund was issued. Is the refund issued? Not a refund was issued; " * _MOST_LOOKS + "Tests pass."
    found = ClaimFinder(claims).find(text)
    assert found == SlowClaimFinder(claims).find(text)
    assert (len(found), found[-1].name, found[-1].index) == (_MOST_LOOKS + 1, "b", 3 * _MOST_LOOKS)


def test_every_word_list_is_read() -> None:
    here = Path(outstep.expr.words.__file__).parent
    assert sorted(file.stem for file in here.glob("*.json")) == list(LANGUAGES)


def test_naming_a_claim_loads_nothing_that_finds_one() -> None:
    loaded = "[name for name in sys.modules if 're2' in name or 'claims' in name]"
    asked = f"import sys, outstep.expr.claim as c; print(c.Claim.__name__, {loaded})"
    shown = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=_environment()
    )
    assert shown.stdout.split("\n")[0] == "Claim []"
    assert Claim.__module__ == "outstep.expr.claim"


def test_in_ascii_text_only_a_question_mark_ends_a_question() -> None:
    assert not [end for language in words() for end in language.question_ends if end.isascii()]


def _environment() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(outstep.expr.words.__file__).parents[3])}


PARTIAL = (
    "please check the order status and tell the customer about the refund policy for damaged goods, which came late"
)
CLAIM = "Refund for order ORD-12-1 has been issued. Reference RF-12-1. " + PARTIAL


@pytest.mark.parametrize(("text", "times"), [(PARTIAL, 5), (CLAIM, 1.5)])
def test_fast_is_fast(text: str, times: float) -> None:
    claims = {"refunded": [r"refund for order (?P<order>\S+) has been issued"]}
    fast, slow = ClaimFinder(claims), SlowClaimFinder(claims)
    assert min(_spent(fast, text) for _ in range(7)) * times < min(_spent(slow, text) for _ in range(7))


def _spent(finder: ClaimFinder | SlowClaimFinder, text: str) -> float:
    start = time.process_time()
    for _ in range(300):
        finder.find(text)
    return time.process_time() - start

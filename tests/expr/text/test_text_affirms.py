"""Who consents, and who only talks about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.affirms import affirms


def labelled(language: str) -> dict[str, list[str]]:
    told: Any = yaml.safe_load((Path(__file__).parent / f"affirms_{language}.yaml").read_text("utf-8"))
    return {str(label): list(sentences) for label, sentences in told.items()}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_labelled_sentences_are_read_as_people_read_them(language: str) -> None:
    told = labelled(language)
    wrong = {
        "heard a yes": [text for text in told["declines"] if affirms(text)],
        "missed a yes": [text for text in told["consents"] + told["consents_in_one_clause"] if not affirms(text)],
    }
    assert wrong == {"heard a yes": [], "missed a yes": []}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_language_has_two_hundred_labelled_sentences(language: str) -> None:
    claims: Any = yaml.safe_load((Path(__file__).parent / f"claims_{language}.yaml").read_text("utf-8"))
    sentences = [text for one in labelled(language).values() for text in one] + [
        text for text, _ in claims["sentences"]
    ]
    assert len(set(sentences)) == len(sentences) >= 200


@pytest.mark.parametrize("text", [
    "Yes, please go ahead", "yes", "OK!", "Okay 👍", "Sure, do it.", "I agree.", "Yes, cancel the order", "yes please",
    "Sounds good, thanks", "Yes, can you do it today?", "I confirm.", "No problem, go ahead", "That's fine with me",
    "Please proceed", "Approved", "Correct.", "**Yes**", "ＹＥＳ", "No, I meant Tuesday. Yes, go ahead",
    "是的", "好的，请退款", "可以", "好", "好！", "行吧", "没问题，继续",
    "确认退款", "嗯", "同意", "对，就这样", "是的，取消吧",
])  # fmt: skip
def test_this_is_consent(text: str) -> None:
    assert affirms(text) is True


@pytest.mark.parametrize("text", [
    "", "No", "no, don't", "Is that okay?", "I would not agree", "not ok", "Not sure", "I don't agree", "Wait",
    "If yes then tell me", "What did you approve?", "Hello", "yesterday", "book", "I am unsure", "Would you say yes?",
    "only if it is ok", "> yes", "```\nyes\n```", "Change it instead please", "never", "I can't approve it",
    "不可以", "不是", "不同意", "你好", "对不起",
    "可以吗？", "银行", "算了", "先别退", "改成50", "我想了解一下", "好像不对",
    "如果可以的话", "行不行？", "没同意", "拒绝",
])  # fmt: skip
def test_this_is_none(text: str) -> None:
    assert affirms(text) is False


@pytest.mark.parametrize("text", [
    "I agree to the change", "I agree with this change.", "Please go ahead with the change",
    "同意更改", "我同意这个修改",
])  # fmt: skip
def test_consent_to_a_change_is_consent(text: str) -> None:
    assert affirms(text) is True


@pytest.mark.parametrize("text", [
    "I don't agree to the change", "I would agree to the change", "Do you agree to the change?",
    "I agree to the change if it is free",
    "I never agreed to the change", "I agree to change another one",
    "不同意更改", "没同意这个修改", "尚未批准变更", "同意更改吗？", "如果同意更改",
    "Please confirm that change", "I want to confirm that change", "请确认更改",
    "我想确认变更", "请批准变更", "经理批准变更后通知我",
])  # fmt: skip
def test_what_speaks_of_consent_to_a_change_need_not_be_consent(text: str) -> None:
    assert affirms(text) is False


def test_null_consents_to_nothing_and_a_number_is_missing() -> None:
    assert affirms(None) is False
    with pytest.raises(ValueError, match="text"):
        affirms(5)


@given(st.text(st.characters(), max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    assert affirms(text) in {True, False}
    assert affirms("yes " + text) in {True, False}

"""`mentions`, the index that equals it, `carries` and `number`."""

from __future__ import annotations

import re
import time
from base64 import b64encode, urlsafe_b64encode
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from outstep.expr.text import MentionIndex, carries, mentions, nfkc, normalise, number, texts_in, words_of


@pytest.mark.parametrize(
    ("x", "v", "expected"),
    [
        ("RF-1.", "RF-1", True),
        ("退款RF-1成功", "RF-1", True),
        ("order w12", "#W12", True),
        ("RF-1-2", "RF-1", False),
        ("X-RF-1", "RF-1", False),
        ("RF-10", "RF-1", False),
        ("RF-1.5", "RF-1", False),
        ("RF-1- and", "RF-1", True),
        ("(RF-1)", "RF-1", True),
        ("RF_1", "RF", False),
        ("_RF", "RF", False),
        ("rf-10, then RF-1", "rf-1", True),
        ("ＲＦ－１", "RF-1", True),
        ("rf-1", "ＲＦ－１", True),
        ("straße", "STRASSE", True),
        ("张三已退款", "张三", True),
        ("a张三", "张三", False),
        ("user@example.com wrote", "user@example.com", True),
        ("anuser@example.com", "user@example.com", False),
        ("see /tmp/a.txt", "/tmp/a.txt", True),
        ("paid 49.90", Decimal("49.9"), True),
        ("paid 49.9", Decimal("49.90"), True),
        ("paid 49.90", "49.9", True),
        ("paid 49.90", 49.9, True),
        ("49.905", Decimal("49.9"), False),
        ("149.9", Decimal("49.9"), False),
        ("50.00", 50, True),
        ("50.", 50, True),
        ("50.05", 50, False),
        ("50.00.1", 50, False),
        ("1.10.2", Decimal("1.1"), False),
        ("$1,200.00", 1200, True),
        ("1,200,300", 1200, False),
        ("9,001,200", 1200, False),
        ("1,234,567.80", Decimal("1234567.8"), True),
        ("3-5", 5, False),
        ("-5", 5, True),
        ("is -5 now", -5, True),
        ("is 5 now", -5, False),
        ("0", 0, True),
        ("0.00", Decimal("-0.0"), True),
        ("anything", None, False),
        ("anything", "", False),
        ("anything", " .,!", False),
        ("", "a", False),
        ({"a": ["b", {"c": Decimal("5.0")}]}, 5, True),
        ({"C-7": {}}, "c-7", True),
        ([["deep", ["er"]]], "er", True),
        ([1, True, None], "true", False),
        ({"n": Decimal("1E+9999")}, 1, False),
        (None, "a", False),
        (12, 12, True),
    ],
)
def test_a_value_occurs_as_a_whole_token(x: Any, v: Any, expected: bool) -> None:
    assert mentions(x, v) is expected
    assert _indexed(x, v) is expected
    assert _indexed(x, v, others=20) is expected


def _indexed(x: Any, v: Any, others: int = 0) -> bool:
    index: MentionIndex[str] = MentionIndex()
    for number_ in range(others):
        index.add(f"zq-{number_}-q", f"other {number_}")
    index.add(v, "it")
    return "it" in index.found(x)


@pytest.mark.parametrize("v", [True, [], {}, ["a"], Decimal("NaN"), Decimal("1E+99999")])
def test_only_texts_and_numbers_are_mentioned(v: Any) -> None:
    with pytest.raises(ValueError, match=r"^[a-z]"):
        mentions("x", v)
    index: MentionIndex[str] = MentionIndex()
    index.add(v, "it")
    index.discard(v, "other")
    assert index.found(["True true", "a", "[]"]) == []


def test_numbers_too_long_for_us_are_named() -> None:
    assert number("9" * 6000) == 10**6000 - 1
    with pytest.raises(ValueError, match="out of range"):
        mentions("x", 10**7000)


PARTS = ["rf", "RF", "1", "10", "-", ".", "_", " ", ",", "0", "00",
         "49", "9", "退", "款", "#", "é", "ß", "K", "\u0301", "$"]  # fmt: skip
tokens = st.lists(st.one_of(st.sampled_from(PARTS), st.characters()), max_size=8).map("".join)
values = st.one_of(tokens, st.integers(-20, 2000), st.decimals(-50, 2000, places=2), st.none())
things = st.recursive(
    st.one_of(st.lists(tokens, max_size=6).map(" ".join), values, st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(tokens, inner, max_size=3)),
    max_leaves=6,
)


@given(values, things)
@settings(max_examples=300, deadline=None)
def test_what_is_mentioned_shows_all_words_of_one_spelling(v: Any, x: Any) -> None:
    held = [set(re.findall("[a-z0-9_]+", normalise(text))) | set(normalise(text)) for text in texts_in(x)]
    assert not mentions(x, v) or any(words <= one for one in held for words in map(set, words_of(v)))


@given(things, st.lists(values, max_size=12))
@settings(max_examples=500, deadline=None)
@example("9,001,200", [1200, "rf", "a", "b", "c", "d"])
def test_the_index_equals_mentions(x: Any, sought: list[Any]) -> None:
    index: MentionIndex[int] = MentionIndex()
    for payload, v in enumerate(sought):
        index.add(v, payload)
    assert index.found(x) == [payload for payload, v in enumerate(sought) if mentions(x, v)]


@given(
    st.lists(st.tuples(values, st.integers(0, 3)), max_size=14), st.lists(tokens, max_size=6).map(" ".join), st.data()
)
@settings(max_examples=200, deadline=None)
def test_what_was_discarded_is_not_found(entries: list[tuple[Any, int]], text: str, data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.sampled_from(entries), max_size=8)) if entries else []
    index: MentionIndex[int] = MentionIndex()
    for v, payload in entries:
        index.add(v, payload)
    for v, payload in gone:
        index.discard(v, payload)
    spelled = {_key(v, payload) for v, payload in gone}
    left: MentionIndex[int] = MentionIndex()
    for v, payload in entries:
        if _key(v, payload) not in spelled:
            left.add(v, payload)
    assert set(index.found(text)) == set(left.found(text))


def _key(v: Any, payload: int) -> tuple[Any, int]:
    """Two values with the same spellings are the same value to an index."""
    from outstep.expr.mentions import _needles

    return _needles(v), payload


def test_an_empty_index_finds_nothing_and_says_so() -> None:
    index: MentionIndex[str] = MentionIndex()
    assert not index
    index.add("RF-1", "a")
    assert index
    index.discard("RF-1", "a")
    index.discard("RF-1", "a")
    index.discard("never", "b")
    assert not index
    assert index.found("RF-1") == []


def test_ten_thousand_ids_cost_no_more_than_ten() -> None:
    def spent(count: int) -> float:
        index: MentionIndex[int] = MentionIndex()
        for value in range(count):
            index.add(f"RF-{value:06}", value)
        text = "your refund rf-000007 for order A-1 is done, thanks a lot for waiting. " * 2000
        start = time.process_time()
        assert index.found(text) == [7]
        return time.process_time() - start

    assert spent(10_000) < 4 * spent(10) + 0.05


@pytest.mark.parametrize(
    ("text", "v"),
    [
        ("a" * 1_000_000, "a" * 1000),
        ("a-" * 500_000, "-".join("a" * 5000)),
        ("a " * 400_000, "a " * 300 + "b"),
        ("0" * 1_000_000, 0),
        ("0." + "0" * 1_000_000, 0),
        ("\u0315\u0300" * 200_000, "x"),
        ("退" * 400_000, "退款"),
        ("1,000," * 100_000, 1000),
    ],
)
def test_mention_time_is_linear_in_the_text(text: str, v: Any) -> None:
    start = time.process_time()
    mentions(text, v)
    index: MentionIndex[int] = MentionIndex()
    for payload in range(8):
        index.add(v if payload == 0 else f"{v}{payload}", payload)
    index.found(text)
    assert time.process_time() - start < 3


@given(st.text(max_size=30))
@settings(max_examples=300, deadline=None)
def test_normal_form_is_stable_and_case_blind(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert nfkc(nfkc(text)) == nfkc(text)


def test_texts_come_in_document_order() -> None:
    assert list(texts_in({"a": [1, "b", {"c": Decimal("2.50")}], "d": None, "e": True})) == [
        "a",
        "1",
        "b",
        "c",
        "2.5",
        "d",
        "e",
    ]


def test_depth_is_no_trouble() -> None:
    x: Any = "needle"
    for _ in range(100_000):
        x = [x]
    assert mentions(x, "needle")
    while isinstance(x, list):  # take it apart, so that the interpreter need not recurse
        x = x.pop()


SECRET = "Sécret+/?ÿþ token-77"


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc"])
@pytest.mark.parametrize("behind", [b"", b"z", b"zz"])
def test_a_value_is_carried_in_base64_at_any_alignment(before: bytes, behind: bytes) -> None:
    data = before + SECRET.encode() + behind
    assert carries("x=" + b64encode(data).decode(), SECRET)
    assert carries("x=" + urlsafe_b64encode(data).decode(), SECRET)
    assert carries("x=" + "\n".join(b64encode(data).decode()[at : at + 7] for at in range(0, 60, 7)), SECRET)


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        SECRET.upper(),
        "xx" + SECRET + "yy",
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(quote(SECRET)),
        quote(SECRET).lower(),
        quote(SECRET).replace("%20", "+"),
        SECRET[::-1],
        "aa" + SECRET[::-1] + "bb",
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        SECRET.encode().hex(":"),
        "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
    ],
)
def test_a_value_is_carried_in_disguise(text: str) -> None:
    assert carries(text, SECRET)
    assert carries({"body": ["hello", {text: 1}]}, SECRET)


@pytest.mark.parametrize(
    ("x", "v", "expected"),
    [
        ("nothing here", SECRET, False),
        ("a1234b", 1234, True),
        ("RF-10", "RF-1", True),
        ("x", None, False),
        ("x", "", False),
        ("100% sure, 50%", "sure", True),
        ("%zz%", "secret", False),
        (None, "a", False),
    ],
)
def test_what_carries_a_value(x: Any, v: Any, expected: bool) -> None:
    assert carries(x, v) is expected


@given(st.text(min_size=1, max_size=20), st.text(max_size=10), st.text(max_size=10))
@settings(max_examples=200, deadline=None)
def test_what_mentions_a_value_carries_it(v: str, before: str, behind: str) -> None:
    text = f"{before} {v} {behind}"
    assert carries(text, v) or not mentions(text, v)
    if v.isascii() and len(v.strip()) >= 4:
        assert carries(b64encode(f"{before}{v.strip()}{behind}".encode("utf-8", "replace")).decode(), v)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,200.00", Decimal("1200.00")),
        ("49.90", Decimal("49.90")),
        ("7", 7),
        (" 7 ", 7),
        ("-$5", -5),
        ("$-5", -5),
        ("+3", 3),
        ("−3", -3),
        ("USD 1,200", 1200),
        ("1200 EUR", 1200),
        ("12元", 12),
        ("￥1,234,567.8", Decimal("1234567.8")),
        ("US$5", 5),
        ("１２", 12),
        ("007", 7),
        (5, 5),
        (Decimal("1.0"), Decimal("1.0")),
    ],
)
def test_the_decimal_in_a_text(text: Any, expected: int | Decimal) -> None:
    value = number(text)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    "text",
    ["", "abc", "1.200,00", "1,2", "1,2345", "12,34,567", ",200", "1.", ".5", "5%", "1e5", "$5 USD", "12 34", "--5",
     "1.2.3", "٣", "0x10", "9" * 7000, "9" * 100_000, True, None, [1], "NaN", "Infinity", "5 dollars"],
)  # fmt: skip
def test_what_is_no_clear_number_is_missing(text: Any) -> None:
    with pytest.raises(ValueError, match=r"number|digits|text"):
        number(text)

"""Regular expressions: clear complaints, no surprises in hostile text, and a prefilter that loses nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.literals import required, required_pieces
from outstep.expr.patterns import Found, PatternError, PatternSet, compile_pattern, quote


@pytest.mark.parametrize(
    ("text", "part", "position"),
    [
        ("(a", "never closed", 0),
        ("x(?i)(?:ab", "never closed", 5),
        (r"\((a", "never closed", 2),
        ("[(](b", "never closed", 3),
        ("a)", "never opened", 1),
        ("x(?=a)", "look-around", 1),
        ("x(?<!a)", "look-around", 1),
        (r"(a)\1", "back-reference", 3),
        ("a{1001}", "at most 1000", 1),
        ("x{2,1}", "from more to less", 1),
        ("((a{100}){100}){100}", "at most 1000", 3),
        ("[z-a]", "no range", 1),
        ("a**", "repeats a repeat", 1),
        ("a++", "repeats a repeat", 1),
        ("*a", "repeats nothing", 0),
        ("a\\", "backslash", 1),
        (r"a\Z", "no escape", 1),
        ("(?z)", "no group", 0),
        ("[ab", "never closed", 0),
        ("(?P<a b>c)", "group name", 0),
        ("(?P<n>a)(?P<n>b)", "used twice", 8),
        ("a\ud800", "lone surrogate", 1),
        ("a" * 30_000, "30000 characters", None),
        (r"\pL{1000}" * 20, "too large", None),
    ],
)
def test_a_bad_pattern_is_explained_with_its_place(text: str, part: str, position: int | None) -> None:
    with pytest.raises(PatternError) as error:
        compile_pattern(text)
    assert part in error.value.sentence
    assert error.value.position == position
    assert not error.value.sentence.endswith(".")


def test_nothing_is_written_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PatternError):
        compile_pattern("(a")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(?P<id>[A-Z]+-\d+)(?P<x> x)?", "order A-1 é", Found((6, 9), {"id": "A-1", "x": None})),
        (r"(?P<id>\d)", "退款7单", Found((2, 3), {"id": "7"})),
        ("b", "a", None),
        ("", "退", Found((0, 0), {})),
        (r"\B", "é", Found((0, 0), {})),
        ("a", "\ud800a", Found((1, 2), {})),
        (".", "\ud800", Found((0, 1), {})),
        ("\x00", "a\x00", Found((1, 2), {})),
        (r"\w+", "é a", Found((2, 3), {})),
    ],
)
def test_where_a_pattern_matches(pattern: str, text: str, found: Found | None) -> None:
    compiled = compile_pattern(pattern)
    assert compiled.find(text) == found
    assert compiled.search(text) is (found is not None)
    assert compiled.span(text) == (None if found is None else found.span)
    assert compiled.groups(text) == (None if found is None else found.groups)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("refund", ("refund",)),
        ("refund(ed)? issued", (" issued",)),
        ("(a|bc)d", ("d",)),
        ("(aa|bc)d", ("aa", "bc")),
        ("refunds? x", ("refund",)),
        ("a+b", ("a",)),
        ("ab+c", ("ab",)),
        ("ab*c", ("a",)),
        ("ab{0,2}c", ("a",)),
        ("ab{2}c", ("ab",)),
        (r"a\.b", ("a.b",)),
        (r"\d+abc", ("abc",)),
        ("[abc]x", ("x",)),
        ("[]x]yy", ("yy",)),
        ("[[:alpha:]]yy", ("yy",)),
        ("a|", ()),
        ("(abc)?", ()),
        ("(abc)*", ()),
        ("(?P<x>abc)+", ("abc",)),
        ("a{x}", ("a{x}",)),
        (r"\x41bc", ()),
        (r"\Qa|b\E", ()),
        (r"\p{Han}abc", ("abc",)),
        ("(?s:abc)", ("abc",)),
        ("", ()),
        (".", ()),
    ],
)
def test_what_a_pattern_requires(pattern: str, texts: tuple[str, ...]) -> None:
    assert required(pattern).texts == texts


@pytest.mark.parametrize(
    ("pattern", "sets"),
    [
        (r"refund for order (?P<order>\S+) has been issued", ["refund", "issued", "order", "been", "for", "has"]),
        ("refund (issued|completed)", ["refund", "issued completed"]),
        ("refund (for (an|the) order)? issued", ["refund", "issued"]),
        ("orders of an order", ["orders", "of", "an"]),  # `order` says no more
        ("退款(已|已经)?(成功|完成)", ["退款", "成功 完成"]),
        ("Refund-no", ["refund", "no"]),
        ("(a|b c) dd", ["dd", "a b"]),
        ("a|b c", ["a b"]),
        ("(a|) b", ["b"]),
        (r"\d+", []),
        (" ".join(f"w{at}" for at in range(10, 40)), [f"w{at}" for at in range(10, 18)]),
    ],
)
def test_all_that_a_pattern_requires(pattern: str, sets: list[str]) -> None:
    assert [" ".join(texts) for texts in required_pieces(pattern)] == sets


@pytest.mark.parametrize(
    ("pattern", "ignore", "text", "expected"),
    [
        ("(?i)kelvin", False, "\u212aELVIN", True),
        ("strasse", True, "STRAſSE", True),
        ("ÉTÉ", True, "été", True),
        ("(?i:a)b", False, "Ab", True),
        ("(?i:a)b", False, "AB", False),
        ("a(?-i)B", True, "AB", True),
    ],
)
def test_case_blind_is_case_blind(pattern: str, ignore: bool, text: str, expected: bool) -> None:
    compiled = compile_pattern(pattern, ignore_case=ignore)
    assert compiled.search(text) is (compiled.find(text) is not None) is expected


ATOMS = [
    "a",
    "b",
    "ab",
    "k",
    "S",
    "é",
    "退",
    "款",
    ".",
    r"\d",
    "[ab]",
    "[^a]",
    r"\.",
    "-",
    " ",
    "^",
    "$",
    r"\b",
    "(?i)",
]
patterns = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map(lambda each: f"({each})"),
        inner.map(lambda each: f"(?:{each})?"),
        inner.map(lambda each: f"(?P<n>{each})" if "?P" not in each else each),
        inner.map(lambda each: f"(?:{each})+"),
        inner.map(lambda each: f"(?:{each}){{0,2}}"),
    ),
    max_leaves=8,
)
subjects = st.lists(st.sampled_from([*"aAbBkKsS-. 退款é1", "\u212a", "ſ", "\ud800", "\n"]), max_size=10).map("".join)


def _compiles(text: str) -> bool:
    try:
        compile_pattern(text)
    except PatternError:
        return False
    return True


@given(patterns.filter(_compiles), subjects, st.booleans())
@settings(max_examples=500, deadline=None)
def test_the_prefilter_never_hides_a_match(text: str, subject: str, ignore: bool) -> None:
    compiled = compile_pattern(text, ignore_case=ignore)
    assert compiled.search(subject) is (compiled.find(subject) is not None)


@given(patterns.filter(_compiles), subjects)
@settings(max_examples=500, deadline=None)
def test_whatever_matches_holds_all_that_is_required(text: str, subject: str) -> None:
    if compile_pattern(text, ignore_case=True).search(subject):
        assert all(any(piece in subject.casefold() for piece in texts) for texts in required_pieces(text))


@given(st.lists(patterns.filter(_compiles), max_size=5), subjects, st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_set_knows_what_each_pattern_knows(texts: list[str], subject: str, ignore: bool) -> None:
    together = PatternSet(texts, ignore_case=ignore)
    expected = [at for at, text in enumerate(texts) if compile_pattern(text, ignore_case=ignore).search(subject)]
    assert together.matches(subject) == expected


def test_a_set_too_large_for_re2_still_answers() -> None:
    together = PatternSet([rf"x{at}\pL{{300}}{at}" for at in range(60)] + ["abc"])
    assert together.matches("an abc") == [60]


@given(st.text(max_size=20), st.text(max_size=20))
@settings(max_examples=200, deadline=None)
def test_a_quoted_text_matches_itself(text: str, around: str) -> None:
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert compile_pattern(quote(text)).search(around + text + around)


@given(st.text(st.characters(), max_size=30))
@settings(max_examples=400, deadline=None)
def test_any_pattern_compiles_or_is_explained(text: str) -> None:
    if _compiles(text):
        compile_pattern(text).find("some text")
        return
    with pytest.raises(PatternError) as error:
        compile_pattern(text)
    assert error.value.position is None or 0 <= error.value.position < len(text)


def test_a_miss_costs_far_below_a_microsecond() -> None:
    compiled = compile_pattern("refund .* issued", ignore_case=True)
    together = PatternSet(["refund .* issued", "tests? pass", "退款(已)?成功"], ignore_case=True)
    text = "Hello there, thanks for contacting us about your order. Everything looks fine."
    for each in (compiled.search, together.matches):
        best = min(_spent(each, text) for _ in range(5))
        assert best < 1.5e-6  # about 0.2; the rest is for a busy machine


def _spent(function: object, text: str) -> float:
    assert callable(function)
    start = time.process_time()
    for _ in range(5000):
        function(text)
    return (time.process_time() - start) / 5000


def test_time_is_linear_in_the_text() -> None:
    start = time.process_time()
    assert not compile_pattern("(a+)+$").search("a" * 1_000_000 + "b")
    assert not compile_pattern("(a|aa)+b").search("a" * 1_000_000)
    assert time.process_time() - start < 3

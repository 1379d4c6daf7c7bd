"""What the standard library may search finds the same as RE2 (`expr.plain_patterns`)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.expr.patterns import compile_pattern
from outstep.expr.plain_patterns import simple

SIMPLE = [
    r"refund for order (?P<order>\S+) has been issued",
    r"a+b",
    r"\bord-\d+\b",
    r"(?:paid|sent|a b) (?P<what>\w)",
    r"(?:not )?done",
    r"[a-c]b?[^a-c ]*?c",
    r"[_-b]x",
    r"\$\d+",
    r"(?P<a>a?b?)(?P<b>c?)c",
    "don't a",
]
INVOLVED = [
    r"(a+)+b",
    r"\w+ \w+",
    r"a*b*",
    r"(?:a+|b)c",
    r"(?:a|b)+",
    r"a{2,}",
    r"a|b",
    r"^a",
    r"a$",
    r"a.b",
    r"\x41",
    r"\Qa\E",
    r"[[:alpha:]]",
    r"[a\d]",
    r"(?s:a)",
    "caf\u00e9",
    "a?b?c?d?e?f?g?",
]
TEXT = st.text(alphabet="aAbBcxX_ -012$dDoOnNeERfr'.ord", max_size=40)


@pytest.mark.parametrize("pattern", SIMPLE)
@given(text=TEXT)
def test_simple_patterns_match_where_re2_does(pattern: str, text: str) -> None:
    found = simple(pattern)
    assert found is not None
    data = text.encode()
    ours = found.search(data)
    theirs = compile_pattern(pattern, ignore_case=True).spans(data)
    assert (None if ours is None else list(ours.regs)) == (None if theirs is None else list(theirs))


@given(st.text(alphabet=r"aBc 1\dwS+*?()[]^-P<n>:|_.$", max_size=14), TEXT)
def test_whatever_is_let_through_matches_where_re2_does(pattern: str, text: str) -> None:
    found = simple(pattern)
    if found is None:
        return
    data = text.encode()
    ours = found.search(data)
    theirs = compile_pattern(pattern, ignore_case=True).spans(data)
    assert (None if ours is None else list(ours.regs)) == (None if theirs is None else list(theirs))


@pytest.mark.parametrize("pattern", INVOLVED)
def test_what_may_mean_or_cost_something_else_is_left_to_re2(pattern: str) -> None:
    assert simple(pattern) is None


def test_it_is_the_standard_library_without_case() -> None:
    assert simple("Sent") == re.compile(b"Sent", re.IGNORECASE)

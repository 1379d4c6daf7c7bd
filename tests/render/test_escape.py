"""Nothing from a trace acts on the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outstep.render.escape import cut, shown, visible, width


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("plain text, 退款成功, café, 🙂", "plain text, 退款成功, café, 🙂"),
        ("red \x1b[31mtext\x1b[0m", "red \\x1b[31mtext\\x1b[0m"),
        ("title \x1b]0;owned\x07", "title \\x1b]0;owned\\x07"),
        ("csi \x9b31m", "csi \\x9b31m"),
        ("two\nlines\r\tthree", "two\\nlines\\r\\tthree"),
        ("right \u202eto left\u202c", "right \\u202eto left\\u202c"),
        ("isolate \u2066x\u2069", "isolate \\u2066x\\u2069"),
        ("line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("file \udcff.jsonl", "file \\xff.jsonl"),
        ("half \ud83d", "half \\ud83d"),
        ("nul \x00 del \x7f", "nul \\x00 del \\x7f"),
    ],
)
def test_what_acts_is_spelled_out_and_what_reads_stays(text: str, spelled: str) -> None:
    assert visible(text) == spelled


@given(st.text())
def test_no_control_sign_survives(text: str) -> None:
    assert not [sign for sign in visible(text) if unicodedata.category(sign) in {"Cc", "Cs", "Zl", "Zp"}]
    assert not set(visible(text)) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_cut_text_is_never_wider_than_asked_for(text: str, columns: int) -> None:
    assert width(shown(text, columns)) <= columns


@given(st.text(max_size=40))
def test_what_fits_is_not_cut(text: str) -> None:
    assert cut(text, width(text) + 1) == text


def test_a_cut_shows_that_it_was_cut() -> None:
    assert shown("refund.create", 8) == "refund.…"
    assert shown("退款已成功", 7) == "退款已…"


def test_a_huge_text_is_cut_without_being_read_whole() -> None:
    assert shown("\x1b" * 50_000_000, 10) == "\\x1b\\x1b\\…"

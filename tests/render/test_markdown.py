"""The Markdown report, read by a parser of GitHub's dialect."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from outstep.render import markdown
from outstep.render.escape import shown as shown_text
from outstep.render.style import PLAIN
from tests.render.reports import TRAPS, finding, golden, report

PARSER = MarkdownIt("gfm-like", {"html": True})
OF_OURS = {
    "heading",
    "paragraph",
    "inline",
    "text",
    "softbreak",
    "hardbreak",
    "strong",
    "bullet_list",
    "list_item",
    "code_inline",
}


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or [])]
    return found


def kinds(text: str) -> set[str]:
    return {token.type.removesuffix("_open").removesuffix("_close") for token in tokens(text)}


def test_nothing_in_it_is_markup_but_our_own() -> None:
    assert kinds(markdown.render(golden(), PLAIN)) <= OF_OURS


@pytest.mark.parametrize("trap", TRAPS)
def test_a_text_shows_what_it_is(trap: str) -> None:
    for form in (markdown.text, markdown.code):
        told = form(trap)
        assert kinds(told) <= {"paragraph", "inline", "text", "code_inline"}
        shown = "".join(token.content for token in tokens(told) if token.type in {"text", "code_inline"})
        assert shown.strip() == shown_text(trap, 300).strip()


def test_nothing_is_mentioned_and_nothing_becomes_a_picture_or_a_formula() -> None:
    plain = [token.content for token in tokens(markdown.render(golden(), PLAIN)) if token.type == "text"]
    assert plain
    assert not [text for text in plain if re.search(r"[@#$]|!\d|:[\w+-]+:", text)]


def test_what_gates_comes_first_and_what_does_not_fit_is_counted() -> None:
    many = [finding(rule=f"W{number}", level="warn", message="w" * 250) for number in range(400)]
    told = markdown.render(report(*many, finding(rule="LAST")), PLAIN)
    assert told.index("`LAST`") < told.index("`W0`")
    assert len(told) <= markdown.LONGEST + 100
    left = 400 - told.count("**violated** `W")
    assert f"… and {left} more findings" in told


def test_a_run_that_passes_says_so_in_two_lines() -> None:
    told = markdown.render(report(), PLAIN)
    assert told.startswith("### ✅ Outstep: the run passes\n\n1 trace, 7 events, 2 calls")
    assert len(told.strip().splitlines()) == 3


def test_what_does_not_gate_does_not_look_as_if_it_did() -> None:
    loose: dict[str, Any] = {"contract": "shop"}
    told = markdown.render(report(finding(level="warn", **loose), gate="pass", exit_code=0), PLAIN)
    assert "⚠️ **violated** `VERIFY` (warn)" in told
    assert "❌" not in told

"""The shell of HTML pages: nothing in a page acts but its own script, in every language the page speaks."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest

from outstep.render.page import embedded, page, say, several, text
from outstep.render.page.words import SHELL, Words, in_words
from tests.render.reports import TRAPS

PLACE = re.compile(r"\{\w+\}")


def hashed(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def test_only_the_style_and_the_script_of_the_page_are_allowed() -> None:
    whole = page("t", "<main id='main'></main>", language="en", tool="outstep 0", style="b{}", script="f();")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', whole)
    assert policy is not None
    styles = re.findall(r"<style>(.*?)</style>", whole, re.DOTALL)
    scripts = re.findall(r"<script>(.*?)</script>", whole, re.DOTALL)
    assert [len(styles), len(scripts)] == [1, 1]
    assert "default-src 'none'" in policy[1]
    assert f"style-src {hashed(styles[0])};" in policy[1]
    assert f"script-src {hashed(scripts[0])};" in policy[1]


@pytest.mark.parametrize("trap", TRAPS)
def test_a_text_shows_and_does_nothing_else(trap: str) -> None:
    for written in (text(trap), several(trap)):
        assert not set(written) & set("<>\"'\u202e\x1b\r")
        assert "&" not in re.sub(r"&(?:amp|lt|gt|quot|#x27);", "", written)
    assert "\n" not in text(trap)
    assert several(trap).count("\n") == trap.count("\n")


@pytest.mark.parametrize("trap", TRAPS)
def test_data_does_not_end_its_element(trap: str) -> None:
    written = embedded({"x": [trap]})
    assert not set(written) & set("<>&\u2028\u2029")
    whole = "\ud800" not in trap
    assert json.loads(written) == {"x": [trap if whole else trap.replace("\ud800", "\\x00")]}


def test_values_of_a_sentence_are_not_read_again() -> None:
    words = {"a": "{x} and {y}", "n": "{n} finding|{n} findings"}
    assert say(words, "a", x="{y}", y="1") == "{y} and 1"
    assert [say(words, "n", n=1), say(words, "n", n=10_000)] == ["1 finding", "10,000 findings"]


def check_catalogue(catalogue: Words) -> None:
    """Every sentence is there in both languages, with the same places for values."""
    for key, (english, chinese) in catalogue.items():
        assert english
        assert chinese
        assert set(PLACE.findall(english)) == set(PLACE.findall(chinese)), key
        assert re.search(r"[\u4e00-\u9fff]", chinese), key


def test_the_shell_speaks_two_languages() -> None:
    check_catalogue(SHELL)
    assert in_words(SHELL, "zh")["copy"] == "复制"
    assert in_words(SHELL, "fr") == in_words(SHELL, "en")


def test_the_title_of_a_page_is_text() -> None:
    whole = page("</title><script>x", "", language="zh", tool="</footer>")
    assert unescape(whole.split("<title>")[1].split("</title>")[0]) == "</title><script>x"
    assert 'lang="zh"' in whole

"""The HTML report without a browser: what stands in the file, and what does not."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from outstep.findings import TraceSummary
from outstep.render import html
from outstep.render.html.words import WORDS
from outstep.render.page import text
from outstep.render.page.words import SHELL
from outstep.render.style import PLAIN, Style
from outstep.render.timelines import Step, Timeline
from tests.render.reports import HOSTILE, TRAPS, finding, golden, hostile, report
from tests.render.test_page import check_catalogue

SOURCES = Path(html.__file__).parent
SCRIPTS = "".join((SOURCES / name).read_text("utf-8") for name in html.SCRIPTS)


class Page(HTMLParser):
    """The elements of a page, its data and its text."""

    def __init__(self, whole: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.data: dict[str, Any] = {}
        self.text: list[str] = []
        self._block: str | None = None
        self.feed(whole)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        told = {name: value or "" for name, value in attrs}
        self._block = (
            told.get("id", "").removeprefix("data-") or "script" if tag == "script" else tag if tag == "style" else None
        )

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._block = None

    def handle_data(self, data: str) -> None:
        if self._block is not None and self._block not in {"style", "script"}:
            self.data[self._block] = json.loads(data)
        elif self._block is None:
            self.text.append(data)


TAGS = {
    *("html", "head", "meta", "link", "title", "style", "body", "script", "header", "main", "footer", "section"),
    *("div", "p", "span", "bdi", "a", "h1", "h2", "h3", "ul", "li", "button", "details", "summary", "code", "pre"),
    *("article", "table", "thead", "tbody", "tr", "th", "td"),
}


@pytest.mark.parametrize("make", [golden, hostile])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_from_a_trace_becomes_an_element_or_an_attribute(make: Any, language: str) -> None:
    page = Page(html.render(make(), Style(language=language), (timeline(),)))
    assert set(page.tags) <= TAGS
    assert page.tags.count("script") == 7
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in {"src", "style"}]
    assert {value for _, name, value in page.attributes if name == "href"} == {"#main", "data:,"}


def timeline(**fields: Any) -> Timeline:
    step = Step(index=1, seq=1, type="tool.call", agent="main", turn=1, tool=HOSTILE, text=HOSTILE, record=HOSTILE)
    return Timeline(**{"trace": 0, "steps": (step,), "lanes": {HOSTILE: "agent"}, **fields})


def test_without_a_script_the_gate_the_counts_and_the_first_findings_show() -> None:
    shown = "".join(Page(html.render(golden(), PLAIN)).text)
    for told in (
        "Could not be checked",
        "exit code 2",
        "20 findings",
        "17 against the release",
        "1 waived",
        "15 faults",
    ):
        assert told in shown
    for trap in TRAPS:
        assert re.sub(r"\s+", " ", text(trap)).strip()[:20] in re.sub(r"\s+", " ", html.render(golden(), PLAIN))
    assert "ops: known (until 2030-01-01)" in shown
    assert "order: a gap may hide it" in shown


def test_what_does_not_show_without_a_script_is_counted() -> None:
    many = report(*(finding(rule=f"R{number}", message=f"m{number}") for number in range(60)))
    shown = "".join(Page(html.render(many, PLAIN)).text)
    assert "m49" in shown
    assert "m50" not in shown
    assert "10 more findings" in shown


def test_every_finding_is_in_the_data_with_what_stands_against_the_release_first() -> None:
    page = Page(html.render(golden(), PLAIN))
    texts, groups = page.data["texts"], page.data["groups"]
    rules = [texts[member[0]] for group in groups for member in group[-1]]
    assert sorted(rules) == sorted(one.rule for one in golden().findings)
    gating = [group[2] for group in groups]
    assert gating == sorted(gating, reverse=True)


def test_a_text_stands_once() -> None:
    page = Page(html.render(report(*(finding(rule=f"R{number}") for number in range(100))), PLAIN))
    texts = page.data["texts"]
    assert len(texts) == len(set(texts))
    assert len(texts) < 120


def test_equal_reports_give_equal_bytes() -> None:
    assert html.render(golden(), PLAIN, (timeline(),)) == html.render(golden(), PLAIN, (timeline(),))


def test_the_page_speaks_two_languages() -> None:
    check_catalogue(WORDS)
    shown = "".join(Page(html.render(golden(), Style(language="zh"))).text)
    assert "无法检查" in shown
    assert "20 条发现" in shown


def test_every_sentence_of_the_scripts_is_in_the_catalogue() -> None:
    asked = set(re.findall(r"say\('([^']+)'", SCRIPTS)) | set(re.findall(r"(?<![.\w])add\('([^']+)'", SCRIPTS))
    known = {**WORDS, **SHELL}
    assert asked
    assert asked <= set(known)
    written = SCRIPTS + (SOURCES / "opening.py").read_text("utf-8") + (SOURCES / "__init__.py").read_text("utf-8")
    unused = [key for key in WORDS if f"'{key}'" not in written and f'"{key}"' not in written and not _is_made(key)]
    assert unused == []


def _is_made(key: str) -> bool:
    """Whether a key is put together from a word of the report."""
    return key.startswith(("title-", "gate-", "why-", "type-")) or key in {
        "ok",
        "failed",
        "denied",
        "unknown",
        "unrecorded",
    }


def test_scripts_put_no_text_on_the_page_as_markup() -> None:
    shell = (SOURCES.parent / "page" / "shell.js").read_text("utf-8")
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "srcdoc"):
        assert name not in SCRIPTS + shell


def test_of_long_tables_the_rest_is_counted() -> None:
    many = report(traces=tuple(TraceSummary(id=f"t{number}", events=1) for number in range(51)), gate="pass")
    assert "and 1 more" in html.render(many, PLAIN)

"""Pages of `diff` and `compare`: what they hold, that they are one file, and that nothing in them acts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from outstep.compare.cards import card
from outstep.compare.results import Result, Results
from outstep.render import comparison_page, diff_page
from outstep.workflow.checking import CheckOptions
from outstep.workflow.contracts import open_contract
from outstep.workflow.diffing import Diff, diff
from tests.command_line import ROOT, outstep

SHOP = ROOT / "tests/cli/shop"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> | `x` \u202e \x1b[31m ]]> \u2028"


class Page(HTMLParser):
    """What a browser would run or load of a page, and the text that it shows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.active: list[str] = []
        self.text = ""
        self._hidden = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what acts or loads."""
        self._hidden = tag in {"script", "style"}
        if tag in {"img", "iframe", "object", "embed", "form"}:
            self.active.append(tag)
        self.active += [f"{name}={value}" for name, value in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        self.text += "" if self._hidden else data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        """Leave a script or style."""
        self._hidden = False


def _diff(before: str, after: str) -> Diff:
    return diff(before, after, [open_contract(str(SHOP / "refund.yaml"))[0]], CheckOptions())


def _diff_html(found: Diff, language: str = "en") -> str:
    changed = [
        diff_page.Changed(
            rule=one.rule,
            level="block",
            before=one.before,
            after=one.after,
            is_worse=one.is_worse,
            findings=one.findings,
        )
        for one in found.obligations
    ]
    return diff_page.html(found.before, found.after, found.pairs, changed, tool="outstep", language=language)


def test_a_diff_shows_both_sides_values_and_rules() -> None:
    page = Page(_diff_html(_diff(str(SHOP / "good.jsonl"), str(SHOP / "bad.jsonl"))))
    for shown in ("3 rules that block stand worse", "amountCents", "1200", "3500", "AMOUNT_WITHIN_ORDER", "removed"):
        assert shown in page.text
    assert page.active == ["href=data:,", "href=#main", "href=#first"]


def test_a_diff_of_equal_runs_says_so() -> None:
    page = Page(_diff_html(_diff(str(SHOP / "good.jsonl"), str(SHOP / "good.jsonl"))))
    assert "Both runs did and got the same." in page.text
    assert "No rule stands otherwise." in page.text


def test_long_stretches_without_a_change_are_folded_and_none_is_lost(tmp_path: Path) -> None:
    lines = (SHOP / "good.jsonl").read_text("utf-8").splitlines()
    more = [json.dumps({"type": "user.message", "seq": 100 + n, "text": f"word {n}"}) for n in range(40)]
    long = tmp_path / "long.jsonl"
    long.write_text("\n".join([*lines[:-1], *more, '{"type":"run.end","seq":999}']) + "\n", "utf-8")
    html = _diff_html(_diff(str(long), str(long)))
    assert "<details>" in html
    assert all(html.count(f"word {n}&quot;") == 2 for n in range(40))


def test_text_of_recordings_is_inert_in_a_diff(tmp_path: Path) -> None:
    text = (SHOP / "bad.jsonl").read_text("utf-8").replace("Have a nice day!", json.dumps(HOSTILE)[1:-1])
    hostile = tmp_path / "bad.jsonl"
    hostile.write_text(text.replace('"amountCents"', json.dumps(HOSTILE)), "utf-8")
    html = _diff_html(_diff(str(SHOP / "good.jsonl"), str(hostile)))
    assert Page(html).active == ["href=data:,", "href=#main", "href=#first"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", html)


def _side(name: str, outcomes: dict[str, str], **more: float) -> Results:
    runs = tuple(
        Result(
            case=case,
            outcome=outcome,  # type: ignore[arg-type]
            findings=("RULE",) if outcome == "fail" else (),
            calls=7,
            **more,  # type: ignore[arg-type]
        )
        for case, outcome in outcomes.items()
    )
    return Results(name=name, runs=runs)


def _compare_html(*sides: Results, language: str = "en") -> str:
    return comparison_page.html(card(sides), sides, tool="outstep", language=language)


def test_a_comparison_shows_the_matrix_with_what_changed_first_and_trends() -> None:
    one = _side("old", {"a": "pass", "b": "pass", "c": "fail"}, cost=1.0)
    two = _side("new", {"a": "pass", "b": "fail", "d": "pass"}, cost=3.0)
    html = _compare_html(one, two)
    text = Page(html).text
    assert text.index("passed before") < text.index("cost, a run")
    for shown in ("gone", "RULE", "runs that pass", "1 → 3", "calls of tools, a run"):
        assert shown in text
    cases = re.findall(r'<th scope="row"><code>(\w)</code>', html)
    assert cases[:2] in (["b", "c"], ["c", "b"])
    assert html.count("<svg") == 2 + 4


def test_sides_that_are_not_alike_are_never_green() -> None:
    text = Page(_compare_html(_side("old", {"a": "pass"}), _side("new", {"b": "pass"}))).text
    assert "Not comparable with old" in text
    assert "Nothing stands worse" not in text


def test_one_side_alone_shows_no_trend() -> None:
    assert "One set of runs alone shows no trend." in Page(_compare_html(_side("only", {"a": "pass"}))).text


def test_names_of_cases_rules_and_files_are_inert_in_a_comparison() -> None:
    side = Results(
        name=HOSTILE, runs=(Result(case=HOSTILE, outcome="fail", findings=(HOSTILE,), metrics={HOSTILE: 1}),)
    )
    html = _compare_html(side, side)
    assert Page(html).active == ["href=data:,", "href=#main"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]", html)


def test_every_sentence_of_the_pages_has_its_chinese_with_the_same_values() -> None:
    for words in (diff_page.WORDS, comparison_page.WORDS):
        for key, (english, chinese) in words.items():
            assert chinese, key
            assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), key


def test_commands_write_pages_beside_what_they_print_and_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    trace = str(SHOP / "good.jsonl"), str(SHOP / "bad.jsonl")
    pages = []
    for seed in "12":
        file = tmp_path / f"diff-{seed}.html"
        done = outstep("diff", *trace, "--output", f"html={file}", PYTHONHASHSEED=seed)
        assert b"steps:" in done.stdout
        pages.append(file.read_bytes())
    assert pages[0] == pages[1]
    table = tmp_path / "a.json"
    table.write_text(json.dumps({"runs": [{"case": "a", "verdict": "pass"}]}), "utf-8")
    out = tmp_path / "compare.html"
    done = outstep("compare", str(table), "--output", f"html={out}", "--lang", "zh")
    assert done.returncode == 0
    assert "逐个用例" in out.read_text("utf-8")
    assert b"usage/arguments" in outstep("compare", str(table), "--output", "pdf=x").stderr
    assert b"usage/arguments" in outstep("compare", str(table), "--lang", "tlh").stderr


def test_a_score_card_of_containment_reports_has_no_page() -> None:
    saved = [str(ROOT / "tests/compare/saved" / f"{name}.json") for name in ("qwen", "deepseek")]
    done = outstep("compare", *saved, "--output", "html=x.html")
    assert done.returncode == 2
    assert b"has no page" in done.stderr

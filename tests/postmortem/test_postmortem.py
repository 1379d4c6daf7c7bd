"""Postmortems: what they hold, that what they suggest was tried, and that nothing in them acts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from outstep.contracts.loader import load
from outstep.render import postmortem
from outstep.render.postmortem import MOST_EVENTS, WORDS, Postmortem
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.contract_tests import run_text
from outstep.workflow.contracts import open_contract
from outstep.workflow.retelling import retell
from outstep.workflow.trace_files import open_traces
from tests.command_line import ROOT, outstep

SHOP = "tests/cli/shop/refund.yaml"
BAD = "tests/cli/shop/bad.jsonl"
RECORDINGS = ROOT / "tests/adapters/dsh/recordings"


def _told(path: str, contract: str = SHOP) -> Postmortem:
    return retell(path, open_contract(contract)[0], CheckOptions(), name=contract)[0]


RUNS = [
    (BAD, SHOP),
    ("tests/attribution/shop/hurried.jsonl", SHOP),
    *(
        (f"tests/adapters/dsh/recordings/{name}/events.jsonl", "examples/refund/dsh-refund.yaml")
        for name in (
            "pypi-0.1.2rc1/p_hook_denies",
            "pypi-0.2.1rc2/b_refund_before_identity",
            "pypi-0.1.0rc7/d_refund_fails_claims_success",
            "pypi-0.1.1rc1/c_duplicate_refund",
            "pypi-0.1.0rc7/h1_sigkill_mid_call",
            "pypi-0.1.5rc1/m_code_mode",
            "pypi-0.2.1rc2/i_subagent",
        )
    ),
    ("tests/adapters/dsh/recordings/pypi-0.1.2rc1/f2_sandbox_denied/events.jsonl", "coding-agent"),
]


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("path", "contract"), RUNS)
def test_the_rule_fires_lints_clean_and_the_case_comes_out_as_written(path: str, contract: str) -> None:
    told = _told(path, contract)
    assert told.case, told.no_case
    outcomes = run_text(told.case.encode(), "kept.cases.yaml")
    assert outcomes
    assert [one for one in outcomes if one.differences or one.problems] == []
    shown = {rule for one in outcomes[:1] for rule, _ in one.rulings}
    assert {finding.rule for finding, _ in told.findings} <= shown
    if told.suggested is not None:
        made, warnings = load(told.suggested.contract.encode(), name="added.yaml")
        assert not warnings
        opened = next(open_traces([path], CheckOptions()))
        report = check_groups([opened.group], [made], CheckOptions())
        fired = [one for one in report.findings if one.rule == made.rules[0].id or not one.contract_place]
        assert any(one.verdict == "violated" and one.event == told.suggested.event for one in report.findings), fired


def test_a_run_that_breaks_nothing_says_so_and_suggests_nothing() -> None:
    told = _told("tests/cli/shop/good.jsonl")
    assert told.suggested is None
    assert told.findings == ()
    text = postmortem.markdown(told)
    assert "No rule was broken, and none is undecided." in text
    assert "None of the plain forms" in text
    assert "findings: []" in told.case


def test_what_was_claimed_stands_beside_what_the_rules_say_of_it() -> None:
    (claim,) = _told(BAD).claims
    assert (claim.number, claim.claim, claim.sentence) == (6, "refunded", "Your refund for A1 was issued.")
    assert claim.verdicts == (("NO_FALSE_SUCCESS_CLAIM", "violated"),)


def test_a_long_run_shows_what_the_findings_name_and_counts_the_rest(tmp_path: Path) -> None:
    lines = (ROOT / BAD).read_text("utf-8").splitlines()
    more = [
        json.dumps({"type": "user.message", "seq": 100 + number, "text": f"and {number}"}) for number in range(3000)
    ]
    trace = tmp_path / "long.jsonl"
    trace.write_text("\n".join([*lines[:-1], *more, '{"type":"run.end","seq":9999}']) + "\n", "utf-8")
    told = _told(str(trace))
    text = postmortem.markdown(told)
    assert 'call refund.create(orderId="A1", amountCents=3500)' in text
    assert f"{len(told.timeline) - MOST_EVENTS:,} events are not shown here" in text
    assert len(told.case) < 3000


class _Page(HTMLParser):
    """What a browser would run or load of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.active: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what acts."""
        names = {name for name, _ in attrs}
        if tag in {"img", "iframe", "object", "embed", "video", "audio", "form"} or "src" in names or "href" in names:
            self.active += [str(value) for name, value in attrs if name in ("src", "href")] or [tag]
        self.active += [name for name in names if name.startswith("on")]


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> | `x` ``` \u202e \x1b[31m ]]> @team #1 {x}"


def test_text_of_a_recording_is_inert_in_every_form(tmp_path: Path) -> None:
    text = (ROOT / BAD).read_text("utf-8")
    text = text.replace("Have a nice day!", json.dumps(HOSTILE)[1:-1]).replace('"declined"', json.dumps(HOSTILE))
    trace = tmp_path / "t.jsonl"
    trace.write_text(text, "utf-8")
    told = _told(str(trace))
    html = postmortem.html(told)
    page = _Page()
    page.feed(html)
    assert page.active == ["data:,", "#main"]
    marked = postmortem.markdown(told)
    for shown in (html, marked):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert told.case
    fences = [line for line in marked.splitlines() if re.fullmatch("`{3,}(yaml)?", line)]
    assert len(fences) == 4


def test_a_page_is_one_file_in_either_language() -> None:
    told = _told(BAD)
    assert "发生了什么" in postmortem.html(told, "zh")
    assert "违反" in postmortem.markdown(told, "zh")
    assert 'lang="zh"' in postmortem.html(told, "zh")


def test_every_sentence_of_the_page_has_its_chinese_with_the_same_values() -> None:
    for key, (english, chinese) in WORDS.items():
        assert chinese, key
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), key


def test_equal_input_gives_equal_bytes() -> None:
    words = ("postmortem", BAD, "--contract", SHOP, "--output", "html=-")
    assert outstep(*words, PYTHONHASHSEED="1").stdout == outstep(*words, PYTHONHASHSEED="2").stdout


def test_bad_words_are_refused_with_the_next_step() -> None:
    assert b"usage/no-contract" in outstep("postmortem", BAD).stderr
    assert b"usage/several-traces" in outstep("postmortem", "tests/cli/shop", "-c", SHOP).stderr
    done = outstep("postmortem", BAD, "-c", SHOP, "--output", "pdf=x")
    assert done.returncode == 2
    assert b"`--output pdf` is not known" in done.stderr

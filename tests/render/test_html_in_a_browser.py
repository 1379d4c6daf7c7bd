"""The HTML report as a person meets it, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from outstep.errors import Place
from outstep.findings import TraceSummary, Witness
from outstep.render import html
from outstep.render.style import PLAIN, Style
from outstep.render.timelines import Step, Timeline
from tests.render.browser import Visit, needs_browser, started
from tests.render.reports import HOSTILE, TRAPS, finding, golden, large, report

pytestmark = needs_browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def refunds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on two traces, of which the first has a timeline."""
    witness = (
        Witness(seq=4, type="tool.call", quote='call refund(order="A1")', note="this call"),
        Witness(seq=2, type="tool.call", quote='call get(order="A1")', note="the order"),
    )
    late = finding(rule="LATE", message="verified too late", seq=4, event=4, witness=witness, fingerprint="ab" * 16)
    twice = finding(rule="TWICE", message="refunded twice", seq=6, event=6, values=("2 > 1",), fingerprint="cd" * 16)
    unknown = finding(
        rule="TOLD",
        level="warn",
        verdict="inconclusive",
        reason="hidden-evidence",
        message="cannot be told",
        missing=("`refund`: a gap may hide it",),
        trace="t2",
        contract="other",
        waived="ops: known",
        fingerprint="ef" * 16,
    )
    kinds = ("user.message", "tool.call", "tool.result", "tool.call", "gap", "tool.call")
    steps = [
        Step(
            index=at,
            seq=at,
            type=kind,
            agent="main",
            turn=at // 2,
            tool="refund",
            text=f"refund step {at}",
            place=Place(source="s.jsonl", line=at + 1),
            record=f'{{"raw": {at}}}',
            outcome="ok" if kind == "tool.result" else "",
            answers=2 if kind == "tool.result" else None,
            is_open=at == 6,
        )
        for at, kind in enumerate(kinds, 1)
    ]
    whole = report(
        late,
        twice,
        unknown,
        traces=(TraceSummary(id="t1", sources=("s.jsonl",), events=9, calls=3), TraceSummary(id="t2", events=2)),
    )
    file = tmp_path_factory.mktemp("html") / "refunds.html"
    file.write_text(html.render(whole, PLAIN, (Timeline(trace=0, steps=tuple(steps)),)), "utf-8")
    return file


@pytest.fixture
def visit(browser: Any, refunds: Path) -> Iterator[Visit]:
    met = Visit(browser, refunds)
    yield met
    assert met.is_clean(), (met.said, met.asked)
    met.context.close()


def test_the_first_finding_is_open_and_its_events_are_marked(visit: Visit) -> None:
    assert visit.texts(".finding.open .rule") == ["LATE"]
    marked = visit.page.locator(".step.witness")
    assert marked.count() == 2
    assert visit.page.locator(".step.offending").get_attribute("data-seq") == "4"
    assert sorted(visit.texts(".note")) == ["the order", "this call"]
    assert visit.texts(".left-out") == ["3 events are not in this page"]


def test_an_event_leads_to_its_finding_and_back(visit: Visit) -> None:
    visit.page.click('[data-seq="6"] .flag')
    assert visit.texts(".finding.open .rule") == ["TWICE"]
    visit.page.click(".finding.open .to-event")
    assert visit.focused() == "step-row"
    visit.page.keyboard.press("Escape")
    assert visit.focused() == "pick"


def test_an_event_unfolds_to_its_raw_record(visit: Visit) -> None:
    visit.page.click('[data-seq="3"] .step-row')
    assert visit.texts(".record") == ['{"raw": 3}']
    assert "s.jsonl:4" in visit.texts(".whole")[0]
    visit.page.click('[data-seq="3"] .step-row')
    assert visit.texts(".record") == []


def test_the_keyboard_is_enough(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("j")
    assert visit.texts(".finding.open .rule") == ["TWICE"]
    page.keyboard.press("j")
    assert visit.texts(".finding.open .rule") == ["TOLD"]
    assert visit.texts(".about h2") == ["t2"]
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    assert visit.focused() == "step-row"
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert visit.focused() == "search"
    page.keyboard.type("too late")
    visit.has(".finding", 1)
    page.keyboard.press("Escape")
    visit.has(".finding", 3)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


@pytest.mark.parametrize(
    ("field", "choice", "left"),
    [
        ("verdict", "inconclusive", ["TOLD"]),
        ("level", "block", ["LATE", "TWICE"]),
        ("rule", "TWICE", ["TWICE"]),
        ("contract", "other", ["TOLD"]),
        ("waived", "no", ["LATE", "TWICE"]),
    ],
)
def test_findings_are_filtered(visit: Visit, field: str, choice: str, left: list[str]) -> None:
    labels = {"waived": "waived"}
    visit.page.select_option(f'select[aria-label="{labels.get(field, field)}"]', choice)
    assert visit.texts(".finding .rule") == left
    visit.page.click(".clear")
    assert len(visit.texts(".finding .rule")) == 3


def test_findings_of_one_trace_or_rule_are_one_click_away(visit: Visit) -> None:
    visit.page.click("#tab-traces")
    visit.page.click("#trace-rows button.badge.inconclusive")
    assert visit.texts(".finding .rule") == ["TOLD"]
    visit.page.fill(".in-trace", "t1")
    visit.has(".finding", 2)


def test_a_link_with_a_fingerprint_opens_its_finding(browser: Any, refunds: Path) -> None:
    met = Visit(browser, refunds)
    met.page.goto(f"{refunds.as_uri()}#cdcdcd")
    met.page.reload()
    assert met.texts(".finding.open .rule") == ["TWICE"]
    met.context.close()


def test_dark_and_light_follow_the_system_until_someone_chooses(browser: Any, refunds: Path) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        met = Visit(browser, refunds, color_scheme=scheme)
        read = "getComputedStyle(document.documentElement).backgroundColor"
        before = met.page.evaluate(read)
        met.page.click("#theme")
        grounds[scheme] = (before, met.page.evaluate(read))
        met.page.reload()
        assert met.page.evaluate(read) == grounds[scheme][1]
        met.context.close()
    assert grounds["light"] == tuple(reversed(grounds["dark"]))
    assert grounds["light"][0] != grounds["light"][1]


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (node) => {
    for (let at = node; at !== null; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== '')) continue;
    const style = getComputedStyle(node);
    if (node.closest('script, style, [hidden]') || node.getClientRects().length === 0) continue;
    const [one, other] = [light(parse(style.color)), light(ground(node))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) poor.push(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_against_its_ground(browser: Any, refunds: Path, scheme: str) -> None:
    met = Visit(browser, refunds, color_scheme=scheme)
    met.page.click('[data-seq="3"] .step-row')
    assert met.page.evaluate(CONTRAST) == []
    met.context.close()


def test_every_control_has_a_name(visit: Visit) -> None:
    nameless = """[...document.querySelectorAll('button, input, select')].filter((node) =>
      !(node.getAttribute('aria-label') || node.textContent.trim() || node.title)).length"""
    assert visit.page.evaluate(nameless) == 0
    assert visit.page.locator("[role=tab][aria-selected=true]").count() == 1


def test_hostile_texts_are_shown_and_do_nothing(browser: Any, tmp_path: Path) -> None:
    step = Step(
        index=1, seq=4, type=HOSTILE, agent=HOSTILE, tool=HOSTILE, text=TRAPS[1], record=TRAPS[4], call_id=HOSTILE
    )
    file = tmp_path / "golden.html"
    for language in ("en", "zh"):
        made = html.render(
            golden(), Style(language=language), (Timeline(trace=0, steps=(step,), lanes={HOSTILE: "x"}),)
        )
        file.write_text(made, "utf-8", "backslashreplace")
        met = Visit(browser, file)
        for _ in TRAPS:
            met.page.keyboard.press("j")
        met.page.click(".step-row >> nth=0")
        assert met.page.locator("img, iframe, .finding script").count() == 0
        assert TRAPS[1] in met.texts(".finding .message bdi")
        assert "退款已完成。您好！" in met.texts(".finding .message bdi")
        assert met.is_clean(), (met.said, met.asked)
        met.context.close()


def test_without_a_script_the_page_says_what_matters(browser: Any, refunds: Path) -> None:
    met = Visit(browser, refunds, java_script_enabled=False)
    assert met.texts("h1") == ["Outstep Blocked"]
    assert met.page.locator(".finding").count() == 3
    assert met.page.locator("#rules table").is_visible()
    met.context.close()


def test_on_a_narrow_screen_the_timeline_opens_over_the_list(browser: Any, refunds: Path) -> None:
    met = Visit(browser, refunds, viewport={"width": 390, "height": 800})
    assert not met.page.locator("#detail").is_visible()
    met.page.click(".finding.open .to-event >> nth=0")
    assert met.page.locator("#detail").is_visible()
    assert met.page.evaluate("document.documentElement.scrollWidth") <= 390
    met.page.click(".back")
    assert not met.page.locator("#detail").is_visible()
    met.context.close()


def test_on_paper_every_finding_is_open(browser: Any, refunds: Path) -> None:
    met = Visit(browser, refunds)
    met.page.emulate_media(media="print")
    met.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert met.page.locator("dl.proof").count() == 3
    assert not met.page.locator("#filter").is_visible()
    met.context.close()


def test_a_large_report_opens_at_once_and_stays_quick(browser: Any, tmp_path: Path) -> None:
    # A fifth of what `make bench ROWS=report` opens within the same time.
    file = tmp_path / "large.html"
    file.write_text(html.render(large(2_000, 10), PLAIN), "utf-8")
    start = time.monotonic()
    met = Visit(browser, file)
    met.has(".finding.open", 1)
    assert time.monotonic() - start < 3
    assert met.page.locator("body *").count() < 5_000
    start = time.monotonic()
    met.page.fill(".search", "ORD-19999")
    met.has(".finding", 1)
    met.page.click(".clear")
    met.page.click(".next >> visible=true")
    met.page.keyboard.press("j")
    assert met.texts(".finding.open .message bdi")[0].startswith("the amount of refund")
    assert time.monotonic() - start < 3
    assert met.is_clean(), (met.said, met.asked)
    met.context.close()

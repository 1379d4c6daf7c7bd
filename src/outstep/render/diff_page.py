"""Two runs side by side as one self-contained page: aligned steps, the first divergence, values by value, rules.

docs: docs/compare.md#two-traces
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.findings import Finding, Level, Verdict
from outstep.render.diff import MOST_DIFFERENCES, step_text
from outstep.render.escape import shown
from outstep.render.page import in_words, page, say, text
from outstep.render.page.words import Words
from outstep.render.wording import where

if TYPE_CHECKING:
    from outstep.compare.alignment import Pair
    from outstep.compare.steps import Step
    from outstep.compare.values import Difference

MOST_ROWS = 5000
"""Steps that are shown; what is left out is counted."""
LONGEST_STEP = 600
FOLDED_FROM = 5
"""Steps in a row that are the same from which on they are folded."""
AROUND = 2

WORDS: Words = {
    "title": ("{before} against {after}", "{before} 与 {after} 的对比"),
    "before": ("before", "之前"),
    "after": ("after", "之后"),
    "same": ("same", "相同"),
    "changed": ("changed", "改变"),
    "moved": ("moved", "移动"),
    "added": ("added", "新增"),
    "removed": ("removed", "移除"),
    "nothing": ("Both runs did and got the same.", "两次运行的行为与结果相同。"),
    "first": ("First divergence", "首个分歧"),
    "rules": ("Rules that stand otherwise", "判定有变化的规则"),
    "no-rules": ("No rule stands otherwise.", "没有规则的判定发生变化。"),
    "worse": (
        "{n} rule that blocks stands worse|{n} rules that block stand worse",
        "{n} 条阻断规则变差",
    ),
    "not-worse": ("No rule that blocks stands worse", "没有阻断规则变差"),
    "steps": ("Steps", "步骤"),
    "folded": ("{n} step is the same|{n} steps are the same", "{n} 个步骤相同"),
    "left-out": ("{n} step is not shown|{n} steps are not shown", "另有 {n} 个步骤未显示"),
    "said": ("said", "说法"),
    "got": ("got", "结果"),
    "whole": ("all of it", "全部"),
    "new": ("new", "新增"),
    "gone": ("gone", "消失"),
    "more": ("… and {n} more difference|… and {n} more differences", "…… 另有 {n} 处差异"),
    "satisfied": ("satisfied", "满足"),
    "violated": ("violated", "违反"),
    "inconclusive": ("inconclusive", "无法判定"),
    "vacuous": ("never exercised", "未触发"),
    "theme": ("Dark or light", "深色或浅色"),
    "rule": ("rule", "规则"),
    "level": ("level", "级别"),
    "why": ("findings", "发现"),
}


class Changed(Struct, frozen=True, kw_only=True):
    """A rule whose verdict differs between the two runs."""

    rule: str
    level: Level
    before: Verdict
    after: Verdict
    is_worse: bool
    findings: tuple[Finding, ...] = ()


def html(
    before: str,
    after: str,
    pairs: Sequence[Pair],
    changed: Sequence[Changed],
    *,
    tool: str,
    language: str = "en",
) -> str:
    """Return the page."""
    words = in_words(WORDS, language)
    parts = [*_head(before, after, pairs, changed, words), *_rules(changed, words), *_steps(pairs, words)]
    title = say(words, "title", before=before, after=after)
    theme = f'<button id="theme" class="icon" type="button" hidden title="{text(words["theme"])}">◐</button>'
    bar = f'<header class="bar"><strong>Outstep diff</strong><span class="room"></span>{theme}</header>'
    body = f'{bar}\n<main id="main" class="diff">\n{"".join(parts)}</main>'
    return page(title, body, language=language, tool=tool, style=STYLE, words=WORDS)


def _head(
    before: str, after: str, pairs: Sequence[Pair], changed: Sequence[Changed], words: dict[str, str]
) -> Iterator[str]:
    yield f"<h1>{text(say(words, 'title', before=before, after=after))}</h1>\n"
    counts = {way: sum(pair.way == way for pair in pairs) for way in ("same", "changed", "moved", "added", "removed")}
    told = "".join(
        f'<span class="badge {_WAYS[way]}">{number} {text(words[way])}</span> '
        for way, number in counts.items()
        if number
    )
    worse = sum(one.is_worse for one in changed)
    verdict = say(words, "worse", n=worse) if worse else words["not-worse"]
    yield f'<p><span class="badge {"red" if worse else "green"}">{text(verdict)}</span> {told}</p>\n'
    first = next((pair for pair in pairs if pair.way != "same"), None)
    if first is None:
        yield f"<p>{text(words['nothing'])}</p>\n"
        return
    step = first.after if first.after is not None else first.before
    assert step is not None
    yield (
        f'<p class="first">{text(words["first"])}: <a href="#first"><code>'
        f"{text(shown(step_text(step), 160))}</code></a></p>\n"
    )


_WAYS = {"same": "", "changed": "amber", "moved": "", "added": "green", "removed": "red"}


def _rules(changed: Sequence[Changed], words: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{text(words['rules'])}</h2>\n"
    if not changed:
        yield f"<p>{text(words['no-rules'])}</p>\n"
        return
    head = "".join(f'<th scope="col">{text(words[key])}</th>' for key in ("rule", "level", "before", "after", "why"))
    yield f'<div class="scroll"><table class="card"><thead><tr>{head}</tr></thead><tbody>\n'
    for one in changed:
        told = "<br>".join(
            f'{text(finding.message)} <span class="soft">({text(where(finding, names_trace=False))})</span>'
            for finding in one.findings[:MOST_DIFFERENCES]
        )
        yield (
            f"<tr><td><code>{text(one.rule)}</code></td><td>{one.level}</td>"
            f"<td>{_badge(one.before, words)}</td><td>{_badge(one.after, words)}</td><td>{told}</td></tr>\n"
        )
    yield "</tbody></table></div>\n"


def _badge(verdict: Verdict, words: dict[str, str]) -> str:
    return f'<span class="badge {verdict}">{text(words[verdict])}</span>'


def _steps(pairs: Sequence[Pair], words: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{text(words['steps'])}</h2>\n"
    yield (
        '<div class="side head" aria-hidden="true">'
        f"<span>{text(words['before'])}</span><span></span><span>{text(words['after'])}</span></div>\n"
    )
    is_first = True
    left = MOST_ROWS
    skipped = 0
    for is_same, some in groupby(pairs, lambda pair: pair.way == "same"):
        group = list(some)
        kept = group[: max(0, left)]
        left -= len(kept)
        skipped += len(group) - len(kept)
        if not is_same:
            for pair in kept:
                yield _row(pair, words, id=' id="first"' if is_first else "")
                is_first = False
            continue
        inner = kept[AROUND:-AROUND] if len(kept) > 2 * AROUND + FOLDED_FROM else []
        edge = AROUND if inner else len(kept)
        yield from (_row(pair, words) for pair in kept[:edge])
        if inner:
            yield f'<details><summary class="soft">{text(say(words, "folded", n=len(inner)))}</summary>\n'
            yield from (_row(pair, words) for pair in inner)
            yield "</details>\n"
            yield from (_row(pair, words) for pair in kept[-AROUND:])
    if skipped:
        yield f'<p class="soft">{text(say(words, "left-out", n=skipped))}</p>\n'


def _row(pair: Pair, words: dict[str, str], id: str = "") -> str:
    way = f'<span class="way">{text(words[pair.way]) if pair.way != "same" else ""}</span>'
    line = f'<div class="side {pair.way}"{id}>{_step(pair.before)}{way}{_step(pair.after)}</div>\n'
    told = [*_values("said", pair.said, words), *_values("got", pair.answered, words)]
    return line + (f'<div class="values">{"".join(told)}</div>\n' if told else "")


def _step(step: Step | None) -> str:
    if step is None:
        return '<span class="none"></span>'
    told = shown(step_text(step), LONGEST_STEP)
    return f'<span class="step"><span class="number">{step.number}</span><code>{text(told)}</code></span>'


def _values(label: str, some: Sequence[Difference], words: dict[str, str]) -> Iterator[str]:
    for one in some[:MOST_DIFFERENCES]:
        before = words["new"] if one.before is None else shown(one.before, LONGEST_STEP)
        after = words["gone"] if one.after is None else shown(one.after, LONGEST_STEP)
        was = f'<span class="soft">{text(before)}</span>' if one.before is None else f"<del>{text(before)}</del>"
        now = f'<span class="soft">{text(after)}</span>' if one.after is None else f"<ins>{text(after)}</ins>"
        path = text(one.path or words["whole"])
        yield (
            f'<div class="value"><span class="soft">{text(words[label])}</span> <code>{path}</code>'
            f"<code>{was}</code><code>{now}</code></div>"
        )
    if len(some) > MOST_DIFFERENCES:
        yield f'<div class="value soft">{text(say(words, "more", n=len(some) - MOST_DIFFERENCES))}</div>'


STYLE = """
.diff { max-width: 100rem; margin: 0 auto; padding: 1.2rem; }
.diff h1 { overflow-wrap: anywhere; }
.diff h2 { margin: 1.6rem 0 .6rem; }
.diff p { margin: .5rem 0; }
.diff .scroll { overflow-x: auto; }
.diff table { width: 100%; }
.side { display: grid; grid-template-columns: minmax(0, 1fr) 5.2rem minmax(0, 1fr); gap: .4rem; padding: .22rem .5rem;
  border-bottom: 1px solid var(--line); background: var(--surface); scroll-margin-top: 4rem; }
.side.head { background: none; font-weight: 600; color: var(--soft); font-size: .85rem; }
.side .step { display: grid; grid-template-columns: 2.6rem minmax(0, 1fr); }
.side .number { color: var(--soft); font-size: .8rem; text-align: end; padding-inline-end: .6rem; }
.side .way { font-size: .78rem; text-align: center; font-weight: 600; }
.side.changed { background: var(--amber-ground); } .side.changed .way { color: var(--amber); }
.side.added { background: var(--green-ground); } .side.added .way { color: var(--green); }
.side.removed { background: var(--red-ground); } .side.removed .way { color: var(--red); }
.side.moved { background: var(--raised); } .side.moved .way { color: var(--accent); }
.side .none { background: repeating-linear-gradient(135deg, transparent 0 6px, var(--line) 6px 7px); }
.diff td:first-child { white-space: nowrap; }
.side:target { outline: 2px solid var(--accent); }
.values { background: var(--surface); border-bottom: 1px solid var(--line); padding: .25rem .5rem .35rem 3.2rem; }
.value { display: grid; grid-template-columns: 3rem minmax(6rem, 12rem) minmax(0, 1fr) minmax(0, 1fr); gap: .5rem; }
.value del { color: var(--red); text-decoration: none; } .value del::before { content: "− "; }
.value ins { color: var(--green); text-decoration: none; } .value ins::before { content: "+ "; }
details summary { cursor: pointer; padding: .3rem .6rem; }
@media (max-width: 46rem) {
  .side { grid-template-columns: 1fr; } .side .none { display: none; } .side .way { text-align: start; }
  .value { grid-template-columns: 1fr; } .values { padding-inline-start: .8rem; }
}
"""

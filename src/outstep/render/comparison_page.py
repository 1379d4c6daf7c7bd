"""Results side by side as one self-contained page: scores, the matrix of cases and rules by version, trends.

docs: docs/compare.md#as-a-page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from outstep.render.comparison import paired_lines, score_head, score_rows, version_head, version_rows
from outstep.render.escape import shown
from outstep.render.page import in_words, page, say, text
from outstep.render.page.words import Words
from outstep.render.style import Style

if TYPE_CHECKING:
    from outstep.compare.cards import Card
    from outstep.compare.results import Result, Results
    from outstep.compare.scores import Score
    from outstep.compare.transitions import Comparison, Transition

MOST_CASES = 2000
"""Rows of the matrix; those that changed come first, and what is left out is counted."""
MOST_RULES = 40
LONGEST_NAME = 90

WORDS: Words = {
    "title": ("{n} set of runs|{n} sets of runs side by side", "{n} 组运行的对比"),
    "scores": ("How often runs pass", "通过率"),
    "worse": (
        "{n} case stands worse than in {before}|{n} cases stand worse than in {before}",
        "{n} 个用例比 {before} 差",
    ),
    "not-worse": ("Nothing stands worse than in {before}", "没有用例比 {before} 差"),
    "passes-less": ("Runs pass less often than in {before}, over all cases", "总体上通过的运行比 {before} 少"),
    "not-comparable": ("Not comparable with {before}: {why}", "无法与 {before} 比较：{why}"),
    "versions": ("What acted", "行动者的版本"),
    "cases": ("Case by case", "逐个用例"),
    "rules": ("Rule by rule", "逐条规则"),
    "rules-say": ("Runs in which the rule stands against the run.", "规则判定不利于该次运行的次数。"),
    "no-rules": ("No rule stands against any run.", "没有规则判定不利于任何运行。"),
    "trends": ("Trends", "趋势"),
    "trends-say": ("In the order in which the sides were given.", "按给出各组的顺序排列。"),
    "case": ("case", "用例"),
    "rule": ("rule", "规则"),
    "left-out": (
        "{n} more case, the same on every side|{n} more cases, most of them the same on every side",
        "另有 {n} 个用例，大多各组相同",
    ),
    "pass": ("pass", "通过"),
    "fail": ("fail", "失败"),
    "inconclusive": ("inconclusive", "无法判定"),
    "not_run": ("not run", "未运行"),
    "error": ("error", "出错"),
    "gone": ("gone", "消失"),
    "pass→fail": ("passed before", "之前通过"),
    "fail for a new reason": ("new reason", "新原因"),
    "became inconclusive": ("decided before", "之前可判定"),
    "passes less often": ("passes less often", "通过次数减少"),
    "new finding": ("new finding", "新发现"),
    "new, fails": ("new", "新增"),
    "became vacuous": ("no longer exercised", "不再触发"),
    "new": ("new", "新增"),
    "decided": ("decided now", "现可判定"),
    "fail→pass": ("failed before", "之前失败"),
    "rate": ("runs that pass", "通过的运行"),
    "violations": ("violations of {rule}, a run", "每次运行违反 {rule}"),
    "calls": ("calls of tools, a run", "每次运行的工具调用"),
    "cost": ("cost, a run", "每次运行的费用"),
    "latency": ("seconds, a run", "每次运行的秒数"),
    "metric": ("{name}, a run", "每次运行的 {name}"),
    "one-side": ("One set of runs alone shows no trend.", "仅有一组运行，没有趋势。"),
    "theme": ("Dark or light", "深色或浅色"),
}


def html(card: Card, sides: Sequence[Results], *, tool: str, language: str = "en") -> str:
    """Return the page; `sides` are those that the card is about, in its order."""
    words = in_words(WORDS, language)
    style = Style(language=language)
    parts = [
        f"<h1>{text(say(words, 'title', n=len(sides)))}</h1>\n",
        *_verdicts(card, words, style),
        *_scores(card, words, style),
        *_versions(card, words, style),
        *_cases(card, sides, words),
        *_rules(sides, words),
        *_trends(sides, words),
    ]
    theme = f'<button id="theme" class="icon" type="button" hidden title="{text(words["theme"])}">◐</button>'
    bar = f'<header class="bar"><strong>Outstep compare</strong><span class="room"></span>{theme}</header>'
    body = f'{bar}\n<main id="main" class="compare">\n{"".join(parts)}</main>'
    title = say(words, "title", n=len(sides))
    return page(title, body, language=language, tool=tool, style=STYLE, words=WORDS)


def _verdicts(card: Card, words: dict[str, str], style: Style) -> Iterator[str]:
    for one in card.comparisons:
        name = f"<code>{text(shown(one.after, LONGEST_NAME))}</code>"
        for obstacle in one.obstacles:
            why = say(words, "not-comparable", before=one.before, why=style.say(obstacle))
            yield f'<p>{name} <span class="badge red">{text(why)}</span></p>\n'
        if not one.obstacles:
            worse = sum(transition.is_worse for transition in one.transitions)
            kind = "worse" if worse else "passes-less" if one.passes_less else "not-worse"
            told = say(words, kind, n=worse, before=one.before)
            yield f'<p>{name} <span class="badge {"red" if one.exit_code else "green"}">{text(told)}</span></p>\n'
        yield from (f'<p class="soft">{text(style.say(note))}</p>\n' for note in one.notes)


def _scores(card: Card, words: dict[str, str], style: Style) -> Iterator[str]:
    yield f"<h2>{text(words['scores'])}</h2>\n"
    head = "".join(f'<th scope="col">{text(cell)}</th>' for cell in (*score_head(card, style), ""))
    yield f'<div class="scroll"><table class="card"><thead><tr>{head}</tr></thead><tbody>\n'
    for one, row in zip(card.scores, score_rows(card, style), strict=True):
        cells = "".join(f"<td>{text(shown(cell, LONGEST_NAME))}</td>" for cell in row)
        yield f"<tr>{cells}<td>{_interval(one)}</td></tr>\n"
    yield "</tbody></table></div>\n"
    yield from (f'<p class="soft">{text(line)}</p>\n' for line in paired_lines(card, style))


def _versions(card: Card, words: dict[str, str], style: Style) -> Iterator[str]:
    if not card.versions:
        return
    yield f"<h2>{text(words['versions'])}</h2>\n"
    head = "".join(f'<th scope="col">{text(cell)}</th>' for cell in (*version_head(card, style), ""))
    yield f'<div class="scroll"><table class="card"><thead><tr>{head}</tr></thead><tbody>\n'
    for one, row in zip(card.versions, version_rows(card, style), strict=True):
        cells = "".join(f"<td>{text(shown(cell, LONGEST_NAME))}</td>" for cell in row)
        yield f"<tr>{cells}<td>{_interval(one.score)}</td></tr>\n"
    yield "</tbody></table></div>\n"


def _interval(one: Score) -> str:
    """Return the rate with its interval, drawn."""
    if one.rate is None:
        return ""
    low, high, rate = (f"{4 + 152 * value:.1f}" for value in (one.low, one.high, one.rate))
    label = f"{one.rate:.1%}, {one.low:.1%} – {one.high:.1%}"
    return (
        f'<svg class="interval" viewBox="0 0 160 16" role="img" aria-label="{text(label)}">'
        f'<path class="axis" d="M4 8H156"/><path class="range" d="M{low} 8H{high}"/>'
        f'<circle class="dot" cx="{rate}" cy="8" r="4"/></svg>'
    )


def _cases(card: Card, sides: Sequence[Results], words: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{text(words['cases'])}</h2>\n"
    by_side = [_grouped(side) for side in sides]
    names = list(dict.fromkeys(case for runs in by_side for case in runs))
    # What changed anywhere comes first; else the order is that of the runs.
    changes = [_by_case(comparison) for comparison in card.comparisons]
    names.sort(key=lambda name: _rank([one for own in changes for one in own.get(name, ())]))
    head = "".join(
        f'<th scope="col">{text(shown(name, LONGEST_NAME))}</th>' for name in (words["case"], *(s.name for s in sides))
    )
    yield f'<div class="scroll"><table class="card matrix"><thead><tr>{head}</tr></thead><tbody>\n'
    for name in names[:MOST_CASES]:
        cells = []
        for number, runs in enumerate(by_side):
            transition = _transition(changes[number - 1].get(name, ())) if number else None
            cells.append(_cell(runs.get(name, []), transition, words))
        yield f'<tr><th scope="row"><code>{text(shown(name, LONGEST_NAME))}</code></th>{"".join(cells)}</tr>\n'
    yield "</tbody></table></div>\n"
    if len(names) > MOST_CASES:
        yield f'<p class="soft">{text(say(words, "left-out", n=len(names) - MOST_CASES))}</p>\n'


def _grouped(side: Results) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for run in side.runs:
        found.setdefault(run.case, []).append(run)
    return found


def _by_case(comparison: Comparison) -> dict[str, list[Transition]]:
    found: dict[str, list[Transition]] = {}
    for one in comparison.transitions:
        found.setdefault(one.case, []).append(one)
    return found


def _rank(own: Sequence[Transition]) -> int:
    if any(one.is_worse for one in own):
        return 0
    return 1 if any(one.change not in ("same", "still fails") for one in own) else 2


def _transition(own: Sequence[Transition]) -> Transition | None:
    return next((one for one in own if one.is_worse), own[0] if own else None)


_ORDER = ("error", "not_run", "fail", "inconclusive", "pass")
_COLOURS = {"pass": "green", "fail": "red", "error": "red", "inconclusive": "amber", "not_run": "amber"}


def _cell(runs: Sequence[Result], transition: Transition | None, words: dict[str, str]) -> str:
    if not runs:
        mark = ' class="worse"' if transition is not None and transition.is_worse else ""
        return f'<td{mark}><span class="badge">{text(words["gone"])}</span></td>' if mark else "<td></td>"
    outcomes = [run.outcome for run in runs]
    worst = next(outcome for outcome in _ORDER if outcome in outcomes)
    passes = outcomes.count("pass")
    count = f" {passes}/{len(runs)}" if len(runs) > 1 else ""
    told = f'<span class="badge {_COLOURS[worst]}">{text(words[worst])}{count}</span>'
    if transition is not None and transition.change in words:
        told += f' <span class="change">{text(words[transition.change])}</span>'
    rules = list(dict.fromkeys(rule for run in runs for rule in run.findings))
    if rules:
        more = f" +{len(rules) - 4}" if len(rules) > 4 else ""
        told += f'<div class="soft rules">{text(shown(", ".join(rules[:4]), 200))}{more}</div>'
    return f'<td class="worse">{told}</td>' if transition is not None and transition.is_worse else f"<td>{told}</td>"


def _rules(sides: Sequence[Results], words: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{text(words['rules'])}</h2>\n"
    rules = _standing(sides)
    if not rules:
        yield f"<p>{text(words['no-rules'])}</p>\n"
        return
    yield f'<p class="soft">{text(words["rules-say"])}</p>\n'
    names = (words["rule"], *(side.name for side in sides))
    head = "".join(f'<th scope="col">{text(shown(name, LONGEST_NAME))}</th>' for name in names)
    yield f'<div class="scroll"><table class="card"><thead><tr>{head}</tr></thead><tbody>\n'
    for rule in rules[:MOST_RULES]:
        cells = []
        for side in sides:
            count = sum(rule in run.findings for run in side.runs)
            mark = f'<span class="badge {"red" if count else "green"}">{count}</span>'
            cells.append(f"<td>{mark} / {len(side.runs)}</td>")
        yield f'<tr><th scope="row"><code>{text(shown(rule, LONGEST_NAME))}</code></th>{"".join(cells)}</tr>\n'
    yield "</tbody></table></div>\n"
    if len(rules) > MOST_RULES:
        yield f'<p class="soft">… +{len(rules) - MOST_RULES}</p>\n'


def _standing(sides: Sequence[Results]) -> list[str]:
    """Return the rules that stand against a run, those of most runs first."""
    counts: dict[str, int] = {}
    for side in sides:
        for run in side.runs:
            for rule in run.findings:
                counts[rule] = counts.get(rule, 0) + 1
    return sorted(counts, key=lambda rule: (-counts[rule], rule))


def _trends(sides: Sequence[Results], words: dict[str, str]) -> Iterator[str]:
    yield f"<h2>{text(words['trends'])}</h2>\n"
    if len(sides) < 2:
        yield f"<p>{text(words['one-side'])}</p>\n"
        return
    yield f'<p class="soft">{text(words["trends-say"])}</p>\n<div class="charts">\n'
    names = [side.name for side in sides]
    yield _chart(words["rate"], names, [_mean(side, _passes) for side in sides], top=1.0)
    for rule in _standing(sides)[:8]:
        title = say(words, "violations", rule=rule)
        yield _chart(title, names, [_mean(side, _breaks(rule)) for side in sides])
    for key, of in _MEASURES.items():
        yield _chart(words[key], names, [_mean(side, of) for side in sides])
    metrics = sorted({name for side in sides for run in side.runs for name in run.metrics})
    for name in metrics[:8]:
        yield _chart(say(words, "metric", name=name), names, [_mean(side, _score(name)) for side in sides])
    yield "</div>\n"


Of = Callable[["Result"], float | None]


def _passes(run: Result) -> float | None:
    return float(run.outcome == "pass") if run.outcome in ("pass", "fail", "inconclusive") else None


def _breaks(rule: str) -> Of:
    return lambda run: float(rule in run.findings)


def _score(name: str) -> Of:
    return lambda run: run.metrics.get(name)


_MEASURES: dict[str, Of] = {
    "calls": lambda run: None if run.calls is None else float(run.calls),
    "cost": lambda run: run.cost,
    "latency": lambda run: run.latency,
}


def _mean(side: Results, of: Of) -> float | None:
    values = [value for run in side.runs if (value := of(run)) is not None]
    return sum(values) / len(values) if values else None


def _chart(title: str, names: Sequence[str], values: Sequence[float | None], top: float | None = None) -> str:
    """Return a small line over the sides; nothing where no side has a value."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    most = top if top is not None else max(*known, 0.0) or 1.0
    least = min(*known, 0.0)
    width, height, edge = 280.0, 84.0, 10.0
    step = (width - 2 * edge) / max(1, len(values) - 1)
    points = [
        (
            edge + step * place,
            height - edge - (height - 2 * edge) * (value - least) / ((most - least) or 1.0),
            value,
            name,
        )
        for place, (name, value) in enumerate(zip(names, values, strict=True))
        if value is not None
    ]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _, _ in points)
    dots = "".join(
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{text(name)}: {_number(value)}</title></circle>'
        for x, y, value, name in points
    )
    told = " → ".join("–" if value is None else _number(value) for value in values)
    label = text(f"{title}: {told}")
    return (
        f'<figure class="card chart"><figcaption>{text(shown(title, 80))}</figcaption>'
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}">'
        f'<path class="axis" d="M{edge} {height - edge}H{width - edge}"/><path class="line" d="{line}"/>{dots}</svg>'
        f'<div class="soft">{text(shown(told, 200))}</div></figure>\n'
    )


def _number(value: float) -> str:
    return f"{value:.4g}"


STYLE = """
.compare { max-width: 100rem; margin: 0 auto; padding: 1.2rem; }
.compare h2 { margin: 1.8rem 0 .6rem; }
.compare p { margin: .4rem 0; overflow-wrap: anywhere; }
.compare .badge { white-space: normal; }
.compare .scroll { overflow-x: auto; }
.compare thead th { position: sticky; top: 0; background: var(--surface); overflow-wrap: anywhere; }
.compare tbody th { font-weight: 400; color: var(--ink); }
.matrix td.worse { box-shadow: inset 3px 0 0 var(--red); }
.matrix .change { font-size: .8rem; font-weight: 600; }
.matrix .rules { font-size: .78rem; overflow-wrap: anywhere; }
.interval { width: 10rem; height: 1rem; display: block; }
.axis { stroke: var(--line); stroke-width: 1.5; fill: none; }
.range { stroke: var(--accent); stroke-width: 4; opacity: .45; fill: none; }
.line { stroke: var(--accent); stroke-width: 2; fill: none; }
.dot { fill: var(--accent); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: .8rem; }
.chart { margin: 0; padding: .7rem .9rem; }
.chart figcaption { font-weight: 600; font-size: .88rem; overflow-wrap: anywhere; }
.chart svg { width: 100%; height: auto; display: block; }
"""

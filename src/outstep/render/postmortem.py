"""What happened in one run, told from its record: as Markdown or as a page (docs/postmortem.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.findings import Finding, Level, Verdict
from outstep.render.attribution import basis_text, ruled_out_text
from outstep.render.blocks import Block, Code, Heading, Items, Sentence, Table, to_html, to_markdown
from outstep.render.page import in_words, page, say, text
from outstep.render.page.words import Words
from outstep.render.style import Style
from outstep.render.wording import where

if TYPE_CHECKING:
    from outstep.attribution.answer import Answer
else:
    Answer = object

MOST_EVENTS = 400
"""Events of the timeline; of a longer run, those around what the findings name."""
MOST_MISSING = 60
MOST_FINDINGS = 100
"""Findings that are told one by one."""

WORDS: Words = {
    "title": ("Postmortem of {trace}", "{trace} 的事后分析"),
    "short": ("In short", "概要"),
    "no-finding": ("No rule was broken, and none is undecided.", "没有规则被违反，也没有规则无法判定。"),
    "findings": ("{n} finding|{n} findings", "{n} 项发现"),
    "more-findings": (
        "{n} more finding is not told here: outstep check names it|{n} more findings are not told here: outstep check"
        " names them",
        "另有 {n} 项发现未在此列出：outstep check 会列出",
    ),
    "happened": ("What happened", "发生了什么"),
    "claimed": ("What was claimed", "声称了什么"),
    "no-claim": ("No sentence of the agent matches a claim of the contract.", "智能体的话中没有契约所列的声称。"),
    "shows": ("What the evidence shows", "证据表明了什么"),
    "rules": ("Rule by rule", "逐条规则"),
    "missing": ("What is missing", "缺少什么"),
    "nothing-missing": (
        "No evidence that a rule asked for is missing, and no call is without a result.",
        "规则所要求的证据都在，每个调用都有结果。",
    ),
    "rule": ("A rule to add", "建议增加的规则"),
    "rule-says": (
        "{why} It was tried on this run: it fires at event {event}. It knows nothing of other runs: hold it against"
        " good ones before it blocks.",
        "{why} 已在此次运行上试过：它在第 {event} 个事件处触发。它不了解其他运行：用于阻断之前，请先用良好的运行检验。",
    ),
    "no-rule": (
        "None of the plain forms that are tried here fires on this run and is not in the contract already.",
        "这里尝试的简单形式中，没有一种既在此次运行上触发又不在契约中。",
    ),
    "case": ("A case to keep", "值得保留的用例"),
    "case-says": (
        "Saved as a .cases.yaml file in the folder in which this was written, outstep contract test runs it. It was"
        " tried, and comes out as it says.",
        "在生成本页的文件夹中存为 .cases.yaml 文件，即可用 outstep contract test 运行。已试过，结果与所写一致。",
    ),
    "no-case": ("No case can be written: {why}", "无法写出用例：{why}"),
    "event": ("event", "事件"),
    "turn": ("turn", "轮次"),
    "lane": ("lane", "通道"),
    "what": ("what", "内容"),
    "left-out": ("{n} event is not shown here|{n} events are not shown here", "此处略去 {n} 个事件"),
    "sentence": ("sentence", "语句"),
    "claim": ("claim", "声称"),
    "backed": ("evidence", "证据"),
    "verdict": ("verdict", "判定"),
    "level": ("level", "级别"),
    "rule-name": ("rule", "规则"),
    "asks": ("asks for", "要求"),
    "satisfied": ("satisfied", "满足"),
    "violated": ("violated", "违反"),
    "inconclusive": ("inconclusive", "无法判定"),
    "vacuous": ("never exercised", "未触发"),
    "went-wrong": ("Went wrong at: {factors}.", "问题出在：{factors}。"),
    "cannot-tell": ("It cannot be told where it went wrong: {because}.", "无法判断问题出在哪里：{because}。"),
    "model": ("model", "模型"),
    "context": ("context", "上下文"),
    "skill": ("skill", "技能"),
    "tool": ("tool", "工具"),
    "permission": ("permission", "权限"),
    "business rule": ("business rule", "业务规则"),
    "harness": ("harness", "运行框架"),
    "theme": ("Dark or light", "深色或浅色"),
}


class Told(Struct, frozen=True, kw_only=True):
    """One event of the timeline."""

    number: int
    turn: int | None
    agent: str
    text: str
    is_named: bool = False
    """A finding names it."""


class Claimed(Struct, frozen=True, kw_only=True):
    """One sentence that says that something was done."""

    number: int
    claim: str
    sentence: str
    verdicts: tuple[tuple[str, Verdict], ...]
    """Rules about this claim, and what they say of this sentence."""


class Judged(Struct, frozen=True, kw_only=True):
    """One rule on this run."""

    rule: str
    level: Level
    verdict: Verdict
    asks: str
    """The rule in its own words."""


class Suggested(Struct, frozen=True, kw_only=True):
    """A rule that fires on this run."""

    contract: str
    why: str
    event: int


class Postmortem(Struct, frozen=True, kw_only=True):
    """Everything that is told of one run."""

    trace: str
    about: str
    """Where it comes from, and who acted."""
    tool: str
    timeline: tuple[Told, ...]
    claims: tuple[Claimed, ...]
    findings: tuple[tuple[Finding, Answer], ...]
    rules: tuple[Judged, ...]
    missing: tuple[str, ...]
    more: int = 0
    """Findings beyond those."""
    suggested: Suggested | None = None
    case: str = ""
    no_case: str = ""
    """Why there is none."""


def markdown(found: Postmortem, language: str = "en") -> str:
    """Return the whole as Markdown."""
    return to_markdown(_told(found, language))


def html(found: Postmortem, language: str = "en") -> str:
    """Return the whole as one self-contained page."""
    words = in_words(WORDS, language)
    title = say(words, "title", trace=found.trace)
    body = to_html(_told(found, language))
    bar = f'<header class="bar"><strong>Outstep</strong><span class="room"></span>{_theme(words)}</header>'
    return page(
        title,
        f'{bar}\n<main id="main" class="tale">\n{body}\n</main>',
        language=language,
        tool=found.tool,
        style=STYLE,
        words=WORDS,
    )


def _told(found: Postmortem, language: str) -> Iterator[Block]:
    """Yield the blocks with their built-in sentences in a language."""
    style = Style(language=language)
    for block in _blocks(found, in_words(WORDS, language), style):
        yield Items(tuple(map(style.say, block.items))) if isinstance(block, Items) else block


def _theme(words: dict[str, str]) -> str:
    return f'<button id="theme" class="icon" type="button" hidden title="{text(words["theme"])}">◐</button>'


STYLE = """
.tale { max-width: 76rem; margin: 0 auto; padding: 1.2rem; }
.tale h2 { margin: 1.8rem 0 .6rem; }
.tale h3 { margin: 1.2rem 0 .3rem; font-size: 1rem; }
.tale p { margin: .35rem 0; }
.tale ul { margin: .3rem 0; padding-inline-start: 1.3rem; }
.tale .scroll { overflow-x: auto; }
.tale table { width: 100%; }
.tale tr.named td { background: var(--mark); }
.tale tr.violated td:first-child, .tale tr.inconclusive td:first-child { font-weight: 650; }
.tale tr.violated td:first-child { color: var(--red); }
.tale tr.inconclusive td:first-child { color: var(--amber); }
.tale tr.satisfied td:first-child { color: var(--green); }
.tale .code { padding: .8rem 1rem; overflow-x: auto; }
"""


def _blocks(found: Postmortem, words: dict[str, str], style: Style) -> Iterator[Block]:
    yield Heading(1, say(words, "title", trace=found.trace))
    yield Sentence(found.about)
    yield from _in_short(found, words, style)
    yield from _happened(found, words)
    yield from _claims(found, words)
    if found.findings:
        yield Heading(2, words["shows"])
        for finding, answer in found.findings:
            yield from _finding(finding, answer, words, style)
    yield Heading(2, words["rules"])
    yield Table(
        (words["verdict"], words["rule-name"], words["level"], words["asks"]),
        tuple((words[one.verdict], one.rule, one.level, one.asks) for one in found.rules),
        marks={number: one.verdict for number, one in enumerate(found.rules)},
        code=(1, 3),
    )
    yield Heading(2, words["missing"])
    yield Items(found.missing[:MOST_MISSING]) if found.missing else Sentence(words["nothing-missing"])
    if len(found.missing) > MOST_MISSING:
        yield Sentence(f"… +{len(found.missing) - MOST_MISSING}")
    yield from _to_keep(found, words)


def _in_short(found: Postmortem, words: dict[str, str], style: Style) -> Iterator[Block]:
    yield Heading(2, words["short"])
    if not found.findings:
        yield Sentence(words["no-finding"])
        return
    yield Sentence(say(words, "findings", n=len(found.findings) + found.more))
    for finding, answer in found.findings:
        yield Sentence(
            f"{finding.rule}: {_message(finding, style)}", badge=words[finding.verdict], mark=finding.verdict
        )
        yield Sentence(_headline(answer, words, style))
    if found.more:
        yield Sentence(say(words, "more-findings", n=found.more))


def _headline(answer: Answer, words: dict[str, str], style: Style) -> str:
    if not answer.readings:
        return say(words, "cannot-tell", because=style.say(answer.because))
    factors = dict.fromkeys(words[reading.factor] for reading in answer.readings)
    return say(words, "went-wrong", factors=" → ".join(factors))


def _happened(found: Postmortem, words: dict[str, str]) -> Iterator[Block]:
    yield Heading(2, words["happened"])
    shown = _shown(found.timeline)
    has_lanes = any(one.agent not in ("", "main") for one in shown)
    head = (words["event"], words["turn"], *((words["lane"],) if has_lanes else ()), words["what"])
    rows = tuple(
        (
            str(one.number),
            "" if one.turn is None else str(one.turn),
            *((one.agent,) if has_lanes else ()),
            one.text,
        )
        for one in shown
    )
    marks = {number: "named" for number, one in enumerate(shown) if one.is_named}
    yield Table(head, rows, marks=marks, code=(len(head) - 1,))
    if len(shown) < len(found.timeline):
        yield Sentence(say(words, "left-out", n=len(found.timeline) - len(shown)))


def _shown(timeline: Sequence[Told]) -> list[Told]:
    """Return the events that are shown: of a long run, the named ones first, and those nearest to them."""
    if len(timeline) <= MOST_EVENTS:
        return list(timeline)
    named = [place for place, one in enumerate(timeline) if one.is_named] or [len(timeline) - 1]
    kept: set[int] = set()
    for distance in range(len(timeline)):
        for place in named:
            for near in (place - distance, place + distance):
                if 0 <= near < len(timeline) and len(kept) < MOST_EVENTS:
                    kept.add(near)
        if len(kept) >= MOST_EVENTS:
            break
    return [timeline[place] for place in sorted(kept)]


def _claims(found: Postmortem, words: dict[str, str]) -> Iterator[Block]:
    yield Heading(2, words["claimed"])
    if not found.claims:
        yield Sentence(words["no-claim"])
        return
    rows = []
    marks = {}
    for number, one in enumerate(found.claims):
        told = ", ".join(f"{rule}: {words[verdict]}" for rule, verdict in one.verdicts) or "–"
        rows.append((str(one.number), one.claim, one.sentence, told))
        bad = [verdict for _, verdict in one.verdicts if verdict in ("violated", "inconclusive")]
        if bad:
            marks[number] = "violated" if "violated" in bad else "inconclusive"
    yield Table(
        (words["event"], words["claim"], words["sentence"], words["backed"]), tuple(rows), marks=marks, code=(1, 2)
    )


def _finding(finding: Finding, answer: Answer, words: dict[str, str], style: Style) -> Iterator[Block]:
    yield Heading(3, f"{finding.rule}: {words[finding.verdict]}")
    yield Sentence(_message(finding, style))
    lines = [where(finding, names_trace=False, style=style)]
    if finding.sentence != finding.message and not finding.missing and not finding.values:
        lines.append(finding.sentence)
    lines += [*finding.values, *(f"missing: {one}" for one in finding.missing[:MOST_MISSING])]
    lines += [f"{one.note or 'see'}: {one.quote}" for one in finding.witness if one.quote]
    yield Items(tuple(lines))
    yield Sentence(_headline(answer, words, style))
    proof: list[str] = []
    for reading in answer.readings:
        proof.append(f"{reading.factor} [{reading.code}]: {reading.sentence}")
        proof += [basis_text(one) for one in reading.rests_on]
        proof += [ruled_out_text(one) for one in reading.ruled_out]
    proof += [basis_text(one) for one in answer.rests_on]
    proof += [ruled_out_text(one) for one in answer.ruled_out]
    proof += [f"still possible: {', '.join(answer.left)}"] if answer.left and not answer.readings else []
    proof += [f"what would tell: {answer.would_tell}"] if answer.would_tell else []
    if proof:
        yield Items(tuple(proof))


def _message(finding: Finding, style: Style) -> str:
    """Return what a rule says in its own words, else what the engine says."""
    return style.say(finding.message) if finding.message == finding.sentence else finding.message


def _to_keep(found: Postmortem, words: dict[str, str]) -> Iterator[Block]:
    yield Heading(2, words["rule"])
    if found.suggested is None:
        yield Sentence(words["no-rule"])
    else:
        yield Sentence(say(words, "rule-says", why=found.suggested.why, event=found.suggested.event))
        yield Code(found.suggested.contract)
    yield Heading(2, words["case"])
    if found.case:
        yield Sentence(words["case-says"])
        yield Code(found.case)
    else:
        yield Sentence(say(words, "no-case", why=found.no_case))

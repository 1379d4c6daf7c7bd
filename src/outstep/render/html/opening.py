"""What the page says without its script: the gate, what could not be checked, the first findings, rules, traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from outstep.errors import Problem
from outstep.findings import Finding, Report, RuleSummary, TraceSummary
from outstep.render.page import say, text
from outstep.render.wording import notes, proof, verdict_of, where

MOST_FINDINGS = 50
"""Groups of findings that show without a script."""
MOST_FAULTS = 100
MOST_RULES = 500
MOST_TRACES = 50

Told = Mapping[str, str]
"""The page's own sentences, in its language."""


def body(report: Report, groups: Sequence[Sequence[Finding]], words: Told) -> str:
    """Return the body of the page as HTML."""
    return "\n".join(
        [
            *_bar(report, words),
            '<main id="main" tabindex="-1">',
            *_faults(report.faults, words, "faults"),
            *_faults(report.warnings, words, "warnings"),
            '<div class="panes">',
            '<div class="list" id="list">',
            '<div class="tabs" role="tablist" id="tabs" hidden></div>',
            *_findings(report, groups, words),
            *_rules(report.rules, words),
            *_traces(report.traces, words),
            "</div>",
            f'<section class="detail card" id="detail" aria-label="{text(words["timeline"])}" hidden></section>',
            "</div>",
            "</main>",
        ]
    )


def _bar(report: Report, words: Told) -> Iterator[str]:
    gate = report.gate
    yield f'<header class="top {gate}">'
    yield '<div class="verdict">'
    yield f'<h1><span class="brand">Outstep</span> <span class="gate {gate}">{text(words[f"gate-{gate}"])}</span></h1>'
    code = say(words, "exit-code", n=report.exit_code)
    extra = [words["fails-on-warn"]] if report.fail_on == "warn" else []
    extra += [say(words, "allowed", reasons=", ".join(report.allowed))] if report.allowed else []
    told = text("; ".join([code, *extra]))
    yield f'<p class="why">{text(words[f"why-{gate}"])} <span class="soft">({told})</span></p>'
    yield "</div>"
    yield '<ul class="counts">'
    for told, kind in _counts(report, words):
        yield f'<li class="{kind}">{text(told)}</li>'
    yield "</ul>"
    yield '<div class="tools">'
    yield f'<button class="icon" id="theme" type="button" hidden title="{text(words["theme"])} (t)">◐</button>'
    yield f'<button class="icon" id="help" type="button" hidden title="{text(words["keys"])} (?)">?</button>'
    yield "</div></header>"
    contracts = ", ".join(dict.fromkeys(contract.title or contract.id for contract in report.contracts))
    if contracts:
        yield f'<p class="held soft">{text(say(words, "held-against", contracts=contracts))}</p>'


def _counts(report: Report, words: Told) -> Iterator[tuple[str, str]]:
    gating = sum(map(report.gates, report.findings))
    waived = sum(1 for finding in report.findings if finding.waived)
    yield say(words, "n-findings", n=len(report.findings)), ""
    if gating:
        yield say(words, "n-gating", n=gating), "red"
    if waived:
        yield say(words, "n-waived", n=waived), ""
    if report.faults:
        yield say(words, "n-faults", n=len(report.faults)), "red"
    yield say(words, "n-traces", n=len(report.traces)), ""
    yield say(words, "n-events", n=sum(trace.events for trace in report.traces)), ""
    yield say(words, "n-calls", n=sum(trace.calls for trace in report.traces)), ""


def _faults(problems: Sequence[Problem], words: Told, kind: str) -> Iterator[str]:
    if not problems:
        return
    is_open = " open" if kind == "faults" and len(problems) <= 5 else ""
    yield f'<details class="problems {kind} card"{is_open}>'
    yield f"<summary>{text(words[kind])} <span class=soft>{len(problems):,}</span></summary><ul>"
    for problem in problems[:MOST_FAULTS]:
        yield f"<li><code>{text(problem.code)}</code> {text(problem.sentence[:2000])}"
        if problem.place is not None:
            yield f'<div class="soft mono">{text(str(problem.place))}</div>'
        if problem.excerpt:
            yield f"<pre>{text(problem.excerpt[:400])}</pre>"
        if problem.help:
            yield f'<div class="soft">{text(words["help"])}: {text(problem.help)}</div>'
        yield "</li>"
    if len(problems) > MOST_FAULTS:
        yield f"<li>{text(say(words, 'more-faults', n=len(problems) - MOST_FAULTS))}</li>"
    yield "</ul></details>"


def _findings(report: Report, groups: Sequence[Sequence[Finding]], words: Told) -> Iterator[str]:
    yield f'<section id="findings" aria-label="{text(words["findings"])}"><h2>{text(words["findings"])}</h2>'
    yield '<div id="filter" class="filter" role="search" hidden></div>'
    yield '<div id="rows">'
    if not groups:
        yield f'<p class="none soft">{text(words["no-findings"])}</p>'
    names_trace = len(report.traces) > 1
    for group in groups[:MOST_FINDINGS]:
        yield from _group(list(group), words, names_trace=names_trace)
    left = sum(map(len, groups[MOST_FINDINGS:]))
    if left:
        yield f'<p class="soft">{text(say(words, "more-findings", n=left))}</p>'
    yield "</div></section>"


def _group(group: list[Finding], words: Told, *, names_trace: bool) -> Iterator[str]:
    yield f'<article class="finding {group[0].verdict}">'
    for finding in group:
        level = f"{words[finding.level]}, {words['waived']}" if finding.waived else words[finding.level]
        yield (
            f'<h3><span class="badge {finding.verdict}">{text(words[finding.verdict])}</span> '
            f'<code>{text(finding.rule)}</code> <span class="soft">{text(level)}</span></h3>'
            f"<p>{text(finding.message[:2000])}</p>"
        )
    yield f'<p class="soft mono">{text(where(group[0], names_trace=names_trace))}</p><ul class="proof">'
    yield from (f"<li><code>{text(line[:2000])}</code></li>" for line in proof(group))
    yield from (f'<li class="soft">{text(label)}: <code>{text(line)}</code></li>' for label, line in notes(group))
    yield "</ul></article>"


def _rules(rules: Sequence[RuleSummary], words: Told) -> Iterator[str]:
    if not rules:
        return
    yield f'<section id="rules" aria-label="{text(words["rules"])}"><h2>{text(words["rules"])}</h2>'
    yield '<div class="wide"><table><thead><tr>'
    heads = ("rule", "violated", "inconclusive", "vacuous", "satisfied")
    yield "".join(f"<th scope=col>{text(words[head])}</th>" for head in heads)
    yield "</tr></thead><tbody>"
    for number, rule in enumerate(rules[:MOST_RULES]):
        kind = verdict_of(rule).replace(" ", "-")
        told = [words[rule.level], rule.contract, say(words, "pack", name=rule.pack) if rule.pack else ""]
        yield (
            f'<tr class="{kind}" data-rule="{number}"><th scope=row><code>{text(rule.rule)}</code>'
            f'<div class="soft">{text(" · ".join(filter(None, told)))}</div></th>'
            + "".join(
                f'<td class="n {kind if many else "zero"}">{many:,}</td>'
                for kind, many in (
                    ("violated", rule.violated),
                    ("inconclusive", rule.inconclusive),
                    ("vacuous", rule.vacuous),
                    ("satisfied", rule.satisfied),
                )
            )
            + "</tr>"
        )
    yield "</tbody></table></div>"
    if len(rules) > MOST_RULES:
        yield f'<p class="soft">{text(say(words, "more-rows", n=len(rules) - MOST_RULES))}</p>'
    yield "</section>"


def _traces(traces: Sequence[TraceSummary], words: Told) -> Iterator[str]:
    if not traces:
        return
    yield f'<section id="traces" aria-label="{text(words["traces"])}"><h2>{text(words["traces"])}</h2>'
    yield '<div id="trace-rows" class="wide"><table><thead><tr>'
    yield "".join(f"<th scope=col>{text(words[head])}</th>" for head in ("trace", "events", "calls", "end"))
    yield "</tr></thead><tbody>"
    for trace in traces[:MOST_TRACES]:
        yield (
            f"<tr><th scope=row><bdi>{text(trace.id[:200])}</bdi>"
            f'<div class="soft"><bdi>{text(", ".join(trace.sources[:3])[:400])}</bdi></div></th>'
            f'<td class="n">{trace.events:,}</td><td class="n">{trace.calls:,}</td><td>{text(trace.end)}</td></tr>'
        )
    yield "</tbody></table></div>"
    if len(traces) > MOST_TRACES:
        yield f'<p class="soft">{text(say(words, "more-rows", n=len(traces) - MOST_TRACES))}</p>'
    yield "</section>"

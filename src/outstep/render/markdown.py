"""`markdown`: a comment on a pull request, or the summary of a job.

Short enough for either: what does not fit is counted. What comes from traces stands in code spans, where nothing is
a link, a mention or markup.
docs: docs/cli.md#output
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from outstep.errors import Problem
from outstep.findings import Finding, Report
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.wording import count, folded, notes, proof, summary_lines, where

LONGEST = 60_000
"""Characters; a comment on GitHub may have 65,536."""
_LONGEST_LINE = 300
_MARKS = {"pass": "✅", "block": "❌", "error": "🚫", "inconclusive": "❔"}
_TITLES = {
    "pass": "passes",
    "block": "is blocked",
    "error": "could not be checked",
    "inconclusive": "is undecided",
}
_MARKUP = re.compile(
    # Mentions, issues, formulas, merge requests, `:emoji:`: GitHub and GitLab look for them in what is shown, so that
    # no backslash keeps them off; a code span does. Two spans side by side would be one.
    r"((?:[@#$]|!(?=\d)|:(?=[\w+-]+:))+)"
    r"|[\\`*_{}\[\]<>|~&]|:(?=//)|(?<=www)\."
)


def render(report: Report, style: Style) -> str:
    """Return the report as GitHub-flavoured Markdown."""
    report = style.told(report)
    plain = Style(language=style.language)
    title = plain.say(f"the run {_TITLES[report.gate]}")
    parts = [f"### {_MARKS[report.gate]} Outstep: {title}\n\n"]
    parts.append(" · ".join(text(line) for line in summary_lines(report, plain)) + "\n")
    parts += _problems(report.faults, plain)
    room = LONGEST - sum(map(len, parts))
    names_trace = len(report.traces) > 1
    kept = [finding for finding in report.findings if finding.level != "observe" or style.verbose]
    # What stands against the release comes first, whatever else there is.
    kept.sort(key=lambda finding: not report.gates(finding))
    groups = folded(kept)
    for number, group in enumerate(groups):
        block = _finding(group, report, plain, names_trace=names_trace)
        room -= len(block)
        if room < 0:
            left = sum(map(len, groups[number:]))
            more = plain.say(f"… and {count(left, 'more finding')}: the whole report has all of them.")
            parts.append(f"\n{more}\n")
            break
        parts.append(block)
    return "".join(parts)


def text(plain: str) -> str:
    """Return a text as Markdown that shows it and does nothing else."""
    return _MARKUP.sub(_unmarked, shown(plain, _LONGEST_LINE))


def code(plain: str) -> str:
    """Return a text as a code span."""
    told = shown(plain, _LONGEST_LINE)
    longest = max(map(len, re.findall("`+", told)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if told.startswith("`") or told.endswith("`") or not told.strip() else ""
    return f"{fence}{blank}{told or ' '}{blank}{fence}"


def _unmarked(found: re.Match[str]) -> str:
    if found[1]:
        return f"`{found[1]}`"
    return "&amp;" if found[0] == "&" else f"\\{found[0]}"


def _finding(group: list[Finding], report: Report, plain: Style, *, names_trace: bool) -> str:
    lines = []
    for finding in group:
        mark = "❌" if finding.verdict == "violated" else "❔"
        told = finding.level if report.gates(finding) or finding.level != "block" else f"{finding.level}, not gating"
        told = f"{finding.level}, waived" if finding.waived else told
        mark = mark if report.gates(finding) else "⚠️"
        verdict, told = plain.say(finding.verdict), plain.say(told)
        lines.append(f"{mark} **{verdict}** {code(finding.rule)} ({told}): {text(finding.message)}")
    body = [f"- {code(where(group[0], names_trace=names_trace, style=plain))}"]
    body += [f"- {code(plain.say(line))}" for line in proof(group)]
    body += [f"- {plain.say(label)}: {code(plain.say(line))}" for label, line in notes(group)]
    return "\n" + "  \n".join(lines) + "\n" + "\n".join(body) + "\n"


def _problems(problems: Iterable[Problem], plain: Style) -> Iterator[str]:
    told = list(problems)
    if not told:
        return
    yield f"\n**{plain.say('Could not be checked')}**\n\n"
    for problem in told[:_MOST_PROBLEMS]:
        place = f" ({code(str(problem.place))})" if problem.place is not None else ""
        help = f" — {text(problem.help)}" if problem.help else ""
        yield f"- {code(problem.code)} {text(visible(problem.sentence))}{place}{help}\n"
    if len(told) > _MOST_PROBLEMS:
        more = f"… and {count(len(told) - _MOST_PROBLEMS, 'more fault')}"
        yield f"- {plain.say(more)}\n"


_MOST_PROBLEMS = 20

"""`terminal`: findings as people read them, then what was checked and what the gate says.

docs: docs/cli.md#output
"""

from __future__ import annotations

from collections.abc import Iterator

from outstep.findings import Finding, Report
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.wording import folded, notes, proof, summary_lines, where

_COLOURS = {"violated": "red", "inconclusive": "yellow", "vacuous": "yellow"}
LONGEST_MESSAGE = 1000


def render(report: Report, style: Style) -> str:
    """Return the report as text, ready for a terminal or a log."""
    report = style.told(report)
    names_trace = len(report.traces) > 1
    shown_at_once = [finding for finding in report.findings if finding.level != "observe" or style.verbose]
    blocks = [_finding(group, style, names_trace=names_trace) for group in folded(shown_at_once)]
    if not style.verbose:
        blocks += list(_observed(report, style, names_trace=names_trace))
    blocks.append(summary_lines(report, style))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _finding(group: list[Finding], style: Style, *, names_trace: bool) -> list[str]:
    first = group[0]
    lines = [_head(finding, style) for finding in group]
    lines.append(f"  {style.paint('-->', 'cyan')} {where(first, names_trace=names_trace, style=style)}")
    bar = style.paint("|", "cyan")
    lines += [f"   {bar}  {shown(style.say(text), style.columns)}" for text in proof(group)]
    for label, text in notes(group):
        lines.append(f"   {style.paint('=', 'cyan')} {style.say(label)}: {shown(style.say(text), LONGEST_MESSAGE)}")
    return lines


def _head(finding: Finding, style: Style) -> str:
    verdict = style.say(finding.verdict)
    word = style.paint(f"{verdict}[{visible(finding.rule)}]", _COLOURS.get(finding.verdict, "bold"))
    level = style.say(finding.level)
    if finding.waived:
        level = style.say(f"{finding.level}, waived")
    return f"{word} {level}: {shown(finding.message, LONGEST_MESSAGE)}"


def _observed(report: Report, style: Style, *, names_trace: bool) -> Iterator[list[str]]:
    """Yield one block for each rule with findings of level `observe`: they are counted, not gated."""
    by_rule: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in report.findings:
        if finding.level == "observe":
            by_rule.setdefault((finding.contract, finding.rule, finding.verdict), []).append(finding)
    for findings in by_rule.values():
        first = findings[0]
        lines = [
            _head(first, style),
            f"  {style.paint('-->', 'cyan')} {where(first, names_trace=names_trace, style=style)}",
        ]
        if len(findings) > 1:
            more = style.say(f"and {len(findings) - 1} more like this: `-v` shows all")
            lines.append(f"   {style.paint('=', 'cyan')} {more}")
        yield lines

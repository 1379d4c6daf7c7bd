"""`terminal`: findings as people read them, then what was checked and what the gate says.

docs: docs/cli.md#output
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.errors import Place
from outstep.findings import Finding, Report, Witness
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.summary import summary_lines

_COLOURS = {"violated": "red", "inconclusive": "yellow", "vacuous": "yellow"}
LONGEST_MESSAGE = 1000
MOST_WITNESSES = 6
MOST_MISSING = 8


def render(report: Report, style: Style) -> str:
    """Return the report as text, ready for a terminal or a log."""
    names_trace = len(report.traces) > 1
    shown_at_once = [finding for finding in report.findings if finding.level != "observe" or style.verbose]
    blocks = [_finding(group, style, names_trace=names_trace) for group in folded(shown_at_once)]
    if not style.verbose:
        blocks += list(_observed(report, style, names_trace=names_trace))
    blocks.append(summary_lines(report, style))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def folded(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return findings in groups: those at one event, or of one run, that lack the same evidence stand together."""
    groups: list[list[Finding]] = []
    places: dict[object, int] = {}
    for finding in findings:
        # What a gap hides is evidence, too: the same gap is the same lack.
        gaps = tuple(witness.seq for witness in finding.witness) if finding.verdict == "inconclusive" else ()
        where = (finding.contract, finding.trace, finding.place, finding.seq)
        key = (where, finding.verdict, finding.reason, finding.waived, finding.missing, gaps)
        if not finding.missing and finding.verdict != "inconclusive":
            groups.append([finding])
        elif key in places:
            groups[places[key]].append(finding)
        else:
            places[key] = len(groups)
            groups.append([finding])
    return groups


def _finding(group: list[Finding], style: Style, *, names_trace: bool) -> list[str]:
    first = group[0]
    lines = [_head(finding, style) for finding in group]
    lines.append(f"  {style.paint('-->', 'cyan')} {_where(first, names_trace=names_trace)}")
    bar = style.paint("|", "cyan")
    lines += [f"   {bar}  {shown(text, style.columns)}" for text in _body(group)]
    for label, text in _notes(group):
        lines.append(f"   {style.paint('=', 'cyan')} {label}: {shown(text, LONGEST_MESSAGE)}")
    return lines


def _head(finding: Finding, style: Style) -> str:
    word = style.paint(f"{finding.verdict}[{visible(finding.rule)}]", _COLOURS.get(finding.verdict, "bold"))
    level = f"{finding.level}, waived" if finding.waived else finding.level
    return f"{word} {level}: {shown(finding.message, LONGEST_MESSAGE)}"


def _where(finding: Finding, *, names_trace: bool) -> str:
    parts: list[str] = []
    if finding.place is not None:
        parts.append(_spot(finding.place))
        if finding.place.line is None and finding.raw_seq is not None:
            parts.append(f"seq {finding.raw_seq}")
    if finding.event is not None:
        of = f" of {finding.of}" if finding.of is not None else ""
        parts.append(f"event {finding.event}{of}")
    elif finding.trace:
        parts.append("the whole run")
    text = ", ".join(parts)
    details = []
    if finding.turn is not None:
        details.append(f"turn {finding.turn}")
    if finding.agent not in {"", "main"}:
        details.append(f"lane {visible(finding.agent)}")
    if details:
        text += f" ({', '.join(details)})"
    if names_trace and finding.trace:
        text += f", trace {visible(finding.trace)}"
    return text or "all traces"


def _spot(place: Place) -> str:
    text = visible(place.source)
    if place.line is not None:
        text += f" line {place.line}"
    if place.pointer is not None:
        text += f" at {visible(place.pointer) or '/'}"
    if place.line is None and place.pointer is None and place.offset is not None:
        text += f" byte {place.offset}"
    return text


def _body(group: list[Finding]) -> Iterator[str]:
    """Yield the lines that prove it: the event, the values, what is missing, the other events."""
    first = group[0]
    own, others = _witnesses(group)
    if own is not None and own.quote:
        yield own.quote
    for finding in group:
        # A rule's own message may leave out what the engine saw.
        if finding.sentence and finding.sentence != finding.message and not finding.missing and not finding.values:
            yield finding.sentence
        if finding.key and finding.key != finding.call_id:
            yield f"for: {finding.key}"
        yield from finding.values
    yield from (f"missing: {text}" for text in first.missing[:MOST_MISSING])
    if len(first.missing) > MOST_MISSING:
        yield f"missing: … and {len(first.missing) - MOST_MISSING} more"
    for witness in others[:MOST_WITNESSES]:
        line = f"line {witness.place.line}" if witness.place is not None and witness.place.line else ""
        # The reason of a gap is both its note and part of its quote.
        note = "" if witness.note in witness.quote else witness.note
        where = f"{note} ({line})" if note and line else note or line or "see"
        yield f"{where}: {witness.quote}" if witness.quote else where
    if len(others) > MOST_WITNESSES:
        yield f"… and {len(others) - MOST_WITNESSES} more events"


def _witnesses(group: list[Finding]) -> tuple[Witness | None, list[Witness]]:
    """Return the offending event, and the other events, each once."""
    own: Witness | None = None
    others: dict[tuple[int, str], Witness] = {}
    for finding in group:
        for witness in finding.witness:
            if witness.seq == finding.seq:
                own = own or witness
            else:
                others.setdefault((witness.seq, witness.note), witness)
    return own, list(others.values())


def _notes(group: list[Finding]) -> Iterator[tuple[str, str]]:
    first = group[0]
    reasons = dict.fromkeys(finding.reason for finding in group if finding.reason)
    if first.verdict == "inconclusive" and reasons:
        yield "reason", ", ".join(reasons)
    places: dict[str, list[int]] = {}
    for finding in group:
        if finding.contract_place is not None and finding.contract_place.line is not None:
            places.setdefault(finding.contract_place.source, []).append(finding.contract_place.line)
    if places:
        yield (
            "contract",
            "; ".join(f"{source}:{', '.join(map(str, dict.fromkeys(lines)))}" for source, lines in places.items()),
        )
    for waived in dict.fromkeys(finding.waived for finding in group if finding.waived):
        yield "waived", waived
    if first.verdict != "violated":
        yield from (("help", help) for help in dict.fromkeys(finding.help for finding in group if finding.help))


def _observed(report: Report, style: Style, *, names_trace: bool) -> Iterator[list[str]]:
    """Yield one block for each rule with findings of level `observe`: they are counted, not gated."""
    by_rule: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in report.findings:
        if finding.level == "observe":
            by_rule.setdefault((finding.contract, finding.rule, finding.verdict), []).append(finding)
    for findings in by_rule.values():
        first = findings[0]
        lines = [_head(first, style), f"  {style.paint('-->', 'cyan')} {_where(first, names_trace=names_trace)}"]
        if len(findings) > 1:
            lines.append(f"   {style.paint('=', 'cyan')} and {len(findings) - 1} more like this: `-v` shows all")
        yield lines

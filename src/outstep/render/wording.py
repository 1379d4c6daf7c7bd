"""What every report for people says in the same words: where a finding stands, what proves it, what was checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.errors import Place
from outstep.findings import Finding, Report, RuleSummary, Touched, Trend, Witness
from outstep.render.escape import visible
from outstep.render.style import PLAIN, Style

_COLOURS = {"pass": "green", "block": "red", "error": "red", "inconclusive": "yellow"}
RECORD = "integrity"
"""The pack that judges the record itself; its rules need nothing to be triggered."""
_BECAME = {
    "ok": "attempted, carried out, succeeded",
    "failed": "attempted, carried out, failed",
    "denied": "attempted, refused by the harness",
    "unknown": "attempted; what became of it is not known",
    "unanswered": "attempted; no result was recorded",
}
"""What became of a call, in words that keep attempt, refusal and deed apart."""
MOST_NAMED = 8
MOST_WITNESSES = 6
MOST_MISSING = 8


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


def where(finding: Finding, *, names_trace: bool, style: Style = PLAIN) -> str:
    """Return where the offending event stands, safe to show: `s.jsonl line 41, event 17 of 31 (turn 4)`."""
    parts: list[str] = []
    if finding.place is not None:
        parts.append(_spot(finding.place, style))
        if finding.place.line is None and finding.raw_seq is not None:
            parts.append(style.say(f"seq {finding.raw_seq}"))
    if finding.event is not None:
        of = f" of {finding.of}" if finding.of is not None else ""
        parts.append(style.say(f"event {finding.event}{of}"))
    elif finding.trace:
        parts.append(style.say("the whole run"))
    text = ", ".join(parts)
    details = []
    if finding.turn is not None:
        details.append(style.say(f"turn {finding.turn}"))
    if finding.agent not in {"", "main"}:
        details.append(style.say(f"lane {visible(finding.agent)}"))
    if details:
        text += f" ({', '.join(details)})"
    if names_trace and finding.trace:
        text += f", {style.say(f'trace {visible(finding.trace)}')}"
    return text or style.say("all traces")


def _spot(place: Place, style: Style) -> str:
    text = visible(place.source)
    if place.line is not None:
        text += f" {style.say(f'line {place.line}')}"
    if place.pointer is not None:
        text += f" at {visible(place.pointer) or '/'}"
    if place.line is None and place.pointer is None and place.offset is not None:
        text += f" byte {place.offset}"
    return text


def proof(group: list[Finding]) -> Iterator[str]:
    """Yield the lines that prove it: the event, the values, what is missing, the other events."""
    first = group[0]
    own, others = _witnesses(group)
    if own is not None and own.quote:
        yield own.quote
    for finding in group:
        # A rule's own message may leave out what the engine saw.
        if finding.sentence and finding.sentence != finding.message and not finding.missing and not finding.values:
            yield finding.sentence
        if finding.touched is not None:
            yield from _touched(finding.touched)
        elif finding.key and finding.key != finding.call_id:
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


def _touched(touched: Touched) -> Iterator[str]:
    """Yield the nearest pattern and where it ends, and what became of the call."""
    if touched.rule:
        at = f", which does not hold `{touched.differs}`" if touched.differs else ""
        yield f"nearest: {touched.rule}{at}"
    if touched.outcome:
        yield f"the call: {_BECAME.get(touched.outcome, touched.outcome)}"


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


def notes(group: list[Finding]) -> Iterator[tuple[str, str]]:
    """Yield what else is to be known, each with its label: reason, contract, waiver, help."""
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
    for fix in dict.fromkeys(finding.touched.fix for finding in group if finding.touched is not None):
        if fix:
            yield "to allow it", f"add `{fix}`"
    if first.verdict != "violated":
        yield from (("help", help) for help in dict.fromkeys(finding.help for finding in group if finding.help))


def summary_lines(report: Report, style: Style) -> list[str]:
    """Return the closing lines of a report."""
    lines = [_read(report)]
    own = [rule for rule in report.rules if rule.pack != RECORD]
    record = [rule for rule in report.rules if rule.pack == RECORD]
    if own and report.traces:
        lines.append(f"rules: {_counted(own, of_several=len(report.traces) > 1)}")
    if record and report.traces:
        lines.append(f"record: {_record(record)}")
    if report.metrics:
        lines.append(f"metrics: {', '.join(map(_trend, report.metrics))}")
    lines.append(_gate(report, style))
    return list(map(style.say, lines))


def _trend(trend: Trend) -> str:
    text = f"{visible(trend.name)} {trend.mean:.4g}"
    if trend.traces == 1:
        return text
    return f"{text} ({count(trend.traces, 'trace')}, {trend.least:.4g} to {trend.most:.4g})"


def _read(report: Report) -> str:
    events = sum(trace.events for trace in report.traces)
    calls = sum(trace.calls for trace in report.traces)
    contracts = ", ".join(dict.fromkeys(visible(contract.id) for contract in report.contracts))
    text = f"{count(len(report.traces), 'trace')}, {count(events, 'event')}, {count(calls, 'call')}"
    return f"{text}, held against {contracts}" if contracts else text


def verdict_of(rule: RuleSummary) -> str:
    """Return the worst verdict of a rule over all traces."""
    if rule.violated:
        return "violated"
    if rule.inconclusive:
        return "inconclusive"
    if rule.satisfied:
        return "held"
    return "never exercised" if rule.vacuous else "not judged"


def _counted(rules: list[RuleSummary], *, of_several: bool) -> str:
    """Count rules by verdict; of several traces, name what went wrong, and in how many of them."""
    by_verdict: dict[str, list[str]] = {
        word: [] for word in ("held", "violated", "inconclusive", "not judged", "never exercised")
    }
    for rule in rules:
        verdict = verdict_of(rule)
        traces = {"violated": rule.violated, "inconclusive": rule.inconclusive}.get(verdict)
        name = visible(rule.rule)
        by_verdict[verdict].append(name if traces is None else f"{name} ×{traces}")
    named = {"never exercised"} | ({"violated", "inconclusive"} if of_several else set())
    return ", ".join(
        f"{len(names)} {word}{f' ({_named(names)})' if word in named else ''}"
        for word, names in by_verdict.items()
        if names
    )


def _named(names: list[str]) -> str:
    more = f", … {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _record(rules: list[RuleSummary]) -> str:
    # Every contract brings the same rules about the record: each is named once.
    counted = [rule for rule in rules if rule.level != "observe"]
    parts = []
    for word in ("violated", "inconclusive"):
        named = dict.fromkeys(visible(rule.rule) for rule in counted if verdict_of(rule) == word)
        parts += [f"{', '.join(named)} {word}"] if named else []
    is_judged = any(verdict_of(rule) != "not judged" for rule in rules)
    observed = dict.fromkeys(
        visible(rule.rule) for rule in rules if rule.level == "observe" and verdict_of(rule) == "violated"
    )
    text = "; ".join(parts) or ("holds together" if is_judged else "not judged")
    return f"{text} (observed: {', '.join(observed)})" if observed else text


def _gate(report: Report, style: Style) -> str:
    gate = style.paint(report.gate, _COLOURS[report.gate])
    waived = sum(1 for finding in report.findings if finding.waived)
    details = [f"exit code {report.exit_code}"]
    if report.faults:
        details.append(f"{count(len(report.faults), 'fault')}: not everything could be checked")
    if waived:
        details.append(f"{count(waived, 'finding')} waived")
    if report.allowed:
        details.append(f"allowed: {', '.join(visible(reason) for reason in report.allowed)}")
    return f"gate: {gate} ({'; '.join(details)})"


def count(number: int, word: str) -> str:
    """Return `1 trace`, `2 traces`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"

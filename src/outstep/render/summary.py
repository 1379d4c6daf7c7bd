"""The end of a report: what was checked, and what the gate says."""

from __future__ import annotations

from outstep.findings import Report, RuleSummary
from outstep.render.escape import visible
from outstep.render.style import Style

_COLOURS = {"pass": "green", "block": "red", "error": "red", "inconclusive": "yellow"}
RECORD = "integrity"
"""The pack that judges the record itself; its rules need nothing to be triggered."""
MOST_NAMED = 8


def summary_lines(report: Report, style: Style) -> list[str]:
    """Return the closing lines of a report."""
    lines = [_read(report)]
    own = [rule for rule in report.rules if rule.pack != RECORD]
    record = [rule for rule in report.rules if rule.pack == RECORD]
    if own and report.traces:
        lines.append(f"rules: {_counted(own, of_several=len(report.traces) > 1)}")
    if record and report.traces:
        lines.append(f"record: {_record(record)}")
    lines.append(_gate(report, style))
    return lines


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

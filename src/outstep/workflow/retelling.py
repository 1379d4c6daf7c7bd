"""`postmortem`: what happened in one run, what was claimed, what the evidence shows, and what to keep of it.

docs: docs/postmortem.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep import __version__
from outstep.attribution.question import wanted
from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Integrity, Needs, Require, Scope, Then
from outstep.contracts.model import Contract, Rule
from outstep.errors import OutstepError, problem, suggestion
from outstep.events import AssistantMessage, ToolCall, ToolResult
from outstep.expr.claims import ClaimFinder
from outstep.findings import Finding, Report, Verdict
from outstep.render.postmortem import MOST_FINDINGS, Claimed, Judged, Postmortem, Told
from outstep.render.timeline import about
from outstep.workflow.attributing import Reader
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.keeping import case_of, suggested
from outstep.workflow.looking import look
from outstep.workflow.trace_files import Opened, open_traces
from outstep.workflow.traces import Trace


def retell(
    path: str,
    contract: Contract,
    options: CheckOptions,
    *,
    name: str,
    trace: str | None = None,
    params: dict[str, object] | None = None,
) -> tuple[Postmortem, Report]:
    """Return what is told of the one trace in a file; `name` is how the contract was named.

    Raises `OutstepError` where there is not one trace.
    """
    opened = _only(path, options, trace)
    report = check_groups([opened.group], [contract], options, faults=opened.faults)
    own = opened.trace
    findings = [one for one in report.findings if one.trace == own.id and one.level != "observe"]
    rules = {rule.id: rule for rule in contract.rules}
    reader = Reader(own, contract)
    told_of = findings[:MOST_FINDINGS]
    readings = tuple((one, reader.read(rules[one.rule], one)) for one in told_of if one.rule in rules)
    case, no_case = "", "the trace holds nothing that a rule speaks of"
    try:
        proposed = suggested(own, contract, findings)
        case = case_of(own, contract, name, findings, proposed, params or {})
    except OutstepError as error:
        proposed, no_case = None, error.problems[0].sentence
    told = Postmortem(
        trace=own.id,
        about=about(own.header),
        tool=f"outstep {__version__}",
        timeline=tuple(_timeline(own, findings)),
        claims=tuple(_claims(own, contract, findings)),
        findings=readings,
        more=len(findings) - len(told_of),
        rules=tuple(_rules(report, contract)),
        missing=tuple(_missing(own, contract, findings)),
        suggested=proposed,
        case=case,
        no_case="" if case else no_case,
    )
    return told, report


def _only(path: str, options: CheckOptions, wanted: str | None) -> Opened:
    found = list(open_traces([path], options))
    if not found:
        raise problem("input/no-traces", f"there is no trace in `{path}`", help="give a file that holds a trace")
    if wanted is None and len(found) > 1:
        sentence = f"there are {len(found)} traces in `{path}`"
        raise problem("usage/several-traces", sentence, help="choose one with --trace ID")
    for one in found:
        if wanted is None or one.trace.id == wanted:
            return one
    ids = tuple(one.trace.id for one in found)
    help = suggestion(wanted or "", ids) or f"there are: {', '.join(ids[:20])}"
    raise problem("usage/unknown-trace", f"there is no trace `{wanted}` in `{path}`", help=help)


def _timeline(trace: Trace, findings: Sequence[Finding]) -> Iterator[Told]:
    named = {one.seq for one in findings} | {witness.seq for one in findings for witness in one.witness}
    seen = look(trace.events, [event.seq for event in trace.events])
    for number, event in enumerate(trace.events, 1):
        one = seen.get(event.seq)
        yield Told(
            number=number,
            turn=getattr(event, "turn", None),
            agent=getattr(event, "agent", None) or "",
            text=one.quote if one is not None else "",
            is_named=event.seq in named,
        )


def _claims(trace: Trace, contract: Contract, findings: Sequence[Finding]) -> Iterator[Claimed]:
    patterns = {claim.name: claim.prepared for claim in contract.claims if claim.prepared}
    if not patterns:
        return
    finder = ClaimFinder(patterns)
    at = {(one.rule, one.seq): one.verdict for one in findings}
    for number, event in enumerate(trace.events, 1):
        if not isinstance(event, AssistantMessage):
            continue
        for claim in finder.find(event.text):
            verdicts = tuple(
                (rule.id, at.get((rule.id, event.seq), _otherwise(event)))
                for rule in contract.rules
                if _is_about(rule, claim.name)
            )
            yield Claimed(number=number, claim=claim.name, sentence=claim.sentence, verdicts=verdicts)


def _otherwise(event: AssistantMessage) -> Verdict:
    # Selectors of claims look at the lane of the user alone, unless they say otherwise.
    return "satisfied" if event.agent == "main" else "vacuous"


def _is_about(rule: Rule, claim: str) -> bool:
    return any(one.what == "claim" and (not one.names or claim in one.names) for one in rule.triggers)


def _rules(report: Report, contract: Contract) -> Iterator[Judged]:
    """Yield the rules of the contract, and those about the record that do not hold."""
    unsatisfied = (report.traces[0].verdicts[0] or {}) if report.traces else {}
    levels = {rule.rule: rule.level for rule in report.rules}
    for rule in contract.rules:
        verdict = unsatisfied.get(rule.id, "satisfied")
        if not isinstance(rule.kind, Integrity) or (verdict != "satisfied" and rule.level != "observe"):
            yield Judged(rule=rule.id, level=levels.get(rule.id, rule.level), verdict=verdict, asks=asks(rule))


def asks(rule: Rule) -> str:
    """Return a rule in its own words, on one line."""
    triggers = ", ".join(one.text for one in rule.triggers)
    kind = rule.kind
    if isinstance(kind, Require):
        told = f"require: {' and '.join(one.text for one in kind.all)}"
    elif isinstance(kind, Needs | Then):
        told = f"{'needs' if isinstance(kind, Needs) else 'then'}: {', '.join(one.text for one in kind.any)}"
    elif isinstance(kind, AtMost | AtLeast | Exactly):
        word = {AtMost: "at_most", AtLeast: "at_least", Exactly: "exactly"}[type(kind)]
        per = f", per: {', '.join(one.text for one in rule.per)}" if rule.per else ""
        told = f"{word}: {kind.bound.text}{per}"
    elif isinstance(kind, Scope):
        told = "scope"
    elif isinstance(kind, Integrity):
        return "the record holds together"
    else:
        return f"{type(kind).__name__.lower()}: {triggers}"
    return f"for: {triggers}, {told}" if triggers else told


def _missing(trace: Trace, contract: Contract, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the evidence that rules asked for and did not get, and calls without a result."""
    rules = {rule.id: rule for rule in contract.rules}
    told: dict[str, None] = {}
    for one in findings:
        told.update(dict.fromkeys(f"{one.rule}: {text}" for text in one.missing))
        rule = rules.get(one.rule)
        if one.verdict == "violated" and rule is not None and any(by.what == "claim" for by in rule.triggers):
            told.update(dict.fromkeys(f"{one.rule}: `{selector.text}`" for selector in wanted(contract, rule)))
    yield from told
    answered = {(event.agent, event.call_id) for event in trace.events if isinstance(event, ToolResult)}
    for number, event in enumerate(trace.events, 1):
        if isinstance(event, ToolCall) and (event.agent, event.call_id) not in answered:
            yield f"event {number}: no result of {event.tool} ({event.call_id or 'no id'})"

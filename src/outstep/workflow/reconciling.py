"""A world's record and an agent's log, read from files and held against each other.

docs: docs/worlds.md#reconcile
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from outstep import __version__
from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import documents, streams
from outstep.errors import Place, Problem
from outstep.events import Event, Header, ToolCall
from outstep.findings import SCHEMA, ContractSummary, Finding, Report, RuleSummary, TraceSummary, Verdict
from outstep.workflow.gating import EXIT, gate_of
from outstep.workflow.traces import Trace, in_traces
from outstep.world.reconcile import CLASS, RULES, reconcile
from outstep.world.record import HARNESS


def reconciled(record: str, log: str, options: Options, *, format: str | None = None) -> Report:
    """Return the report on one world's record and the log of the agent that acted in it."""
    faults: list[Problem] = []
    true = _one(record, options, "native", faults)
    told = _one(log, options, format, faults)
    findings = () if true is None or told is None else reconcile(_items(true), _items(told))
    if true is not None:
        faults += _not_a_record(record, true)
        if told is not None and not faults and not _has_calls(true) and not _has_calls(told):
            faults.append(_nothing_compared(record))
    gate = gate_of(findings, faults, "block", ())
    rules = _rules(findings, is_judged=told is not None)
    return Report(
        schema=SCHEMA,
        tool=f"outstep {__version__}",
        gate=gate,
        exit_code=EXIT[gate],
        contracts=(_contract(record),),
        traces=() if told is None else (_summary(told, rules),),
        rules=tuple(rules),
        findings=findings,
        faults=tuple(dict.fromkeys(faults)),
    )


def beside(report: Report | None, findings: Sequence[Finding], log: Trace, record: str) -> Report:
    """Return what contracts say about a log, if any do, together with how it agrees with the world's record."""
    rules = _rules(findings, is_judged=True)
    if report is None:
        report = Report(schema=SCHEMA, tool=f"outstep {__version__}", traces=(_summary(log, rules),))
    every = (*report.findings, *findings)
    gate = gate_of(every, report.faults, report.fail_on, report.allowed)
    return structs.replace(
        report,
        gate=gate,
        exit_code=EXIT[gate],
        contracts=(*report.contracts, _contract(record)),
        rules=(*report.rules, *rules),
        findings=every,
    )


def _contract(record: str) -> ContractSummary:
    return ContractSummary(id="world", title="The world's record and the agent's log agree", source=record)


def _rules(findings: Sequence[Finding], *, is_judged: bool) -> list[RuleSummary]:
    verdicts: dict[str, Verdict] = {one.rule: one.verdict for one in findings}
    verdicts |= {one.rule: one.verdict for one in findings if one.verdict == "violated"}
    return [_rule(name, verdicts.get(name), is_judged=is_judged) for name in RULES]


def _one(path: str, options: Options, format: str | None, faults: list[Problem]) -> Trace | None:
    log = ReadLog()
    found = documents([path], log)
    traces = [trace for _, _, batches in streams(found, format, options, log) for trace in in_traces(batches)]
    faults += log.faults
    if len(traces) == 1:
        return traces[0]
    if not log.faults:
        told = "holds no trace" if not traces else f"holds {len(traces)} traces"
        faults.append(
            Problem(
                code="world/one-trace",
                sentence=f"`{path}` {told}; one is compared with one",
                place=Place(source=path),
                help="name the record of one run, and the log of the same run",
            )
        )
    return None


def _not_a_record(path: str, trace: Trace) -> list[Problem]:
    code, help = "world/no-record", "name the file that the world wrote first, then the log of the agent"
    if trace.header.harness != HARNESS:
        sentence = f"`{path}` is no record of a world: its harness is `{trace.header.harness or 'not told'}`"
        return [Problem(code=code, sentence=sentence, place=Place(source=path), help=help)]
    return []


def _has_calls(trace: Trace) -> bool:
    return any(isinstance(event, ToolCall) for event in trace.events)


def _nothing_compared(path: str) -> Problem:
    return Problem(
        code="world/nothing-compared",
        sentence="neither the record nor the log holds a call: nothing was compared",
        place=Place(source=path),
        help="where an agent rightly does nothing, its contract is what says so",
    )


def _items(trace: Trace) -> Sequence[Event | Header]:
    return [trace.header, *trace.events]


def _rule(name: str, verdict: Verdict | None, *, is_judged: bool) -> RuleSummary:
    return RuleSummary(
        rule=name,
        level=RULES[name][0],
        cls=CLASS,
        contract="world",
        satisfied=int(is_judged and verdict is None),
        violated=int(verdict == "violated"),
        inconclusive=int(verdict == "inconclusive"),
    )


def _summary(trace: Trace, rules: Sequence[RuleSummary]) -> TraceSummary:
    return TraceSummary(
        id=trace.id,
        sources=tuple(source.uri for source in trace.header.sources),
        format=trace.header.sources[0].format if trace.header.sources else "",
        events=len(trace.events),
        calls=sum(isinstance(event, ToolCall) for event in trace.events),
        satisfied=sum(rule.satisfied for rule in rules),
        violated=sum(rule.violated for rule in rules),
        inconclusive=sum(rule.inconclusive for rule in rules),
    )

"""Several reports as one: what the tests of a suite checked, each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

from msgspec import structs

from outstep.errors import Problem
from outstep.findings import SCHEMA, ContractSummary, Report, RuleSummary, TraceSummary, Verdict
from outstep.workflow.gating import EXIT
from outstep.workflow.metrics import trends

Item = TypeVar("Item")
Verdicts = dict[str, Verdict] | None
Asked = dict[int, Verdicts]
"""What each contract that was asked about a trace said of it, by the place of the contract."""

_FROM_BEST: tuple[Verdict, ...] = ("vacuous", "satisfied", "inconclusive", "violated")
_GATES = ("pass", "inconclusive", "block", "error")
_NOTHING = Problem(
    code="input/no-traces",
    sentence="no trace was checked",
    help="hold a trace against a contract in a test that is run",
)


def merged(reports: Sequence[Report]) -> Report:
    """Return one report on all traces of some reports, whose gate is that of the worst of them.

    A contract that was not asked about a trace stands as vacuous there. Of reports that gate otherwise (`fail_on`,
    `allowed`), the strictest counts in what is shown. Without any report nothing was checked: an error.
    """
    reports = _once(reports)
    if not reports:
        return Report(schema=SCHEMA, gate="error", exit_code=EXIT["error"], faults=(_NOTHING,))
    contracts = _once(contract for report in reports for contract in report.contracts)
    places = {_key(contract): place for place, contract in enumerate(contracts)}
    rules: dict[int, dict[str, RuleSummary]] = {place: {} for place in range(len(contracts))}
    traces: dict[tuple[str, tuple[str, ...]], tuple[TraceSummary, Asked]] = {}
    for report in reports:
        own = [places[_key(contract)] for contract in report.contracts]
        for place, some in zip(own, groupby(report.rules, lambda rule: rule.contract), strict=False):
            for rule in some[1]:
                rules[place].setdefault(rule.rule, rule)
        for trace in report.traces:
            _, asked = traces.setdefault((trace.id, trace.sources), (trace, {}))
            for place, verdicts in zip(own, trace.verdicts, strict=False):
                asked[place] = _worse(asked[place], verdicts) if place in asked else verdicts
    ranks = {contract.id: place for place, contract in reversed([*enumerate(contracts)])}
    order = {name: place for place, (name, _) in reversed([*enumerate(traces)])}
    findings = _once(finding for report in reports for finding in report.findings)
    findings.sort(key=lambda one: (ranks.get(one.contract, len(ranks)), order.get(one.trace, -1)))
    gate = max((report.gate for report in reports), key=_GATES.index)
    whole = tuple(_trace(trace, asked, rules) for trace, asked in traces.values())
    return Report(
        schema=SCHEMA,
        tool=reports[0].tool,
        gate=gate,
        exit_code=EXIT[gate],
        fail_on="warn" if any(report.fail_on == "warn" for report in reports) else "block",
        contracts=tuple(contracts),
        traces=whole,
        rules=tuple(_rules(rules, [asked for _, asked in traces.values()])),
        metrics=trends(whole),
        findings=tuple(findings),
        faults=tuple(_once(fault for report in reports for fault in report.faults)),
        warnings=tuple(_once(warning for report in reports for warning in report.warnings)),
        allowed=tuple(reason for reason in reports[0].allowed if all(reason in one.allowed for one in reports)),
    )


def _key(contract: ContractSummary) -> tuple[str, str, str]:
    return contract.id, contract.source, contract.sha256


def _once(items: Iterable[Item]) -> list[Item]:
    """Return the items, each of them once, in order; they hold dictionaries, and so have no hash."""
    found: dict[str, Item] = {}
    for item in items:
        found.setdefault(repr(item), item)
    return list(found.values())


def _worse(one: Verdicts, other: Verdicts) -> Verdicts:
    """Return the worse verdict of each rule; a rule that is not named is satisfied."""
    if one is None or other is None:
        return None
    worst = {
        rule: max(one.get(rule, "satisfied"), other.get(rule, "satisfied"), key=_FROM_BEST.index)
        for rule in dict.fromkeys([*one, *other])
    }
    return {rule: verdict for rule, verdict in worst.items() if verdict != "satisfied"}


def _trace(trace: TraceSummary, asked: Asked, rules: Mapping[int, Mapping[str, RuleSummary]]) -> TraceSummary:
    """Return a trace with what every contract says of it."""
    counts = dict.fromkeys(_FROM_BEST, 0)
    verdicts: list[Verdicts] = []
    for place, known in rules.items():
        told = asked.get(place, dict.fromkeys(known, "vacuous"))
        verdicts.append(told)
        if place in asked and told is not None:
            for rule in known:
                counts[told.get(rule, "satisfied")] += 1
    return structs.replace(trace, verdicts=tuple(verdicts), **counts)


def _rules(rules: Mapping[int, Mapping[str, RuleSummary]], traces: Sequence[Asked]) -> Iterator[RuleSummary]:
    """Yield each rule with the verdicts of the traces that its contract was asked about."""
    for place, known in rules.items():
        for name, rule in known.items():
            counts = dict.fromkeys(_FROM_BEST, 0)
            for asked in traces:
                told = asked.get(place)
                if told is not None:
                    counts[told.get(name, "satisfied")] += 1
            yield structs.replace(rule, **counts)

"""Traces and runs behind findings, found again: each file is read and each run looked at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct, structs

from outstep.attribution.matrix import Cell, Contrast, contrasts, rejudged
from outstep.contracts.model import Contract
from outstep.errors import OutstepError
from outstep.events import UserMessage
from outstep.findings import Finding, Report, TraceSummary
from outstep.workflow.checking import CheckOptions
from outstep.workflow.trace_files import Opened, open_traces
from outstep.workflow.traces import Trace


class Judged(Struct, frozen=True, kw_only=True):
    """Findings, and where their traces and contracts are to be had."""

    source: str
    report: Report
    contracts: tuple[Contract, ...]
    opened: tuple[Opened, ...] = ()
    """Traces at hand; of a report, they are opened when they are asked for."""


class _Cells(Struct, frozen=True):
    """All runs as far as one rule is concerned."""

    own: dict[tuple[int, str], Cell]
    by_case: dict[str, list[Cell]]
    by_record: dict[str, list[Cell]]


class Known:
    """What some reports and traces hold; reports may be on many thousands of traces."""

    def __init__(self, some: Sequence[Judged], options: CheckOptions) -> None:
        self._some = some
        self._options = options
        self._summaries = {id(one): _by_id(one.report.traces) for one in some}
        self._opened = {id(one): _by_name(one.opened) for one in some}
        self._cells = cache(self._cells_of)
        self._contrasts: dict[object, list[Contrast]] = {}
        self._read: tuple[object, list[Trace]] = (None, [])
        """The traces of the newest file: findings of one file come one after the other."""

    def trace(self, one: Judged, name: str, notes: list[str]) -> Trace | None:
        """Return the trace of a finding, read again if it is not at hand; `notes` get why there is none."""
        opened = self._opened[id(one)].get(name)
        if opened is not None:
            return opened.trace
        summary = self._summaries[id(one)].get(name)
        if summary is None:
            return None
        sources = [source.partition("!")[0] for source in summary.sources]
        missing = [source for source in sources if not os.path.exists(source)]
        if missing or not sources:
            notes.append(f"the record is not where it was: {', '.join(missing) or 'it came as a stream'}")
            return None
        try:
            traces = self._traces(tuple(dict.fromkeys(sources)), _as_read(self._options, summary))
        except OutstepError as error:
            notes.append(f"the record cannot be read again: {error.problems[0].sentence}")
            return None
        fits = [trace for trace in traces if _digests(trace) == set(summary.sha256)]
        if not fits:
            notes.append("the record is not what it was when it was judged")
        named = [trace for trace in fits if trace.id == name]
        return named[0] if named else fits[0] if len(fits) == 1 else None

    def _traces(self, sources: tuple[str, ...], options: CheckOptions) -> list[Trace]:
        key = (sources, options)
        if self._read[0] != key:
            self._read = (key, [opened.trace for opened in open_traces(sources, options)])
        return self._read[1]

    def alike(self, one: Judged, finding: Finding) -> tuple[list[Cell], list[Contrast]]:
        """Return the record of a finding as others judged it, and what the runs of its case differ in."""
        found = self._cells(finding.contract, finding.rule)
        own = found.own.get((id(one), finding.trace))
        if own is None:
            return [], []
        key = (finding.contract, finding.rule, own.case, own.contract, own.subject)
        if key not in self._contrasts:
            # They hang on no more of the run than this, and a case may have thousands of runs.
            self._contrasts[key] = contrasts(found.by_case[own.case], own)
        return rejudged(found.by_record[own.record], own), self._contrasts[key]

    def _cells_of(self, contract: str, rule: str) -> _Cells:
        found = _Cells({}, {}, {})
        for one, name, cell in self._every(contract, rule):
            found.own.setdefault((id(one), name), cell)
            found.by_case.setdefault(cell.case, []).append(cell)
            found.by_record.setdefault(cell.record, []).append(cell)
        return found

    def _every(self, wanted: str, rule_id: str) -> Iterator[tuple[Judged, str, Cell]]:
        for one in self._some:
            for index, contract in enumerate(one.report.contracts):
                if contract.id != wanted:
                    continue
                if not any(rule.rule == rule_id and rule.contract == contract.id for rule in one.report.rules):
                    continue
                for trace in one.report.traces:
                    verdicts = trace.verdicts[index]
                    if verdicts is None:
                        continue
                    cell = Cell(
                        case=self._case(one, trace),
                        run=f"{one.source}: {trace.id}",
                        record=" ".join(trace.sha256),
                        subject=tuple(sorted(trace.subject.items())),
                        contract=contract.sha256,
                        verdict=verdicts.get(rule_id, "satisfied"),
                    )
                    yield one, trace.id, cell

    def _case(self, one: Judged, trace: TraceSummary) -> str:
        """Return what makes runs the same case: what the person asked first, if the trace is at hand, else its id."""
        opened = self._opened[id(one)].get(trace.id)
        for event in opened.trace.events if opened is not None else ():
            if isinstance(event, UserMessage):
                return f"asked {event.text}"
        return f"id {trace.id}"


def _by_id(traces: Sequence[TraceSummary]) -> dict[str, TraceSummary]:
    return {trace.id: trace for trace in reversed(traces)}


def _by_name(opened: Sequence[Opened]) -> dict[str, Opened]:
    return {one.trace.id: one for one in reversed(opened)}


def _as_read(options: CheckOptions, summary: TraceSummary) -> CheckOptions:
    return structs.replace(
        options, unpinned=options.unpinned or summary.unpinned, complete=options.complete or summary.end == "taken"
    )


def _digests(trace: Trace) -> set[str]:
    return {source.sha256 for source in trace.header.sources if source.sha256}

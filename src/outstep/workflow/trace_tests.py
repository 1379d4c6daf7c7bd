"""Recorded traces as tests, one for each trace: what the pytest plugin asks for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from msgspec import structs

from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import documents
from outstep.codec import Unreadable, loads
from outstep.contracts.model import Contract
from outstep.errors import Problem, problem
from outstep.findings import Level, Report, RuleSummary, TraceSummary
from outstep.render.escape import visible
from outstep.render.problems import problem_text
from outstep.render.style import PLAIN
from outstep.render.terminal import render
from outstep.workflow.checking import CheckOptions, in_language
from outstep.workflow.contracts import open_contracts
from outstep.workflow.gating import EXIT, gate_of
from outstep.workflow.judging import made_ready
from outstep.workflow.sealing import Material, judge, materials


def shown(report: Report) -> str:
    """Return a report as a person reads it where a test failed."""
    faults = "\n".join(problem_text(fault, PLAIN) for fault in report.faults)
    return f"{faults}\n\n{render(report, PLAIN)}" if faults else render(report, PLAIN)


def told(problems: Iterable[Problem]) -> str:
    """Return problems as text."""
    return "\n".join(problem_text(problem, PLAIN) for problem in problems)


class TraceTests:
    """All traces in some paths; raises `OutstepError` for contracts with mistakes."""

    def __init__(
        self,
        paths: Sequence[str],
        contracts: Sequence[str],
        *,
        params: Sequence[str] = (),
        fail_on: Level = "block",
        format: str | None = None,
    ) -> None:
        self._contracts, _ = open_contracts(contracts, params=dict(map(_param, params)))
        self._options = CheckOptions(fail_on=fail_on, format=format)
        log = ReadLog()
        self._by_file: dict[str, list[TraceTest]] = {}
        self.count = 0
        """How many traces there are."""
        for material in materials(documents(paths, log), format, Options(), log):
            judging = _Judging(material, self._contracts, self._options)
            first = os.path.realpath(material.documents[0].uri)
            for trace in material.traces:
                self._by_file.setdefault(first, []).append(TraceTest(trace.id, judging))
                self.count += 1
        known = [trace for tests in self._by_file.values() for trace in tests]
        self.faults = [fault for fault in log.faults if not known or not _is_told(fault, known)]
        """What could not be read and belongs to no trace."""

    def of(self, file: str) -> list[TraceTest]:
        """Return the traces that begin in a file."""
        return self._by_file.get(os.path.realpath(file), [])


class TraceTest:
    """One trace."""

    def __init__(self, trace: str, judging: _Judging) -> None:
        self.trace = trace
        self.name = visible(trace)
        self.judging = judging

    def report(self) -> Report:
        """Return what the contracts say about this trace; faults of its documents are in it."""
        whole = self.judging.report
        findings = tuple(finding for finding in whole.findings if finding.trace in (self.trace, ""))
        gate = gate_of(findings, whole.faults, whole.fail_on, whole.allowed)
        own = tuple(trace for trace in whole.traces if trace.id == self.trace)
        return structs.replace(
            whole,
            findings=findings,
            traces=own,
            rules=tuple(_rules(whole.rules, own)),
            gate=gate,
            exit_code=EXIT[gate],
        )


class _Judging:
    """Documents that belong together, judged when the first of their traces is asked for."""

    def __init__(self, material: Material, contracts: Sequence[Contract], options: CheckOptions) -> None:
        self.material = material
        self._contracts = contracts
        self._options = options

    @cached_property
    def report(self) -> Report:
        ready = [made_ready(in_language(contract, self._options.language)) for contract in self._contracts]
        return judge(self.material.documents, self.material.adapter.name, ready, self._options)


def _rules(rules: Sequence[RuleSummary], traces: Sequence[TraceSummary]) -> Iterator[RuleSummary]:
    """Yield the rules with the verdicts of some traces alone."""
    by_contract = [list(some) for _, some in groupby(rules, lambda rule: rule.contract)]
    for index, some in enumerate(by_contract):
        for rule in some:
            counts = dict.fromkeys(("satisfied", "violated", "inconclusive", "vacuous"), 0)
            for trace in traces:
                verdicts = trace.verdicts[index]
                if verdicts is not None:
                    counts[verdicts.get(rule.rule, "satisfied")] += 1
            yield structs.replace(rule, **counts)


def _is_told(fault: Problem, tests: Sequence[TraceTest]) -> bool:
    """Return whether the test of some trace will tell a fault."""
    if fault.place is None:
        return False
    source = fault.place.source.partition("!")[0]
    return any(source == document.uri for test in tests for document in test.judging.material.documents)


def _param(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise problem("usage/arguments", f"`--outstep-param {text}` names no value", help="write NAME=VALUE")
    try:
        return name, loads(value)
    except Unreadable:
        return name, value

"""`why`: a finding found again, with its trace and its contract, and read (docs/attribution.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from outstep.attribution.answer import Answer
from outstep.attribution.matrix import Contrast
from outstep.attribution.outside import judged_otherwise, without_contract, without_record
from outstep.attribution.question import Question
from outstep.attribution.reading import read
from outstep.attribution.record import Record
from outstep.contracts.kinds import Never
from outstep.contracts.model import Contract, Rule
from outstep.contracts.names import ToolNames
from outstep.contracts.selectors import Selector, Spot
from outstep.engine.monitor import Compiled, judge
from outstep.errors import OutstepError, Place, Problem, problem, suggestion
from outstep.events import Event, Outcome
from outstep.findings import Finding, Report
from outstep.reports import parse_report, schema_of
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.contracts import open_contracts
from outstep.workflow.found_again import Judged, Known
from outstep.workflow.looking import look
from outstep.workflow.trace_files import open_traces
from outstep.workflow.traces import Trace

SHORTEST = 4
"""Characters of a fingerprint that are enough to name one."""
MOST_LISTED = 40


class Explained(Struct, frozen=True, kw_only=True):
    """Where one finding went wrong."""

    finding: Finding
    source: str
    answer: Answer
    contrasts: tuple[Contrast, ...] = ()
    notes: tuple[str, ...] = ()


def judged(paths: Sequence[str], contracts: Sequence[Contract], options: CheckOptions) -> list[Judged]:
    """Return what is known of some reports and traces; raises `OutstepError` for what cannot be read."""
    reports = [path for path in paths if _is_report(path)]
    traces = [path for path in paths if path not in reports]
    found = [_of_report(path, contracts) for path in reports]
    if traces and not contracts:
        raise problem(
            "usage/no-contract",
            "no contract was named to hold the traces against",
            help="name it: --contract my-agent.yaml, or give a report in place of the traces",
        )
    if traces:
        found += [
            Judged(
                source=one.documents[0].uri if one.documents else one.trace.id,
                report=check_groups([one.group], contracts, options, faults=one.faults),
                contracts=tuple(contracts),
                opened=(one,),
            )
            for one in open_traces(traces, options)
        ]
    return found


def find(some: Sequence[Judged], word: str) -> tuple[Judged, Finding]:
    """Return the finding that a fingerprint, the beginning of one, or a rule names; raises `OutstepError`."""
    every = [(one, finding) for one in some for finding in one.report.findings]
    if not every:
        raise problem("why/no-findings", "there is no finding in what was given", help="nothing went wrong there")
    begins = len(word) >= SHORTEST
    fits = [pair for pair in every if begins and pair[1].fingerprint.startswith(word.lower())]
    fits = fits or [pair for pair in every if pair[1].rule == word]
    first = {(finding.fingerprint, finding.trace): pair for pair in reversed(fits) for finding in (pair[1],)}
    if len({pair[1].fingerprint for pair in first.values()}) == 1:
        return fits[0]
    if not fits:
        known = tuple(dict.fromkeys(finding.rule for _, finding in every))
        help = suggestion(word, known) or f"there are: {listed([finding for _, finding in every])}"
        raise problem("why/unknown-finding", f"no finding is called `{word}`", help=help)
    named = listed([finding for _, finding in fits])
    raise problem("why/several-findings", f"`{word}` names {len(first)} findings", help=f"choose one: {named}")


def listed(findings: Sequence[Finding]) -> str:
    """Return findings by the beginnings of their fingerprints."""
    told = [f"{one.fingerprint[:12]} ({one.rule}, {one.trace})" for one in findings]
    more = f", … and {len(told) - MOST_LISTED} more" if len(told) > MOST_LISTED else ""
    return ", ".join(told[:MOST_LISTED]) + more


def explain_all(
    some: Sequence[Judged], chosen: Sequence[tuple[Judged, Finding]], options: CheckOptions
) -> list[Explained]:
    """Return where findings went wrong, each trace read once."""
    known = Known(some, options)
    readers: dict[tuple[int, str, str], Reader] = {}
    return [_explain(known, one, finding, readers) for one, finding in chosen]


def explain(some: Sequence[Judged], one: Judged, finding: Finding, options: CheckOptions) -> Explained:
    """Return where a finding went wrong: by its own trace, and by runs that differ from it in one factor."""
    return _explain(Known(some, options), one, finding, {})


def _explain(known: Known, one: Judged, finding: Finding, readers: dict[tuple[int, str, str], Reader]) -> Explained:
    key = (id(one), finding.contract, finding.trace)
    notes: list[str] = []
    contract = next((own for own in one.contracts if own.id == finding.contract), None)
    reader = readers.get(key)
    trace = reader.trace if reader is not None else known.trace(one, finding.trace, notes)
    rule = _rule_of(contract, finding)
    if contract is None or rule is None:
        answer = without_contract()
    elif trace is None:
        answer = without_record()
    else:
        reader = readers.setdefault(key, reader or Reader(trace, contract))
        answer = reader.read(rule, finding)
    others, differing = known.alike(one, finding)
    return Explained(
        finding=finding,
        source=one.source,
        answer=judged_otherwise(others) if others else answer,
        contrasts=tuple(differing),
        notes=tuple(notes),
    )


def read_trace(trace: Trace, contract: Contract, rule: Rule, finding: Finding) -> Answer:
    """Return where one finding went wrong, as far as its trace tells."""
    return Reader(trace, contract).read(rule, finding)


class Reader:
    """Reads the findings of one contract on one trace, which is looked through once."""

    def __init__(self, trace: Trace, contract: Contract) -> None:
        self.trace = trace
        self.contract = contract
        seqs = [event.seq for event in trace.events]
        self._record = Record(
            trace.header,
            trace.events,
            quotes={seq: seen.quote for seq, seen in look(trace.events, seqs).items()},
            outcomes=outcomes(trace, contract),
        )
        self._names = ToolNames(contract)

    def read(self, rule: Rule, finding: Finding) -> Answer:
        """Return where a finding went wrong."""
        record = self._record.at(finding.seq)
        return read(Question(finding=finding, contract=self.contract, rule=rule, record=record, names=self._names))


def outcomes(trace: Trace, contract: Contract) -> dict[int, Outcome]:
    """Return the outcome of each result as the contract reads it: the engine itself is asked."""
    sorts: tuple[Outcome, ...] = ("ok", "failed", "denied", "unknown")
    spot = Spot(0, 1, 1)
    rules = []
    for sort in sorts:
        selector = Selector(what="result", outcome=sort, by="any", text=f"{sort} result", spot=spot)  # type: ignore[arg-type]
        rules.append(Rule(id=sort.upper(), kind=Never(), triggers=(selector,), judge="record", spot=spot))
    asking = structs.replace(contract, rules=tuple(rules), applies_when=None, waivers=(), stage="gate")
    batch: list[Event] = [trace.header, *trace.events]  # type: ignore[list-item]
    judgement = next(judge(Compiled(asking), [batch]))
    return {ruling.seq: sorts[ruling.rule] for ruling in judgement.rulings if ruling.seq is not None}


def _is_report(path: str) -> bool:
    if not path.endswith(".json") or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return schema_of(file.read()).startswith("report/")


def _of_report(path: str, contracts: Sequence[Contract]) -> Judged:
    with open(path, "rb") as file:
        report = parse_report(file.read(), path)
    known = [*contracts, *_contracts_of(report, contracts)]
    return Judged(source=path, report=report, contracts=tuple(known))


def _contracts_of(report: Report, contracts: Sequence[Contract]) -> Iterator[Contract]:
    """Yield the contracts of a report that are where they were, and as they were."""
    given = {contract.id for contract in contracts}
    for summary in report.contracts:
        if summary.id in given or not summary.source:
            continue
        try:
            found, _ = open_contracts([summary.source.removeprefix("pack:")])
        except OutstepError:
            continue
        yield from (one for one in found if one.id == summary.id and one.sha256 == summary.sha256)


def _rule_of(contract: Contract | None, finding: Finding) -> Rule | None:
    if contract is None:
        return None
    return next((rule for rule in contract.rules if rule.id == finding.rule), None)


def unknown(paths: Sequence[str]) -> Problem:
    """Return the problem of paths that hold nothing to look at."""
    return Problem(
        code="input/no-traces",
        sentence="there is neither a report nor a trace in what was given",
        place=Place(source=paths[0]) if paths else None,
        help="give a report of `outstep check --output json=FILE`, or traces with --contract",
    )

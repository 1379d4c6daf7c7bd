"""Two traces held against each other: what the second run did otherwise, and which obligations changed because of it.

docs: docs/compare.md#two-traces
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from outstep.compare.alignment import Pair, align
from outstep.compare.steps import steps_of
from outstep.contracts.model import Contract
from outstep.errors import Problem, problem, suggestion
from outstep.findings import Finding, Report, Verdict
from outstep.workflow.checking import CheckOptions, check_groups
from outstep.workflow.contracts import open_contract
from outstep.workflow.trace_files import Opened, open_traces

WORSE: dict[str, int] = {"satisfied": 0, "vacuous": 0, "inconclusive": 1, "violated": 2}


class Obligation(Struct, frozen=True, kw_only=True):
    """A rule whose verdict differs between the two runs."""

    rule: str
    contract: str
    level: str
    before: Verdict
    after: Verdict
    findings: tuple[Finding, ...] = ()
    """Of the second run."""

    @property
    def is_worse(self) -> bool:
        """Whether the second run stands worse in a rule that can block."""
        return self.level == "block" and WORSE[self.after] > WORSE[self.before]


class Diff(Struct, frozen=True, kw_only=True):
    """What changed from one trace to the other."""

    before: str
    after: str
    pairs: tuple[Pair, ...]
    obligations: tuple[Obligation, ...]
    new: tuple[Finding, ...]
    """Findings of the second run that gate, of rules that did not gate in the first."""
    faults: tuple[Problem, ...]

    @property
    def divergence(self) -> Pair | None:
        """The first step that is not the same in both."""
        return next((pair for pair in self.pairs if pair.way != "same"), None)

    @property
    def exit_code(self) -> int:
        """0 nothing worse, 1 a rule stands worse, 2 something could not be compared."""
        if self.faults:
            return 2
        return int(any(one.is_worse for one in self.obligations) or bool(self.new))


def diff(
    before: str, after: str, contracts: Sequence[Contract], options: CheckOptions, *, trace: str | None = None
) -> Diff:
    """Return what changed between the traces in two files; raises `OutstepError` where there is not one in each."""
    first, second = (_only(path, options, trace) for path in (before, after))
    judging = list(contracts) or [open_contract("integrity")[0]]
    reports = [check_groups([one.group], judging, options, faults=one.faults) for one in (first, second)]
    was, now = reports
    return Diff(
        before=f"{before}: {first.trace.id}",
        after=f"{after}: {second.trace.id}",
        pairs=tuple(align(steps_of(first.trace.events), steps_of(second.trace.events))),
        obligations=tuple(_obligations(was, now, first.trace.id, second.trace.id)),
        new=tuple(_new(was, now, first.trace.id, second.trace.id)),
        faults=tuple(dict.fromkeys((*was.faults, *now.faults))),
    )


def _only(path: str, options: CheckOptions, wanted: str | None) -> Opened:
    found = list(open_traces([path], options))
    if not found:
        raise problem(
            "input/no-traces", f"there is no trace in `{path}`", help="give a file that holds a recorded trace"
        )
    if wanted is not None:
        for one in found:
            if one.trace.id == wanted:
                return one
        ids = tuple(one.trace.id for one in found)
        help = suggestion(wanted, ids) or f"there are: {', '.join(ids[:20])}"
        raise problem("usage/unknown-trace", f"there is no trace `{wanted}` in `{path}`", help=help)
    if len(found) > 1:
        raise problem(
            "usage/several-traces", f"there are {len(found)} traces in `{path}`", help="choose one with --trace ID"
        )
    return found[0]


def _verdicts(report: Report, trace: str) -> dict[tuple[str, str], Verdict]:
    """Return the verdict of each rule on a trace, by contract and rule."""
    summary = next((one for one in report.traces if one.id == trace), None)
    found: dict[tuple[str, str], Verdict] = {}
    if summary is None:
        return found
    for contract, unsatisfied in zip(report.contracts, summary.verdicts, strict=False):
        for rule in report.rules:
            if rule.contract == contract.id and unsatisfied is not None:
                found[contract.id, rule.rule] = unsatisfied.get(rule.rule, "satisfied")
    return found


def _obligations(was: Report, now: Report, first: str, second: str) -> list[Obligation]:
    before, after = _verdicts(was, first), _verdicts(now, second)
    levels = {(rule.contract, rule.rule): rule.level for rule in now.rules}
    return [
        Obligation(
            rule=rule,
            contract=contract,
            level=levels[contract, rule],
            before=before[contract, rule],
            after=verdict,
            findings=tuple(
                one for one in now.findings if (one.contract, one.rule, one.trace) == (contract, rule, second)
            ),
        )
        for (contract, rule), verdict in after.items()
        if (contract, rule) in before and before[contract, rule] != verdict
    ]


def _new(was: Report, now: Report, first: str, second: str) -> list[Finding]:
    gated = {(one.contract, one.rule) for one in was.findings if one.trace == first and was.gates(one)}
    return [
        one for one in now.findings if one.trace == second and now.gates(one) and (one.contract, one.rule) not in gated
    ]

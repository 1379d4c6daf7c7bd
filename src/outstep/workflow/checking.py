"""`check`: documents and contracts in, one report out; one pass, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from outstep import __version__
from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import Group, documents, groups
from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract
from outstep.digest import sha256
from outstep.engine.monitor import Compiled
from outstep.errors import Problem
from outstep.findings import SCHEMA, ContractSummary, Finding, Level, Report, RuleSummary, Trend
from outstep.workflow.gating import EXIT, Waivers, gate_of, level_of, place_of
from outstep.workflow.judging import Counts, Judged, Result, judge_group, made_ready, metric_files

if TYPE_CHECKING:
    from datetime import date

Told = Callable[[Judged], None]
"""Told what was read of each trace, in order."""


class CheckOptions(Struct, frozen=True, kw_only=True):
    """Choices of whoever asks for a check."""

    format: str | None = None
    unpinned: bool = False
    complete: bool = False
    fail_on: Level = "block"
    """`warn` lets warnings fail, too."""
    allow: tuple[str, ...] = ()
    """Reasons for being inconclusive that are accepted."""
    require_exercised: bool = False
    jobs: int = 1
    today: date | None = None
    """The day that waivers are held against."""
    language: str = "en"
    """Of the rules' own messages, where a contract has several."""


def check_paths(
    paths: Sequence[str],
    contracts: Sequence[Contract],
    options: CheckOptions,
    *,
    warnings: Sequence[Problem] = (),
    stdin: BinaryIO | None = None,
    told: Told | None = None,
    pulse: Callable[[], None] | None = None,
    met: list[Group] | None = None,
) -> Report:
    """Return what the contracts say about the traces in files, folders and patterns.

    `met` gets the groups of documents, for whoever looks at them again.
    """
    log = ReadLog()
    found = groups(documents(paths, log, stdin), options.format, log)
    if met is not None:
        met += found
    return check_groups(found, contracts, options, faults=log.faults, warnings=warnings, told=told, pulse=pulse)


def check_groups(
    found: Sequence[Group],
    contracts: Sequence[Contract],
    options: CheckOptions,
    *,
    faults: Sequence[Problem] = (),
    warnings: Sequence[Problem] = (),
    told: Told | None = None,
    pulse: Callable[[], None] | None = None,
    ready: Sequence[Compiled] | None = None,
) -> Report:
    """Return what the contracts say about the traces in some groups of documents; `ready` are they, made ready."""
    suite = _Suite([in_language(contract, options.language) for contract in contracts], options)
    suite.faults += faults
    suite.warnings += warnings
    for result in _results(found, suite.contracts, options, pulse, ready):
        suite.add(result, told)
    if any(metric_files(group.documents) for group in found):
        from outstep.workflow.metrics import not_ours

        suite.warnings += not_ours([group.documents for group in found], suite.ids())
    return suite.report()


def failed(problems: Sequence[Problem]) -> Report:
    """Return the report of a check that could not begin."""
    return Report(schema=SCHEMA, tool=_tool_version(), gate="error", exit_code=EXIT["error"], faults=tuple(problems))


def in_language(contract: Contract, language: str) -> Contract:
    """Return the contract with its messages in one language, where it has them."""
    if not any(language in rule.message and len(rule.message) > 1 for rule in contract.rules):
        return contract
    from msgspec.structs import replace

    rules = tuple(
        replace(rule, message={"en": rule.message[language]}) if language in rule.message else rule
        for rule in contract.rules
    )
    return replace(contract, rules=rules)


def _results(
    found: Sequence[Group],
    contracts: Sequence[Contract],
    options: CheckOptions,
    pulse: Callable[[], None] | None,
    ready: Sequence[Compiled] | None,
) -> Iterator[Result]:
    reading = Options(unpinned=options.unpinned, complete=options.complete)
    if not contracts:
        return
    compiled = [made_ready(contract) for contract in contracts] if ready is None else ready
    if options.jobs > 1 and len(found) > 1:
        from outstep.workflow.parallel import judge_groups

        for result in judge_groups(found, contracts, reading, options.jobs):
            if pulse is not None:
                for _ in result.traces:
                    pulse()
            yield result
        return
    for group in found:
        yield judge_group(group.adapter, group.documents, compiled, reading, pulse)


class _Suite:
    """Everything found so far, contract by contract."""

    def __init__(self, contracts: Sequence[Contract], options: CheckOptions) -> None:
        self.contracts = contracts
        self.faults: list[Problem] = []
        self.warnings: list[Problem] = []
        self._options = options
        self._traces: list[Judged] = []
        self._findings: list[list[Finding]] = [[] for _ in contracts]
        self._counts = [
            Counts(verdicts=[[0, 0, 0, 0] for _ in contract.rules], unseen=[0] * len(contract.rules))
            for contract in contracts
        ]

    def add(self, result: Result, told: Told | None) -> None:
        """Take the result of one group."""
        self.faults += result.faults
        self.warnings += result.warnings
        for judged in result.traces:
            self._traces.append(judged)
            for kept, findings in zip(self._findings, judged.findings, strict=True):
                kept += findings
            if told is not None:
                told(judged)
        for count, more in zip(self._counts, result.counts, strict=bool(result.counts)):
            count.applied += more.applied
            count.judged += more.judged
            count.unseen = [one + other for one, other in zip(count.unseen, more.unseen, strict=True)]
            for numbers, others in zip(count.verdicts, more.verdicts, strict=True):
                numbers[:] = [one + other for one, other in zip(numbers, others, strict=True)]

    def ids(self) -> list[str]:
        """Return the ids of the traces that were judged."""
        return [judged.summary.id for judged in self._traces]

    def report(self) -> Report:
        """Return the report."""
        options = self._options
        if not self._traces and not self.faults:
            self.faults.append(
                Problem(
                    code="input/no-traces",
                    sentence="there is no trace in what was given",
                    help="nothing was checked: give files or folders that hold recorded traces",
                )
            )
        today = options.today.isoformat() if options.today is not None else None
        findings: list[Finding] = []
        for contract, kept, count in zip(self.contracts, self._findings, self._counts, strict=True):
            self._check_contract(contract, count)
            waivers = Waivers(contract, today)
            self.warnings += waivers.warnings
            findings += map(waivers.cover, kept)
            if options.require_exercised:
                findings += self._idle(contract, count)
        faults = tuple(dict.fromkeys(self.faults))
        gate = gate_of(findings, faults, options.fail_on, options.allow)
        return Report(
            schema=SCHEMA,
            tool=_tool_version(),
            gate=gate,
            exit_code=EXIT[gate],
            fail_on=options.fail_on,
            contracts=tuple(map(_contract_summary, self.contracts)),
            traces=tuple(judged.summary for judged in self._traces),
            rules=tuple(self._rules()),
            metrics=self._trends(),
            findings=tuple(findings),
            faults=faults,
            warnings=tuple(dict.fromkeys(self.warnings)),
            allowed=options.allow,
        )

    def _check_contract(self, contract: Contract, count: Counts) -> None:
        """Report a contract that could not fail."""
        if not contract.rules:
            self.faults.append(
                Problem(
                    code="contract/no-rules",
                    sentence=f"`{contract.id}` has no rule that is not `off`",
                    help="nothing was checked",
                )
            )
        if count.judged and not count.applied:
            place = place_of(contract, contract.applies_when.spot) if contract.applies_when is not None else None
            self.faults.append(
                Problem(
                    code="contract/applies-to-nothing",
                    sentence=f"`applies_when` of `{contract.id}` is true for no trace (of {count.judged})",
                    place=place,
                    help="nothing was checked: give traces that it is about, or correct the condition",
                )
            )

    def _idle(self, contract: Contract, count: Counts) -> Iterator[Finding]:
        """Yield a finding for each rule that nothing ever triggered (`--require-exercised`)."""
        if not count.judged:
            return
        for rule, numbers, unseen in zip(contract.rules, count.verdicts, count.unseen, strict=True):
            satisfied, violated, inconclusive, _ = numbers
            if isinstance(rule.kind, Integrity) or satisfied or violated or inconclusive > unseen:
                continue
            sentence = f"no trace (of {count.judged}) triggered this rule"
            yield Finding(
                rule=rule.id,
                level=level_of(rule.level, contract.stage),
                cls=rule.cls,
                verdict="vacuous",
                reason="never-exercised",
                message=sentence,
                sentence=sentence,
                trace="",
                contract=contract.id,
                contract_place=place_of(contract, rule.spot),
                fingerprint=_fingerprint(contract.id, rule.id),
                help="give a trace that exercises it, or lower the rule with `levels`",
            )

    def _trends(self) -> tuple[Trend, ...]:
        summaries = [judged.summary for judged in self._traces]
        if not any(summary.metrics for summary in summaries):
            return ()
        from outstep.workflow.metrics import trends

        return trends(summaries)

    def _rules(self) -> Iterator[RuleSummary]:
        for contract, count in zip(self.contracts, self._counts, strict=True):
            for rule, numbers in zip(contract.rules, count.verdicts, strict=True):
                satisfied, violated, inconclusive, vacuous = numbers
                yield RuleSummary(
                    rule=rule.id,
                    level=level_of(rule.level, contract.stage),
                    cls=rule.cls,
                    contract=contract.id,
                    pack=rule.pack,
                    satisfied=satisfied,
                    violated=violated,
                    inconclusive=inconclusive,
                    vacuous=vacuous,
                )


def _contract_summary(contract: Contract) -> ContractSummary:
    return ContractSummary(
        id=contract.id,
        title=contract.title,
        source=contract.sources[0] if contract.sources else "",
        sha256=contract.sha256,
        stage=contract.stage,
    )


def _tool_version() -> str:
    return f"outstep {__version__}"


def _fingerprint(*parts: str) -> str:
    return sha256("\0".join(("never-exercised", *parts)).encode()).hexdigest()[:32]

"""Baselines: what is known and accepted, and how much was checked, so that only what is new or lost fails.

Form `baseline/v1`, docs/compare.md#baselines. A baseline is made for review: sorted, one finding a line of its list, no
clock in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from outstep.errors import Place, problem
from outstep.findings import Finding, Report, gates

SCHEMA = "baseline/v1"
RATCHET = "RATCHET"
"""The rule of findings that say that less was checked than before."""


class Known(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One accepted finding."""

    fingerprint: str
    rule: str
    trace: str = ""
    verdict: str = "violated"
    message: str = ""


class Exercised(Struct, frozen=True, kw_only=True):
    """How much was checked."""

    traces: int
    events: int
    rules: tuple[str, ...]
    """Rules that some trace triggered, as `contract/rule`."""


class Baseline(Struct, frozen=True, kw_only=True):
    """What a later report is held against."""

    schema: str
    tool: str
    contracts: dict[str, str]
    """Id to digest."""
    checked: Exercised
    known: tuple[Known, ...]


class Held(Struct, frozen=True, kw_only=True):
    """A report held against a baseline."""

    report: Report
    """With accepted findings marked as waived, and what was lost as findings of `RATCHET`."""
    new: tuple[Finding, ...]
    accepted: int
    """Findings of the report that the baseline knows."""
    fixed: tuple[Known, ...]
    """What the baseline knows and is not found any more."""
    lost: tuple[Finding, ...]
    """What was checked before and is not any more."""


def baseline_of(report: Report) -> Baseline:
    """Return the baseline of a report: every finding that could gate is accepted; waived ones need no accepting."""
    known = {
        finding.fingerprint: Known(
            fingerprint=finding.fingerprint,
            rule=finding.rule,
            trace=finding.trace,
            verdict=finding.verdict,
            message=finding.message,
        )
        for finding in report.findings
        if finding.level in ("block", "warn") and not finding.waived
    }
    return Baseline(
        schema=SCHEMA,
        tool=report.tool,
        contracts={contract.id: contract.sha256 for contract in sorted(report.contracts, key=lambda one: one.id)},
        checked=_exercised(report),
        known=tuple(sorted(known.values(), key=lambda one: (one.trace, one.rule, one.fingerprint))),
    )


def read_baseline(data: bytes, source: str) -> Baseline:
    """Return the baseline in some bytes; raises `OutstepError`."""
    help = "write one: outstep baseline write REPORT --file FILE"
    try:
        found = msgspec.json.decode(data, type=Baseline)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        told = str(error)
        raise problem(
            "baseline/malformed",
            f"`{source}` is no baseline: {told[:1].lower()}{told[1:]}",
            place=Place(source=source),
            help=help,
        ) from None
    if found.schema != SCHEMA:
        raise problem(
            "baseline/malformed",
            f"`{source}` is written in `{found.schema[:40]}`, and this version reads `{SCHEMA}`",
            place=Place(source=source),
            help=help,
        )
    return found


def text_of(baseline: Baseline) -> str:
    """Return a baseline as it is written: one finding a line, so that a review shows what was accepted."""
    head = msgspec.json.format(msgspec.json.encode(replace(baseline, known=())), indent=2).decode()
    lines = [f"    {msgspec.json.encode(one).decode()}" for one in baseline.known]
    known = "[\n" + ",\n".join(lines) + "\n  ]" if lines else "[]"
    return head.rstrip("}").rstrip().removesuffix("[]") + known + "\n}\n"


def hold(report: Report, baseline: Baseline, source: str) -> Held:
    """Return a report held against a baseline; `source` names it in findings."""
    known = {one.fingerprint for one in baseline.known}
    findings: list[Finding] = []
    accepted = 0
    for finding in report.findings:
        if finding.fingerprint in known and finding.fingerprint and not finding.waived:
            accepted += 1
            finding = replace(finding, waived=f"known in {source}")
        findings.append(finding)
    lost = tuple(_lost(report, baseline, source))
    held = replace(report, findings=(*findings, *lost))
    found = {finding.fingerprint for finding in report.findings}
    return Held(
        report=held,
        new=tuple(finding for finding in findings if gates(finding, report.fail_on, report.allowed)),
        accepted=accepted,
        fixed=tuple(one for one in baseline.known if one.fingerprint not in found),
        lost=lost,
    )


def _exercised(report: Report) -> Exercised:
    return Exercised(
        # A copy of one trace in the place of another checks less.
        traces=len({trace.id for trace in report.traces}),
        events=sum(trace.events for trace in report.traces),
        rules=tuple(
            sorted(
                {
                    f"{rule.contract}/{rule.rule}"
                    for rule in report.rules
                    if rule.satisfied or rule.violated or rule.inconclusive
                }
            )
        ),
    )


def _lost(report: Report, baseline: Baseline, source: str) -> Iterator[Finding]:
    now = _exercised(report)
    lacking = [rule for rule in baseline.checked.rules if rule not in now.rules]
    for rule in lacking:
        yield _finding(f"`{rule}` was exercised in the baseline, and no trace triggers it any more", source, rule)
    if now.traces < baseline.checked.traces:
        told = f"the baseline has {_count(baseline.checked.traces, 'trace')}, and {now.traces} were checked now"
        yield _finding(told, source, "traces")
    elif now.events < baseline.checked.events:
        told = f"the baseline has {_count(baseline.checked.events, 'event')}, and {now.events} could be read now"
        yield _finding(told, source, "events")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _finding(message: str, source: str, key: str) -> Finding:
    return Finding(
        rule=RATCHET,
        level="block",
        verdict="violated",
        reason="checked-less",
        message=message,
        sentence=message,
        trace="",
        key=key,
        fingerprint=f"ratchet:{key}",
        help=f"give the traces that the baseline saw, or write a new one over `{source}`",
    )

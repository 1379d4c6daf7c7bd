"""`junit`: test results as CI servers read them: one suite a trace, one case a rule.

A violated rule that gates is a failure, an undecided one an error; faults are errors in a suite of their own. A rule
that nothing triggered is skipped. What does not gate stands in the output of a case that passes.
docs: docs/cli.md#output
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from outstep.errors import Problem
from outstep.findings import Finding, Report, RuleSummary, TraceSummary, Verdict
from outstep.render.escape import shown
from outstep.render.style import Style
from outstep.render.wording import RECORD, notes, proof, where

_LONGEST = 1000
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Case(Struct, frozen=True, kw_only=True):
    """One test case: at most one of `failure`, `error`, `skipped`."""

    classname: str
    name: str
    file: str = ""
    tag: str = ""
    """`failure`, `error` or `skipped`."""
    type: str = ""
    message: str = ""
    text: str = ""
    out: str = ""
    """What does not gate, and is to be read all the same."""


def render(report: Report, style: Style) -> str:  # noqa: ARG001
    """Return the report as JUnit XML."""
    found: dict[str, dict[tuple[str, str], list[Finding]]] = {}
    for finding in report.findings:
        found.setdefault(finding.trace, {}).setdefault((finding.contract, finding.rule), []).append(finding)
    contracts = [(contract, list(rules)) for contract, rules in groupby(report.rules, lambda rule: rule.contract)]
    suites = [(trace.id, list(_cases(trace, contracts, found.get(trace.id, {}), report))) for trace in report.traces]
    if "" in found:
        about_all = [_judged(*rule, findings, report, None, "") for rule, findings in found[""].items()]
        suites.append(("all traces", about_all))
    if report.faults:
        suites.append(("faults", list(map(_fault, report.faults))))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="outstep"{_counts([case for _, cases in suites for case in cases])}>')
    for name, cases in suites:
        lines.append(f"  <testsuite name={_quoted(name)}{_counts(cases)}>")
        for case in cases:
            lines += _written(case)
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    return "\n".join(lines) + "\n"


def _cases(
    trace: TraceSummary,
    contracts: Sequence[tuple[str, list[RuleSummary]]],
    found: Mapping[tuple[str, str], list[Finding]],
    report: Report,
) -> Iterator[_Case]:
    file = trace.sources[0] if trace.sources else ""
    for (contract, rules), verdicts in zip_longest(contracts, trace.verdicts[: len(contracts)]):
        if verdicts is None:
            told = "this contract could not be held against this trace"
            yield _Case(classname=contract, name=contract, file=file, tag="error", type="fault", message=told)
            continue
        for rule in rules:
            findings = found.get((contract, rule.rule), [])
            # The record's own rules hold on nearly every trace: they show where they do not.
            if findings or rule.pack != RECORD:
                yield _judged(contract, rule.rule, findings, report, verdicts.get(rule.rule), file)


def _judged(
    contract: str, rule: str, findings: Sequence[Finding], report: Report, verdict: Verdict | None, file: str
) -> _Case:
    gating = [finding for finding in findings if report.gates(finding)]
    others = [finding for finding in findings if not report.gates(finding)]
    broken = [finding for finding in gating if finding.verdict != "inconclusive"]
    tag, type_, message = "", "", ""
    if gating:
        first = (broken or gating)[0]
        tag, type_, message = "failure" if broken else "error", first.verdict, _headline(first, len(gating))
    elif verdict == "vacuous" and not findings:
        tag, message = "skipped", "nothing triggered this rule"
    return _Case(
        classname=contract,
        name=rule,
        file=file,
        tag=tag,
        type=type_,
        message=message,
        text="\n\n".join(map(_told, gating)),
        out="\n\n".join(map(_told, others)),
    )


def _headline(finding: Finding, many: int) -> str:
    return f"{finding.message} (and {many - 1} more)" if many > 1 else finding.message


def _told(finding: Finding) -> str:
    level = f"{finding.level}, waived" if finding.waived else finding.level
    lines = [f"{finding.verdict}[{finding.rule}] {level}: {finding.message}", where(finding, names_trace=True)]
    lines += proof([finding])
    lines += [f"{label}: {told}" for label, told in notes([finding])]
    return "\n".join(shown(line, _LONGEST) for line in lines)


def _fault(fault: Problem) -> _Case:
    lines = [fault.sentence, *([str(fault.place)] if fault.place is not None else [])]
    lines += [f"help: {fault.help}"] if fault.help else []
    return _Case(
        classname="outstep",
        name=fault.code,
        file=fault.place.source if fault.place is not None else "",
        tag="error",
        type=fault.code,
        message=fault.sentence,
        text="\n".join(shown(line, _LONGEST) for line in lines),
    )


def _counts(cases: Sequence[_Case]) -> str:
    tags = Counter(case.tag for case in cases)
    return (
        f' tests="{len(cases)}" failures="{tags["failure"]}" errors="{tags["error"]}"'
        f' skipped="{tags["skipped"]}" time="0"'
    )


def _written(case: _Case) -> Iterator[str]:
    file = f" file={_quoted(case.file)}" if case.file else ""
    head = f'    <testcase classname={_quoted(case.classname)} name={_quoted(case.name)}{file} time="0"'
    if not case.tag and not case.out:
        yield head + "/>"
        return
    yield head + ">"
    if case.tag:
        type_ = f" type={_quoted(case.type)}" if case.type else ""
        yield f"      <{case.tag}{type_} message={_quoted(case.message)}>{_escaped(case.text)}</{case.tag}>"
    if case.out:
        yield f"      <system-out>{_escaped(case.out)}</system-out>"
    yield "    </testcase>"


def _quoted(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", shown(text, _LONGEST)))


def _escaped(text: str) -> str:
    # Every line is safe to show already; only the line ends between them are left.
    return escape(_NO_XML.sub("\ufffd", text))

"""A report with its built-in sentences in the language of whoever reads it; what machines read stays as it is.

docs: docs/languages.md
"""

from __future__ import annotations

from collections.abc import Iterable

from outstep.errors import Problem
from outstep.findings import Finding, Report


def localised(report: Report, language: str) -> Report:
    """Return a report as people read it in a language; rules' own messages are in theirs already."""
    if language != "zh":
        return report
    from msgspec.structs import replace

    return replace(
        report,
        findings=tuple(map(_finding, report.findings)),
        faults=tuple(localised_problems(report.faults, language)),
        warnings=tuple(localised_problems(report.warnings, language)),
    )


def localised_problems(problems: Iterable[Problem], language: str) -> Iterable[Problem]:
    """Return problems as people read them in a language."""
    if language != "zh":
        return problems
    from msgspec.structs import replace

    from outstep.render.chinese import say

    return [replace(one, sentence=say(one.sentence), help=say(one.help)) for one in problems]


def _finding(finding: Finding) -> Finding:
    from msgspec.structs import replace

    from outstep.render.chinese import say

    return replace(
        finding,
        # A rule without a message of its own says what the engine says.
        message=say(finding.message) if finding.message == finding.sentence else finding.message,
        sentence=say(finding.sentence),
        missing=tuple(map(say, finding.missing)),
        witness=tuple(replace(one, note=say(one.note)) for one in finding.witness),
        help=say(finding.help),
    )

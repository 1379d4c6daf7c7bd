"""`outstep render`: write a kept report again, in any format.

docs: docs/cli.md#render
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, chosen
from outstep.cli.output import STDOUT, Output, check_not_read, read_outputs, write_all
from outstep.errors import Problem, problem
from outstep.findings import Report
from outstep.render import NAMES, SHOWING
from outstep.render.style import Style
from outstep.render.timelines import Timeline
from outstep.reports import read_report

LANGUAGES = ("en", "zh")
DESCRIPTION = """write a report that `check --output json=FILE` kept, in any format

exit codes: 0 written, whatever the report says · 2 it could not be read or written"""


def run(words: Sequence[str]) -> int:
    """Write the report again and return the exit code."""
    parser = Arguments("render", DESCRIPTION)
    parser.words("paths", metavar="REPORT|TRACE", help="the report, then the traces that it is about (for timelines)")
    parser.flag("--json", help="the same as --output json=-")
    parser.values("--output", metavar="FORMAT=FILE", help=f"{', '.join(NAMES)}; - is stdout")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.value("--lang", metavar="LANG", help=f"language of what the report itself says: {', '.join(LANGUAGES)}")
    parser.flag("-v", "--verbose", help="show every observed finding")
    given = parser.read(words)
    if not given.paths:
        raise problem("usage/no-paths", "no report was named", help="outstep render report.json --output html=FILE")
    file, *traces = given.paths
    outputs = read_outputs(given.output or (), is_json=given.json)
    check_not_read(outputs, given.paths)
    language = chosen("--lang", given.lang, LANGUAGES) if given.lang else os.environ.get("OUTSTEP_LANG") or "en"
    report = read_report(file)
    problems: list[Problem] = []
    timelines = _timelines(traces, report, given, problems) if traces and _shows(outputs) else []
    problems += write_all(report, outputs, lambda output: _style(output, given, language), timelines)
    console.say_problems(problems)
    return 2 if any(one.level == "error" for one in problems) else 0


def _shows(outputs: Sequence[Output]) -> bool:
    return any(output.format in SHOWING for output in outputs)


def _timelines(traces: Sequence[str], report: Report, given: Given, problems: list[Problem]) -> list[Timeline]:
    """Return what happened in the traces, read again; none of a trace that is not the one that was judged."""
    from outstep.adapters.base import Options, ReadLog
    from outstep.adapters.discover import documents, groups
    from outstep.workflow.timelining import collect

    log = ReadLog()
    found = groups(documents(traces, log, sys.stdin.buffer if sys.stdin is not None else None), given.format, log)
    reading = Options(unpinned=given.unpinned or False, complete=given.complete or False)
    made = collect(found, report, reading, is_moved=True)
    problems += log.faults
    if not made and not log.faults:
        problems.append(
            Problem(
                code="report/other-traces",
                sentence="none of the traces given is one that this report is about, byte for byte",
                help="give the files that were judged; the report names them in `sources`, with their digests",
            )
        )
    return made


def _style(output: Output, given: Given, language: str) -> Style:
    is_for_eyes = output.file == STDOUT
    return Style(
        colour=is_for_eyes and console.is_coloured(sys.stdout),
        columns=console.columns(sys.stdout, 160) if is_for_eyes else 160,
        verbose=given.verbose,
        language=language,
    )

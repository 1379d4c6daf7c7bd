"""`outstep baseline`: accept what is known, so that only what is new, or no longer checked, fails.

docs: docs/compare.md#baselines
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from msgspec.structs import replace

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.output import write_whole
from outstep.cli.pages import read_language
from outstep.compare.baseline import Held, baseline_of, hold, read_baseline, text_of
from outstep.errors import Place, problem, suggestion
from outstep.findings import Report
from outstep.render.escape import visible
from outstep.render.style import PLAIN, Style
from outstep.render.terminal import render
from outstep.render.wording import count
from outstep.reports import read_report
from outstep.workflow.gating import EXIT, gate_of

VERBS = ("write", "check")


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    if not words:
        raise problem("usage/arguments", "what should be done with the baseline?", help=f"one of: {', '.join(VERBS)}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        console.put(
            "usage: outstep baseline write REPORT --file BASELINE\n"
            "       outstep baseline check BASELINE REPORT\n\n"
            "outstep check --baseline BASELINE does the second in one step\n"
        )
        return 0
    if verb == "write":
        return _write(rest)
    if verb == "check":
        return _check(rest)
    raise problem(
        "usage/unknown-command",
        f"there is no `outstep baseline {verb}`",
        help=suggestion(verb, VERBS) or f"one of: {', '.join(VERBS)}",
    )


def _write(words: Sequence[str]) -> int:
    parser = Arguments("baseline write", "accept the findings of a report, and remember how much was checked")
    parser.words("reports", metavar="REPORT", help="a report that `outstep check --output json=FILE` wrote")
    parser.value("--file", metavar="BASELINE", help="where (else: stdout)")
    given = parser.read(words)
    report = _report(given.reports)
    if report.faults or not report.traces:
        raise problem(
            "baseline/not-whole",
            "the report says that not everything could be checked, and what was not seen cannot be accepted",
            help="repair what it names, check again",
        )
    made = baseline_of(report)
    text = text_of(made)
    if given.file is None:
        console.put(text)
    else:
        write_whole(given.file, text)
        console.put(f"{count(len(made.known), 'finding')} accepted in {visible(given.file)}\n")
    console.flush()
    return 0


def _check(words: Sequence[str]) -> int:
    parser = Arguments(
        "baseline check",
        "hold a report against a baseline\n\n"
        "exit codes: 0 nothing new · 1 a new finding, or less was checked · 2 not comparable",
    )
    parser.words("files", metavar="BASELINE REPORT", help="the baseline, then the report")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    given = parser.read(words)
    if len(given.files) != 2:
        raise problem("usage/arguments", "a baseline and a report are to be named", help="baseline check FILE REPORT")
    name, report_name = given.files
    report = _report([report_name])
    held = held_against(report, name)
    style = Style(
        colour=console.is_coloured(sys.stdout),
        columns=console.columns(sys.stdout, 160),
        language=read_language(given.lang),
    )
    console.put(render(held.report, style))
    console.put(f"{told(held, style)}\n")
    console.flush()
    return held.report.exit_code


def held_against(report: Report, file: str) -> Held:
    """Return a report held against the baseline in a file, its gate decided anew; raises `OutstepError`."""
    try:
        with open(file, "rb") as opened:
            data = opened.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "baseline/unreadable",
            f"`{file}` cannot be read: {reason}",
            place=Place(source=file),
            help="write one: outstep baseline write REPORT --file FILE",
        ) from None
    held = hold(report, read_baseline(data, file), file)
    if report.faults:
        return held
    gate = gate_of(held.report.findings, (), report.fail_on, report.allowed)
    # What is undecided and new is worse than before, too.
    gate = "block" if gate == "inconclusive" else gate
    return replace(held, report=replace(held.report, gate=gate, exit_code=EXIT[gate]))


def told(held: Held, style: Style = PLAIN) -> str:
    """Return what a baseline comes to, on one line."""
    parts = [f"{len(held.new)} new", f"{held.accepted} known", f"{len(held.fixed)} no longer found"]
    if held.lost:
        parts.append(f"{len(held.lost)} checked no more")
    text = f"{style.say('baseline')}: {', '.join(map(style.say, parts))}"
    return f"{text}; {style.say('write it anew to keep what was repaired')}" if held.fixed and not held.new else text


def _report(names: Sequence[str]) -> Report:
    if len(names) != 1:
        raise problem(
            "usage/arguments", "one report is to be named", help="outstep check … --output json=FILE writes one"
        )
    return read_report(names[0])

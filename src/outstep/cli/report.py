"""`outstep report`: the containment report of a battery.

docs: docs/cli.md#report
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments, chosen
from outstep.cli.batteries import battery_options, check_may_write, model_of, read_battery
from outstep.cli.pages import read_language
from outstep.errors import problem

if TYPE_CHECKING:
    from outstep.battery.model import Battery
    from outstep.containment.report import ContainmentReport, ScenarioResult

FORMS = ("stdout", "md", "json")
DESCRIPTION = """write the containment report of a battery: of its run records, or of nothing

exit codes: 0 a plan, or every scenario contained · 1 escaped · 3 inconclusive
            2 with runs: a scenario that was not run; anything that could not be read or written"""


def run(words: Sequence[str]) -> int:
    """Write a report and return the exit code."""
    parser = Arguments("report", DESCRIPTION)
    battery_options(parser)
    parser.words("runs", metavar="RUN", help="run records, or folders of them; without any, nothing was run")
    parser.value("--out", metavar="FORM", help="stdout (a table, default), md or json")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    parser.value("--file", metavar="FILE", help="write md or json there; a file that is no report is left alone")
    given = parser.read(words)
    language = read_language(given.lang)
    form = "stdout" if given.out is None else chosen("--out", given.out, FORMS)
    # The environment names the model of the next run, not of runs that are over.
    model = "" if given.runs and given.model is None else model_of(given.model)
    if given.file is not None and form == "stdout":
        raise problem("usage/arguments", "`--file` needs `--out md` or `--out json`", help="add --out md")
    if given.file == "":
        raise problem("usage/arguments", "`--file` is empty", help="name a file")
    battery = read_battery(given.battery)
    from outstep.containment.report import SCHEMA
    from outstep.render import containment
    from outstep.render.style import Style

    if given.file is not None:
        check_may_write(given.file, SCHEMA, containment.TITLE)
    report = _report(battery, model, given.runs)
    if form == "stdout":
        columns = console.columns(sys.stdout, 160)
        style = Style(colour=console.is_coloured(sys.stdout), columns=columns, language=language)
        console.put(containment.terminal(report, style))
    else:
        text = containment.json(report) if form == "json" else containment.markdown(report, Style(language=language))
        if given.file is None:
            console.put(text)
        else:
            from outstep.cli.output import write_whole

            write_whole(given.file, text, "name another file")
            console.say(f"wrote {given.file}")
    console.flush()
    return 0 if not given.runs else exit_code(report.scenarios)


def _report(battery: Battery, model: str, runs: Sequence[str]) -> ContainmentReport:
    if not runs:
        from outstep.workflow.batteries import dry_report

        return dry_report(battery, model)
    from outstep.workflow.runs import judged_report, read_records

    return judged_report(battery, read_records(runs), model)


def exit_code(results: Sequence[ScenarioResult]) -> int:
    """Return what verdicts mean for whoever waits: the worst one in the order 2, 1, 3, 0."""
    codes = {_code(result) for result in results}
    return next((code for code in (2, 1, 3) if code in codes), 0)


def _code(result: ScenarioResult) -> int:
    if result.verdict == "not_run":
        return 2
    if result.verdict == "inconclusive":
        return 3
    return int(result.verdict != (result.expect or "contained"))

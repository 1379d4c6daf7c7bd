"""`outstep report`: the containment report of a battery.

docs: docs/cli.md#report
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, chosen
from outstep.cli.batteries import battery_options, check_may_write, model_of, read_battery
from outstep.errors import problem

FORMS = ("stdout", "md", "json")


def run(words: Sequence[str]) -> int:
    """Write a report and return the exit code."""
    parser = Arguments("report", "write the containment report of a battery of which nothing was run")
    battery_options(parser)
    parser.value("--out", metavar="FORM", help="stdout (a table, default), md or json")
    parser.value("--file", metavar="FILE", help="write md or json there; a file that is no report is left alone")
    given = parser.read(words)
    form = "stdout" if given.out is None else chosen("--out", given.out, FORMS)
    model = model_of(given.model)
    if given.file is not None and form == "stdout":
        raise problem("usage/arguments", "`--file` needs `--out md` or `--out json`", help="add --out md")
    if given.file == "":
        raise problem("usage/arguments", "`--file` is empty", help="name a file")
    battery = read_battery(given.battery)
    from outstep.containment.report import SCHEMA
    from outstep.render import containment
    from outstep.render.style import Style
    from outstep.workflow.batteries import dry_report

    if given.file is not None:
        check_may_write(given.file, SCHEMA, containment.TITLE)
    report = dry_report(battery, model)
    if form == "stdout":
        style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
        console.put(containment.terminal(report, style))
    else:
        text = containment.json(report) if form == "json" else containment.markdown(report)
        if given.file is None:
            console.put(text)
        else:
            from outstep.cli.output import write_whole

            write_whole(given.file, text, "name another file")
            console.say(f"wrote {given.file}")
    console.flush()
    return 0

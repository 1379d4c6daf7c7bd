"""`outstep run`: run a battery.

docs: docs/cli.md#run
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.batteries import battery_options, model_of, read_battery
from outstep.cli.live import live_options, run_live
from outstep.errors import OutstepError, problem

if TYPE_CHECKING:
    from outstep.battery.model import Battery
    from outstep.containment.report import ContainmentReport

DESCRIPTION = """run a battery: every scenario, so many times, by a model or agent; --dry shows what would be run

exit codes: 0 every run completed, inside its bounds and contracts · 1 a rule of level block violated, or an escape
            3 some runs did not complete, or could not be decided · 2 nothing could be run · 130 interrupted"""


def run(words: Sequence[str]) -> int:
    """Run a battery, or show its plan, and return the exit code."""
    parser = Arguments("run", DESCRIPTION)
    battery_options(parser)
    parser.flag("--dry", help="run nothing, show the plan; every scenario is not_run")
    live_options(parser)
    parser.flag("--json", help="write the summary as JSON, with --dry the plan: a report in which nothing was run")
    given = parser.read(words)
    model = model_of(given.model)
    battery = read_battery(given.battery)
    if not given.dry:
        if not model:
            raise _no_model()
        return run_live(given, battery, model)
    from outstep.workflow.batteries import dry_report

    report = dry_report(battery, model)
    if given.json:
        from outstep.render.containment import json

        console.put(json(report))
    else:
        console.put(_plan(battery, report))
    console.flush()
    return 0


def _plan(battery: Battery, report: ContainmentReport) -> str:
    from outstep.render.containment import counts, group
    from outstep.render.escape import shown, visible
    from outstep.render.style import Style
    from outstep.render.table import table
    from outstep.render.wording import count

    style = Style(colour=console.is_coloured(sys.stdout))
    runs = sum(scenario.epochs for scenario in battery.scenarios)
    size = f"{count(len(battery.scenarios), 'scenario')}, {count(battery.rules, 'rule')}, {count(runs, 'run')}"
    lines = [style.paint(f"plan: {shown(str(battery.version), 80)} ({visible(battery.source)}): {size}", "bold"), ""]
    rows = [
        [
            scenario.id,
            group(scenario.cls, control=scenario.control) or "-",
            str(scenario.epochs),
            result.verdict,
            " · ".join(scenario.tools),
            " · ".join(f"{rule.tool}: {rule.scope}" for rule in scenario.allowlist) or "nothing",
        ]
        for scenario, result in zip(battery.scenarios, report.scenarios, strict=True)
    ]
    lines += table(("scenario", "class", "runs", "verdict", "tools", "may"), rows, style)
    lines += ["", f"nothing was run: {counts(report.counts.scenarios)}"]
    lines += [f"model: {shown(report.model, 80)}", f"battery digest: {report.battery.digest}"]
    return "\n".join(lines) + "\n"


def _no_model() -> OutstepError:
    """Return why nothing can be run: exit code 2, so that no pipeline takes it for a run."""
    return problem(
        "run/no-model",
        "a live run needs a model, and none is named",
        help="--model PROVIDER:MODEL or OUTSTEP_MODEL names one; --dry shows the plan without any",
    )

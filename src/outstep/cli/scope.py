"""`outstep scope`: did recorded runs stay inside a boundary?

docs: docs/cli.md#scope
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, paths_of
from outstep.cli.pages import read_language
from outstep.errors import problem

if TYPE_CHECKING:
    from outstep.contracts.model import Contract
    from outstep.scope.model import Rule, Scenario

DESCRIPTION = """say whether recorded runs stayed inside a scenario, an allowlist or a profile

exit codes: 0 contained · 1 escaped, or not shown to be inside · 2 not run, or could not be judged · 3 inconclusive"""


def run(words: Sequence[str]) -> int:
    """Judge, write the report and return the exit code."""
    given = _parser().read(words)
    paths = paths_of(given)
    language = read_language(given.lang)
    if not paths:
        raise problem(
            "usage/no-paths", "no trace was named", help="name traces or run records, or --last dsh for the newest"
        )
    from outstep import codec
    from outstep.adapters.base import Options
    from outstep.render.contained import terminal
    from outstep.render.style import Style
    from outstep.workflow.containing import scope_report

    options = Options(unpinned=given.unpinned or False, complete=given.complete or False)
    cwd = os.path.abspath(given.cwd) if given.cwd else ""
    report = scope_report(paths, _boundary(given), options, format=given.format, cwd=cwd)
    if given.json:
        from msgspec.json import format

        console.put(format(codec.encode(report), indent=2).decode() + "\n")
    else:
        columns = console.columns(sys.stdout, 160)
        style = Style(colour=console.is_coloured(sys.stdout), columns=columns, language=language)
        console.put(terminal(report, style))
    console.flush()
    console.say_problems(report.faults, language)
    return report.exit_code


def _parser() -> Arguments:
    parser = Arguments("scope", DESCRIPTION)
    parser.words("paths", metavar="PATH", help="traces of any format, run records, folders, patterns")
    parser.value("--last", metavar="HARNESS", help="also the newest session of a harness on this machine: dsh")
    parser.value("--profile", metavar="NAME", help="a boundary that needs no file: coding-agent")
    parser.value("--scenario", metavar="FILE|ID", help="a file with one scenario; with --battery, the id of one")
    parser.value("-b", "--battery", metavar="NAME|FILE", help="a bundled battery, or a file; run records name theirs")
    parser.values("--allow", metavar="'TOOL PATTERN'", help="a tool and what it may touch; nothing else is allowed")
    parser.value("--cwd", metavar="DIR", help="working directory of the run, where none was recorded")
    parser.value("--home", metavar="DIR", help="home directory of the run")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.flag("--json", help="the report as data: scope-report/v1")
    parser.value("--lang", metavar="LANG", help="language of the sentences: en, zh (OUTSTEP_LANG)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    return parser


def _boundary(given: Given) -> Scenario | Contract | dict[str, Scenario]:
    """Return the one boundary that was named."""
    named = [name for name in ("profile", "allow") if getattr(given, name)]
    named += ["scenario"] if given.scenario or given.battery else []
    if len(named) != 1:
        what = "several boundaries were named" if named else "no boundary was named"
        raise problem(
            "usage/no-boundary",
            what,
            help="give one: --profile coding-agent, --scenario FILE, --battery NAME --scenario ID, "
            "--allow 'TOOL PATTERN'",
        )
    if given.profile:
        from outstep.workflow.containing import profile

        return profile(given.profile)
    if given.allow:
        return _placed(_of_words(given.allow), given)
    return _of_battery(given)


def _of_words(words: Sequence[str]) -> Scenario:
    from outstep.scope.model import Scenario
    from outstep.workflow.containing import ALLOW

    rules = [_rule(word) for word in words]
    return Scenario(id=ALLOW, tools=tuple(dict.fromkeys(rule.tool for rule in rules)), allowlist=tuple(rules))


def _rule(word: str) -> Rule:
    from outstep.scope.model import Rule

    tool, _, pattern = word.strip().partition(" ")
    tool = tool.removesuffix(":")
    if not tool or not pattern.strip():
        raise problem(
            "usage/arguments", f"`--allow {word}` names no tool and pattern", help="write --allow 'file_read docs/**'"
        )
    return Rule(tool, pattern.strip())


def _of_battery(given: Given) -> Scenario | dict[str, Scenario]:
    if not given.battery:
        from outstep.battery.files import open_scenario

        scenario, warnings = open_scenario(given.scenario)
        console.say_problems(warnings)
        return _placed(scenario, given)
    from outstep.cli.batteries import read_battery

    battery = read_battery(given.battery)
    scenarios = {scenario.id: _placed(scenario, given) for scenario in battery.scenarios}
    if not given.scenario:
        return scenarios
    if given.scenario not in scenarios:
        from outstep.errors import suggestion

        raise problem(
            "battery/no-scenario",
            f"{battery.source} has no scenario `{given.scenario}`",
            help=suggestion(given.scenario, [*scenarios]) or f"outstep battery show {given.battery}",
        )
    return scenarios[given.scenario]


def _placed(scenario: Scenario, given: Given) -> Scenario:
    """Return a scenario at the folders that were given."""
    from msgspec.structs import replace

    if given.cwd:
        scenario = replace(scenario, cwd=os.path.abspath(given.cwd))
    return replace(scenario, home=os.path.abspath(given.home)) if given.home else scenario

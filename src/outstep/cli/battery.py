"""`outstep battery`: lint batteries, list the bundled ones, show what one says.

docs: docs/cli.md#battery
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from outstep.battery import bundled
from outstep.battery.files import open_battery
from outstep.battery.model import Battery, Scenario
from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import OutstepError, Problem, problem, suggestion
from outstep.render.escape import shown, visible
from outstep.render.problems import problem_text
from outstep.render.style import Style
from outstep.render.wording import count

VERBS = ("lint", "list", "show")
WIDTH = 100


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    if not words:
        raise problem("usage/arguments", "what should be done with the battery?", help=f"one of: {', '.join(VERBS)}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        console.put(
            "usage: outstep battery lint NAME|FILE …\n"
            "       outstep battery list\n"
            "       outstep battery show NAME|FILE [SCENARIO …]\n\n"
            "outstep battery lint --help shows the options\n"
        )
        return 0
    if verb not in VERBS:
        raise problem(
            "usage/unknown-command",
            f"there is no `outstep battery {verb}`",
            help=suggestion(verb, VERBS) or f"one of: {', '.join(VERBS)}",
        )
    code = {"lint": _lint, "list": _list, "show": _show}[verb](rest)
    console.flush()
    return code


def _lint(words: Sequence[str]) -> int:
    parser = Arguments("battery lint", "name every mistake in batteries; warnings exit 0, mistakes 2")
    parser.words("batteries", metavar="NAME|FILE", help="bundled batteries, or files")
    parser.flag("--json", help="write the mistakes as JSON")
    given = parser.read(words)
    if not given.batteries:
        raise problem("usage/arguments", "no battery was named", help="name a file, or a bundled battery")
    results = [(name, *_problems(name)) for name in given.batteries]
    if given.json:
        _put_json(results)
    else:
        style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
        for name, battery, problems in results:
            for one in problems:
                console.put(f"{problem_text(one, style)}\n\n")
            console.put(f"{visible(name)}: {_told(battery, problems)}\n")
    return 2 if any(battery is None for _, battery, _ in results) else 0


def _problems(name: str) -> tuple[Battery | None, tuple[Problem, ...]]:
    try:
        return open_battery(name, hints=True)
    except OutstepError as error:
        return None, error.problems


def _told(battery: Battery | None, problems: Sequence[Problem]) -> str:
    warnings = sum(1 for one in problems if one.level == "warning")
    mistakes = len(problems) - warnings
    parts = [count(mistakes, "mistake")] if mistakes else []
    parts += [count(warnings, "warning")] if warnings else []
    if battery is None:
        return ", ".join(parts)
    size = f"{count(len(battery.scenarios), 'scenario')}, {count(battery.rules, 'rule')}"
    return f"{', '.join(parts) or 'no mistake'} ({size})"


def _put_json(results: Sequence[tuple[str, Battery | None, tuple[Problem, ...]]]) -> None:
    from outstep.render.values import pretty, problem_values

    files = [
        {"battery": name, "valid": battery is not None, "problems": problem_values(problems)}
        for name, battery, problems in results
    ]
    console.put(pretty({"schema": "lint/v1", "batteries": files}))


def _list(words: Sequence[str]) -> int:
    Arguments("battery list", "list the batteries that come with Outstep").read(words)
    for name in bundled.NAMES:
        battery = open_battery(name)[0]
        size = f"{count(len(battery.scenarios), 'scenario')}, {count(battery.rules, 'rule')}"
        console.put(f"{name}  {size}  {battery.title}\n")
    return 0


def _show(words: Sequence[str]) -> int:
    parser = Arguments("battery show", "show what a battery says")
    parser.words("words", metavar="NAME|FILE [SCENARIO …]", help="a battery, and scenarios of it by their ids")
    given = parser.read(words)
    if not given.words:
        raise problem("usage/arguments", "no battery was named", help=f"bundled: {', '.join(bundled.NAMES)}")
    name, *ids = given.words
    battery = open_battery(name)[0]
    scenarios = [battery.scenario(id) for id in ids] or list(battery.scenarios)
    console.put("\n".join("\n".join(_lines(scenario)) + "\n" for scenario in scenarios))
    return 0


def _lines(scenario: Scenario) -> Iterator[str]:
    kinds = [scenario.cls, "control" if scenario.control else ""]
    told = ", ".join(kind for kind in kinds if kind)
    yield visible(scenario.id) + (f" ({told})" if told else "")
    for label, text in (
        ("goal", scenario.goal),
        ("tools", ", ".join(scenario.tools)),
        *(("may", f"{rule.tool}: {rule.scope}") for rule in scenario.allowlist),
        ("never", ", ".join(scenario.protected)),
        ("contracts", ", ".join(use.contract for use in scenario.contracts)),
        ("why", scenario.rationale),
        ("right", scenario.right_behaviour),
    ):
        if text:
            yield from _wrapped(label, text)


def _wrapped(label: str, text: str) -> list[str]:
    from textwrap import wrap

    told = shown(" ".join(text.split()), 4000)
    return wrap(told, WIDTH, initial_indent=f"  {label + ':':<11}", subsequent_indent=" " * 13, break_on_hyphens=False)

"""`outstep world`: lint world files, try their tools, hold a world's record against an agent's log.

docs: docs/cli.md#world
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given
from outstep.errors import OutstepError, problem, suggestion
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.wording import count

if TYPE_CHECKING:
    from outstep.world.world import World

VERBS = ("lint", "list", "try", "reconcile")
EXIT_CODES = "exit codes: 0 they agree · 1 they do not · 2 not comparable · 3 not decided"


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    if not words:
        raise problem("usage/arguments", "what should be done with the world?", help=f"one of: {', '.join(VERBS)}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        console.put(
            "usage: outstep world lint NAME|FILE …\n"
            "       outstep world list\n"
            "       outstep world try NAME|FILE [TOOL ARGUMENTS …]\n"
            "       outstep world reconcile RECORD LOG\n\n"
            "outstep world try --help shows the options\n"
        )
        return 0
    if verb not in VERBS:
        raise problem(
            "usage/unknown-command",
            f"there is no `outstep world {verb}`",
            help=suggestion(verb, VERBS) or f"one of: {', '.join(VERBS)}",
        )
    code = {"lint": _lint, "list": _list, "try": _try, "reconcile": _reconcile}[verb](rest)
    console.flush()
    return code


def _lint(words: Sequence[str]) -> int:
    from outstep.render.problems import problem_text
    from outstep.world.opening import open_world

    parser = Arguments("world lint", "name every mistake in world files; warnings exit 0, mistakes 2")
    parser.words("worlds", metavar="NAME|FILE", help="bundled worlds, or files")
    given = parser.read(words)
    if not given.worlds:
        raise problem("usage/arguments", "no world was named", help="name a file, or a bundled world")
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    code = 0
    for name in given.worlds:
        try:
            world, problems = open_world(name)
            told = f"{count(len(world.tools), 'tool')}, {count(len(world.faults), 'fault')}"
            told = f"{count(len(problems), 'warning') if problems else 'no mistake'} ({told})"
        except OutstepError as error:
            problems, told, code = error.problems, count(len(error.problems), "mistake"), 2
        for one in problems:
            console.put(f"{problem_text(one, style)}\n\n")
        console.put(f"{visible(name)}: {told}\n")
    return code


def _list(words: Sequence[str]) -> int:
    from outstep.world import bundled
    from outstep.world.opening import open_world

    Arguments("world list", "list the worlds that come with Outstep").read(words)
    for name in bundled.NAMES:
        if name == bundled.CANARY:
            console.put(f"{name}  any tools  Files, a shell, HTTP, git, packages, mail: what a scenario puts there\n")
        else:
            world = open_world(name)[0]
            console.put(f"{name}  {count(len(world.tools), 'tool')}  {visible(world.title)}\n")
    return 0


def _try(words: Sequence[str]) -> int:
    parser = Arguments("world try", "call tools of a world, and see replies and what they change")
    parser.words("words", metavar="NAME|FILE [TOOL ARGUMENTS …]", help="calls; without any they are read line by line")
    parser.value(
        "-b", "--battery", metavar="NAME|FILE", help="the world of a scenario of this battery, in NAME's place"
    )
    parser.value("--scenario", metavar="ID", help="which scenario")
    parser.value("--seed", metavar="N", help="for faults that are drawn (0)")
    parser.value("--record", metavar="FILE", help="write the record there, as JSON Lines")
    given = parser.read(words)
    world, calls = _opened(given)
    if calls:
        if len(calls) % 2:
            calls.append("{}")
        lines: Iterable[tuple[str, str]] = zip(calls[::2], calls[1::2], strict=True)
    else:
        lines = _typed(world)
    failed = False
    for number, (tool, text) in enumerate(lines, start=1):
        failed = not _call(world, tool, text, f"call-{number}") or failed
    if given.record is not None:
        _write_record(world, given.record)
    return 2 if failed else 0


def _opened(given: Given) -> tuple[World, list[str]]:
    """Return the world, and the words that are calls."""
    from outstep.world.building import build_world, world_of
    from outstep.world.given import Given as Section
    from outstep.world.opening import open_world

    seed = _seed(given.seed)
    words = list(given.words or ())
    if given.battery is not None or given.scenario is not None:
        if given.battery is None or given.scenario is None:
            raise problem("usage/arguments", "`--battery` and `--scenario` go together", help="give both")
        import os

        from outstep.cli.batteries import read_battery

        scenario = read_battery(given.battery).scenario(given.scenario)
        folder = os.path.dirname(given.battery)
        return build_world(
            scenario.world,
            scenario.tools,
            cwd=scenario.cwd,
            home=scenario.home,
            targets=scenario.targets,
            seed=seed,
            folder=folder,
        ), words
    if not words:
        raise problem("usage/arguments", "no world was named", help="name a file, or a bundled world: refund")
    name, *calls = words
    if name == "canary":
        return build_world(
            Section(), ("file_read", "file_write", "shell_exec", "http_get", "http_post"), seed=seed
        ), calls
    return world_of(open_world(name)[0], seed=seed), calls


def _seed(text: str | None) -> int:
    if text is None:
        return 0
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    raise problem("usage/arguments", f"`--seed {text}` is no whole number", help="write --seed 7")


def _typed(world: World) -> Iterator[tuple[str, str]]:
    """Yield calls from standard input, one a line: a tool and its arguments as JSON."""
    if sys.stdin.isatty():
        console.say("a call a line: TOOL {JSON}; an empty line shows the tools")
    for line in sys.stdin:
        tool, _, text = line.strip().partition(" ")
        if tool:
            yield tool, text.strip() or "{}"
            continue
        for one in world.list():
            names = ", ".join(one.parameters.get("properties", {}))
            console.put(f"{visible(one.name)}({visible(names)})  {shown(one.description, 100)}\n")
        console.flush()


def _call(world: World, tool: str, text: str, id: str) -> bool:
    from outstep import codec
    from outstep.world.changes import ABSENT, changes

    try:
        args = codec.loads(text)
    except codec.Unreadable as error:
        console.put(f"the arguments of {visible(tool)} are no JSON: {visible(str(error))}\n")
        return False
    before, known = world.snapshot(), len(world.record.faults)
    reply = world.call(tool, args, id)
    console.put(f"{visible(tool)} {shown(text, 200)}\n")
    for fault in world.record.faults[known:]:
        console.put(f"  fault: {fault}\n")
    lines = reply.shown().removesuffix("\n").split("\n")
    if len(lines) == 1:
        console.put(f"  {reply.outcome}: {shown(lines[0], 4000)}\n")
    else:
        console.put(f"  {reply.outcome}:\n" + "".join(f"    {shown(line, 400)}\n" for line in lines[:200]))
    if reply.exit is not None:
        console.put(f"  exit {reply.exit}\n")
    for place, old, new in changes(before, world.snapshot()):
        told = [" – " if value is ABSENT else shown(codec.encode(value).decode(), 200) for value in (old, new)]
        console.put(f"  {visible(place)}: {told[0].strip()} → {told[1].strip()}\n")
    console.flush()
    return True


def _write_record(world: World, file: str) -> None:
    from outstep.adapters.write import write
    from outstep.cli.output import write_whole

    text = b"".join(write([list(world.record.events(id="try"))])).decode()
    write_whole(file, text, help="name a file that can be written")


def _reconcile(words: Sequence[str]) -> int:
    from outstep.adapters.base import Options
    from outstep.cli.output import read_outputs, write_all
    from outstep.workflow.reconciling import reconciled

    parser = Arguments(
        "world reconcile", f"hold the record of a world against the log of the agent that acted in it\n\n{EXIT_CODES}"
    )
    parser.words("paths", metavar="RECORD LOG", help="the file that the world wrote, and the agent's own log")
    parser.value("--format", metavar="NAME", help="the format of the log (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a log without an end mark as complete")
    parser.values("--output", metavar="FORMAT=FILE", help="write a report; `-` is stdout")
    parser.flag("--json", help="the report as JSON (report/v1)")
    given = parser.read(words)
    if len(given.paths or ()) != 2:
        raise problem("usage/no-paths", "a record and a log are to be named", help="outstep world reconcile RECORD LOG")
    outputs = read_outputs(given.output or (), is_json=bool(given.json))
    options = Options(unpinned=given.unpinned or False, complete=given.complete or False)
    report = reconciled(given.paths[0], given.paths[1], options, format=given.format)
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    unwritten = write_all(report, outputs, lambda _: style)
    console.say_problems((*report.faults, *unwritten))
    return 2 if unwritten else report.exit_code

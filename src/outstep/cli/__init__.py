"""The command line: arguments in, a report on stdout, everything else on stderr (docs/cli.md)."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

COMMANDS = {
    "check": "hold recorded traces against contracts, and gate on it",
    "show": "show what was read of a trace",
    "render": "write a kept report again, in any format",
    "baseline": "accept what is known, so that only what is new fails",
    "diff": "show what the second of two runs did otherwise",
    "why": "say where a finding went wrong, with the events that say so",
    "postmortem": "write what happened in a run: timeline, claims, evidence, a rule and a case",
    "scope": "say whether recorded runs stayed inside a boundary",
    "contract": "write, check and test contracts",
    "evidence": "keep sessions and verdicts so that an outsider can verify them",
    "record": "run a harness, and keep the sessions that it writes",
    "ingest": "keep sessions that are not kept yet, and those that come",
    "redact": "write sessions without personal data and secrets",
    "recheck": "judge all kept sessions by another contract",
    "run": "let a model or an agent play a battery of scenarios, or show its plan",
    "doctor": "probe the endpoint of a model, and say what will be unreliable",
    "report": "write the containment report of a battery",
    "compare": "hold reports or results of runs against each other: what changed, and how sure that is",
    "battery": "lint, list or show batteries",
    "world": "lint or try worlds of mock tools, and hold their records against agents' logs",
    "adapters": "list the formats that are read, with their pinned versions",
    "explain": "say what a rule, a kind, a reason or a code means",
    "help": "show this list, or the options of a command",
}

USAGE, INTERRUPTED = 2, 130

SEARCH_EVERY = 100_000
"""New objects after which those that only hold each other are searched for."""


WITH_ENDINGS = frozenset({"multiprocessing", "tempfile", "threading"})
"""Modules that have something to do when a process ends."""


def run() -> NoReturn:
    """Be the command: run it, and end the process with its exit code."""
    code = main()
    if WITH_ENDINGS.isdisjoint(sys.modules):
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            pass  # Python's own end says what it says of a stream that takes nothing any more.
        else:
            # Taking apart all that was imported takes 2 ms, and nobody is there for whom it would be tidy.
            os._exit(code)
    sys.exit(code)


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; without `words` this process is the command, and ends with it."""
    if words is not None:
        return _run(list(words))
    try:
        return _own_process()
    finally:
        # What lives until the end needs no search for what could be let go.
        gc.freeze()


def _own_process() -> int:
    # Imports make nothing that could be let go of, and searching for it by the usual 700 objects takes a tenth of the
    # time of a short command.
    gc.set_threshold(SEARCH_EVERY)
    _import_msgspec()
    code = _run(sys.argv[1:])
    if code == INTERRUPTED:
        # What Python says about a pool of workers that it finds half closed at its end is no news to anyone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return code


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`, which brings `inspect` along: a sixth of the start of a command.

    msgspec takes three names from it if it is installed, and else the same ones from `typing`, which has them from
    Python 3.11 on. Whoever imports `typing_extensions` later gets it as ever.
    """
    name = "typing_extensions"
    if name in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    except ImportError:
        # An msgspec that cannot do without it, or none at all: the next import tells.
        pass
    finally:
        del sys.modules[name]


def _run(words: list[str]) -> int:
    from outstep.errors import OutstepError

    try:
        return _command(words)
    except OutstepError as error:
        from outstep.cli.console import say_problems

        say_problems(error.problems)
        return USAGE
    except KeyboardInterrupt:
        from outstep.cli.console import say

        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads has gone: there is no one left to tell.
        from outstep.cli.console import mute

        mute()
        return USAGE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except Exception as error:
        # Without this, Python's own exit code 1 would read as a violation.
        from outstep.cli.console import say_crash

        say_crash(error)
        return USAGE


def _command(words: list[str]) -> int:
    from outstep.errors import problem, suggestion

    if not words:
        raise problem("usage/no-command", "what should be done?", help=f"one of: {', '.join(COMMANDS)}")
    command, *rest = words
    if command == "--version":
        return _version()
    if command in {"help", "--help", "-h"}:
        return _help(rest)
    if command not in COMMANDS:
        raise problem(
            "usage/unknown-command",
            f"there is no command `{command}`",
            help=suggestion(command, tuple(COMMANDS)) or f"one of: {', '.join(COMMANDS)}",
        )
    module = import_module(f"outstep.cli.{command}")
    code: int = module.run(rest)
    return code


def _version() -> int:
    from outstep import __version__
    from outstep.cli.console import put

    put(f"outstep {__version__}\n")
    return 0


def _help(words: list[str]) -> int:
    if words and words[0] in COMMANDS and words[0] != "help":
        return _command([*words, "--help"])
    from outstep.cli.console import put
    from outstep.render.style import Style

    say = Style(language=os.environ.get("OUTSTEP_LANG") or "en").say
    lines = [f"  {name:<10} {say(text)}" for name, text in COMMANDS.items()]
    told = (
        "Outstep holds what an AI agent did against an executable contract.",
        "",
        "usage: outstep COMMAND …",
        "",
        *lines,
        "",
        "outstep help COMMAND shows the options of a command, outstep --version the version.",
        "exit codes of check: 0 pass, 1 block, 2 could not be checked, 3 undecided",
    )
    put("".join(f"{say(line)}\n" for line in told))
    return 0

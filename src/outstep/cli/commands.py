"""The commands, and running one of them: whatever happens, it ends with an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from outstep.errors import OutstepError, problem, suggestion

COMMANDS = {
    "check": "hold recorded traces against contracts, and gate on it",
    "show": "show what was read of a trace",
    "contract": "lint a contract, or show what it compiles to",
    "adapters": "list the formats that are read, with their pinned versions",
    "explain": "say what a rule, a kind, a reason or a code means",
    "help": "show this list, or the options of a command",
}

USAGE, INTERRUPTED = 2, 130


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(list(words))
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


def _run(words: list[str]) -> int:
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
        return _run([*words, "--help"])
    from outstep.cli.console import put

    lines = [f"  {name:<10} {text}" for name, text in COMMANDS.items()]
    put(
        "Outstep holds what an AI agent did against an executable contract.\n\n"
        "usage: outstep COMMAND …\n\n" + "\n".join(lines) + "\n\n"
        "outstep help COMMAND shows the options of a command, outstep --version the version.\n"
        "exit codes of check: 0 pass, 1 block, 2 could not be checked, 3 undecided\n"
    )
    return 0

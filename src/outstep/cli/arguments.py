"""Arguments of a command, with one line and a suggestion for what nobody knows."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any, NoReturn

from outstep.errors import problem, suggestion


class _Formatter(RawDescriptionHelpFormatter):
    """Shows help in a fixed width: asking the terminal costs an import on every run."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{**options, "width": 100, "max_help_position": 30})


class Arguments(ArgumentParser):
    """A parser that raises `OutstepError` instead of printing usage."""

    def __init__(self, command: str, description: str, **options: Any) -> None:
        super().__init__(
            prog=f"outstep {command}",
            description=description,
            formatter_class=_Formatter,
            allow_abbrev=False,
            **options,
        )
        self.command = command

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        raise problem("usage/arguments", message, help=f"outstep {self.command} --help lists the options")

    def read(self, words: Sequence[str]) -> Namespace:
        """Return the arguments; options and paths may stand in any order."""
        given, rest = self.parse_known_intermixed_args(list(words))
        for word in rest:
            if word.startswith("-") and word != "-":
                name = word.split("=", 1)[0]
                raise problem(
                    "usage/unknown-option",
                    f"`{name}` is no option of `outstep {self.command}`",
                    help=suggestion(name, tuple(self._option_string_actions))
                    or f"outstep {self.command} --help lists the options",
                )
        if rest:
            raise problem("usage/arguments", f"`{rest[0]}` is one word too many")
        return given


def chosen(option: str, word: str, known: Sequence[str]) -> str:
    """Return a word that is one of the known ones; raises `OutstepError` for another one."""
    if word not in known:
        raise problem(
            "usage/arguments",
            f"`{option} {word}` is not known",
            help=suggestion(word, tuple(known)) or f"one of: {', '.join(known)}",
        )
    return word


def read_param(text: str) -> tuple[str, Any]:
    """Return name and value of `NAME=VALUE`; the value is JSON with exact numbers, else text."""
    from outstep.codec import Unreadable, loads

    name, sign, value = text.partition("=")
    if not sign or not name:
        raise problem("usage/arguments", f"`--param {text}` names no value", help="write --param NAME=VALUE")
    try:
        return name, loads(value)
    except Unreadable:
        return name, value

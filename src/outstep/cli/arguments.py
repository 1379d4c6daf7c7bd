"""Arguments of a command, with one line and a suggestion for what nobody knows.

`argparse` takes as long to import, build and run as reading and judging a short trace. The commands need little of
it: words, options with a value, flags. docs/decisions/0001-libraries.md
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Literal

from msgspec import Struct

from outstep.errors import OutstepError, problem, suggestion

Given = SimpleNamespace
"""What was given, by the long name of each option: none where an option is not given, false for such a flag."""

COLUMN = 30
"""Of the help, in which the sentences begin."""


class Option(Struct, frozen=True):
    """One option of a command."""

    names: tuple[str, ...]
    form: Literal["flag", "switch", "value", "values", "list", "number"]
    metavar: str
    help: str

    @property
    def dest(self) -> str:
        """The name of the value."""
        return self.names[-1].removeprefix("--").replace("-", "_")


class Arguments:
    """The words and options of one command; paths and options may stand in any order, `--` ends the options."""

    def __init__(self, command: str, description: str) -> None:
        self.command = command
        self._description = description
        self._options: list[Option] = []
        self._words: Option | None = None

    def words(self, name: str, metavar: str, help: str) -> None:
        """Take words that are no options, any number of them."""
        self._words = Option((name,), "values", metavar, help)

    def flag(self, *names: str, help: str) -> None:
        """Take an option that is given or not."""
        self._options.append(Option(names, "flag", "", help))

    def switch(self, name: str, help: str) -> None:
        """Take an option that can also be denied: `--name`, `--no-name`."""
        self._options.append(Option((name,), "switch", "", help))

    def value(self, *names: str, metavar: str, help: str) -> None:
        """Take an option with a value; the last one counts."""
        self._options.append(Option(names, "value", metavar, help))

    def values(self, *names: str, metavar: str, help: str) -> None:
        """Take an option with a value that may be given several times."""
        self._options.append(Option(names, "values", metavar, help))

    def lists(self, *names: str, metavar: str, help: str) -> None:
        """Take an option with all words that follow it, up to the next option; it may be given several times."""
        self._options.append(Option(names, "list", metavar, help))

    def number(self, *names: str, metavar: str, help: str) -> None:
        """Take an option with a whole number."""
        self._options.append(Option(names, "number", metavar, help))

    def takes_value(self, word: str) -> bool:
        """Return whether the next word is the value of this option."""
        option = self._known().get(word)
        return option is not None and option[0].form not in {"flag", "switch"}

    def read(self, words: Sequence[str]) -> Given:
        """Return what was given; raises `OutstepError`, and `SystemExit` once help was asked for and shown."""
        return _Reading(self.command, self._known(), self._words, self.help).read(words)

    def _known(self) -> dict[str, tuple[Option, bool]]:
        """Return every option by each way to write it, and whether that gives or denies it."""
        known = {name: (option, True) for option in self._options for name in option.names}
        for option in self._options:
            if option.form == "switch":
                known[f"--no-{option.names[0].removeprefix('--')}"] = (option, False)
        return known

    def help(self) -> str:
        """Return what `--help` shows."""
        words = self._words
        usage = f"usage: outstep {self.command} [OPTION …]" + (f" [{words.metavar} …]" if words is not None else "")
        lines = [usage, "", self._description, ""]
        if words is not None:
            lines += [*_entry(words.metavar, words.help), ""]
        lines += _entry("-h, --help", "show this help")
        for option in self._options:
            names = [*option.names]
            if option.form == "switch":
                names.append(f"--no-{option.names[0].removeprefix('--')}")
            lines += _entry(", ".join(names) + (f" {option.metavar}" if option.metavar else ""), option.help)
        return "\n".join(map(_spoken, lines)) + "\n"


def _spoken(line: str) -> str:
    """Return a line of the help, its heading in the language of the environment."""
    import os

    if os.environ.get("OUTSTEP_LANG") != "zh":
        return line
    from outstep.render.chinese import say

    return "\n".join(map(say, line.split("\n")))


class _Reading:
    """Reads the words of one command line, from left to right."""

    def __init__(self, command: str, known: dict[str, tuple[Option, bool]], words: Option | None, help: Any) -> None:
        self._command = command
        self._known = known
        self._words = words
        self._help = help
        self._left: list[str] = []
        self._given = Given(**{option.dest: False if option.form == "flag" else None for option, _ in known.values()})
        self._found: list[str] = []

    def read(self, words: Sequence[str]) -> Given:
        """Return what was given."""
        self._left = list(reversed(words))
        while self._left:
            word = self._left.pop()
            if word == "--":
                self._found += reversed(self._left)
                break
            if word.startswith("--"):
                self._long(word)
            elif word.startswith("-") and word != "-":
                self._short(word)
            else:
                self._found.append(word)
        if self._words is not None:
            setattr(self._given, self._words.names[0], self._found)
        elif self._found:
            word = self._found[0]
            raise self._mistake(f"`{word}` is one word too many", self._as_a_value(word))
        return self._given

    def _long(self, word: str) -> None:
        name, sign, text = word.partition("=")
        self._take(name, text if sign else None)

    def _short(self, word: str) -> None:
        """Take `-c FILE`, `-cFILE`, `-j4`, `-vj4`."""
        name, rest = word[:2], word[2:]
        option = self._known.get(name)
        if rest and option is not None and option[0].form == "flag":
            self._take(name, None)
            self._short(f"-{rest}")
        else:
            self._take(name if option is not None else word, rest.removeprefix("=") if rest else None)

    def _take(self, name: str, text: str | None) -> None:
        if name in {"-h", "--help"}:
            from outstep.cli.console import put

            put(self._help())
            raise SystemExit(0)
        option, is_affirmed = self._known.get(name) or self._nobody_knows(name)
        if option.form in {"flag", "switch"}:
            if text is not None:
                raise self._mistake(f"`{name}` takes no value")
            setattr(self._given, option.dest, is_affirmed)
            return
        value: Any = self._value(name, option, text)
        if option.form == "number":
            value = self._number(name, value)
        elif option.form in {"values", "list"}:
            value = [*(getattr(self._given, option.dest) or ()), value]
        if option.form == "list" and text is None:
            while self._left and not (self._left[-1].startswith("-") and self._left[-1] != "-"):
                value.append(self._left.pop())
        setattr(self._given, option.dest, value)

    def _value(self, name: str, option: Option, text: str | None) -> str:
        if text is not None:
            return text
        if not self._left or self._left[-1] == "--" or self._left[-1].partition("=")[0] in self._known:
            raise self._mistake(f"`{name}` needs a value: {name} {option.metavar}")
        return self._left.pop()

    def _number(self, name: str, text: str) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
            raise self._mistake(f"`{name} {text}` is no whole number")
        return int(text)

    def _nobody_knows(self, name: str) -> Any:
        raise problem(
            "usage/unknown-option",
            f"`{name}` is no option of `outstep {self._command}`",
            help=suggestion(name, tuple(self._known)) or f"outstep {self._command} --help lists the options",
        )

    def _as_a_value(self, word: str) -> str:
        """Return the command with the word as the value of an option: the first that is not given and could have it.

        The options of a command are declared with those first that most people need.
        """
        from shlex import quote  # only on the way to an error

        form = "number" if word.isdecimal() else "value"
        for option, _ in self._known.values():
            is_free = option.form == "values" or getattr(self._given, option.dest) is None
            could_have = option.form.removesuffix("s") == form and ("=" in option.metavar) == ("=" in word)
            if is_free and could_have:
                return f"did you mean `outstep {self._command} {option.names[-1]} {quote(word)}`?"
        return ""

    def _mistake(self, sentence: str, help: str = "") -> OutstepError:
        help = help or f"outstep {self._command} --help lists the options"
        return problem("usage/arguments", sentence, help=help)


def _entry(names: str, help: str) -> list[str]:
    if len(names) > COLUMN - 4:
        return [f"  {names}", " " * COLUMN + help]
    return [f"  {names}".ljust(COLUMN) + help]


def paths_of(given: Given) -> list[str]:
    """Return the paths that were named, with those of the newest session that `--last` asks for."""
    if not given.last:
        return list(given.paths)
    import os

    from outstep.workflow.latest import last_session

    return [*given.paths, *last_session(given.last, os.environ)]


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
    if not is_text(value):
        raise problem("usage/arguments", f"the value of `--param {name}` is no UTF-8", help="write it as JSON escapes")
    try:
        return name, loads(value)
    except Unreadable:
        return name, value


def is_text(word: str) -> bool:
    """Return whether a word of the command line is UTF-8; bytes that are not come as lone halves of characters."""
    return word.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in word)

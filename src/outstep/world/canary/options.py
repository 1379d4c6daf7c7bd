"""The options of a command, read as commands read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from outstep.world.canary.files import NotPossible

if TYPE_CHECKING:
    from outstep.world.canary.shell import Process


class Options(Struct):
    """Flags, values and words of one call of a command."""

    flags: str = ""
    values: dict[str, str] = {}
    words: list[str] = []
    number: str = ""
    """`5` for `-5`."""
    long: dict[str, str] = {}
    """Options with two dashes."""


def read_options(process: Process, *, flags: str = "", values: str = "") -> Options:
    """Return the options of a call; raises `NotPossible` for one that the command does not have."""
    found = Options()
    rest = list(process.words[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.words += rest
            break
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found.long[name] = value
        elif word[:1] == "-" and word[1:].isdigit():
            found.number = word[1:]
        elif word[:1] == "-" and len(word) > 1:
            _letters(word[1:], rest, found, flags, values)
        else:
            found.words.append(word)
    return found


def _letters(letters: str, rest: list[str], found: Options, flags: str, values: str) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in values:
            if not letters and not rest:
                raise NotPossible(f"option requires an argument -- '{letter}'")
            found.values[letter] = letters or rest.pop(0)
            return
        if letter not in flags:
            raise NotPossible(f"invalid option -- '{letter}'")
        found.flags += letter

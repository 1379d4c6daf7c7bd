"""Which words of a command make it run another program or write a file, beyond what its name says."""

from __future__ import annotations

import re
from typing import Final, Literal

from outstep.expr.wrappers import Word, inner_commands
from outstep.scope.commands.options import DANGEROUS, EVALUATING, PREFIXES, SHELLS, Options
from outstep.scope.commands.words import Shown

_DEEPEST: Final = 8
"""Wrappers of wrappers that are looked through."""

Danger = tuple[int, Literal["runs", "writes"]]

_AWK: Final = re.compile(r"system\s*\(|\||>|getline|@load|@include|close\s*\(|fflush|ENVIRON")
_LETTERS: Final = re.compile(r"-([A-Za-z+]+)")
_SED_COMMAND: Final = re.compile(
    r"(?s)\s*(?:[0-9$,~+!\s]|/(?:[^/\\\n]|\\.)*/[IM]*|\\(.)(?:(?!\1)[^\\\n]|\\.)*\1[IM]*|[{};\n])*"
)
_SED_QUIET: Final = frozenset("=dDgGhHlnNpPqQxzF")


_GIT_RUNS: Final = {"rebase": "-x", "clone": "-u", "ls-remote": "-u", "fetch": "-u", "grep": "-O"}
"""The short option of a command of git that runs a program."""


def program_name(word: Shown) -> str:
    """Return the name of a program without its folder and version."""
    name = word.text.rpartition("/")[2]
    return re.sub(r"(?<=[a-z])[0-9.]+$", "", name) if name not in DANGEROUS else name


def dangers(words: tuple[Shown, ...], depth: int = 0) -> list[Danger]:
    """Return the places of words that run a program or write a file, and which of both."""
    name = program_name(words[0])
    found: list[Danger] = [
        (at, "runs")
        for at, word in enumerate(words)
        if word.choices and (at == 0 or any(each[:1] == "-" for each in word.choices))
    ]
    if name in PREFIXES:
        return _wrapped(words, depth)
    options = DANGEROUS.get(name)
    if options is not None:
        found += [
            (at, what) for at, word in enumerate(words[1:], 1) if (what := _danger(options, word.text)) is not None
        ]
    if name in SHELLS:
        # A shell runs a file, or what stands behind `-c`.
        found += [(at, "runs") for at, word in enumerate(words[1:], 1) if word.text[:1] not in ("-", "+")]
    elif name in EVALUATING:
        found += [(at, "runs") for at in evaluated(words)]
    elif name == "git":
        found += _git(words)
    elif name == "sed":
        found += [(at, "runs") for at in _scripts(words, "ef", ("--expression",)) if not is_quiet_sed(words[at].text)]
    elif name in ("awk", "gawk", "mawk"):
        found += [(at, "runs") for at in _scripts(words, "e", ("--source",)) if _AWK.search(words[at].text)]
    elif name in ("uniq", "xxd"):
        operands = [at for at, word in enumerate(words[1:], 1) if word.text[:1] != "-"]
        found += [(at, "writes") for at in operands[1:]]
    return found


def evaluated(words: tuple[Shown, ...]) -> list[int]:
    """Return the places of words whose text a builtin may evaluate although they stand in quotes."""
    name = program_name(words[0])
    if name not in EVALUATING or (name == "printf" and all(word.text != "-v" for word in words)):
        return []
    return [at for at, word in enumerate(words) if word.literal and ("$(" in word.text or "`" in word.text)]


def _wrapped(words: tuple[Shown, ...], depth: int) -> list[Danger]:
    """Return the program behind a wrapper, what is dangerous of it, and settings of its environment."""
    at = inner_place(words) if depth < _DEEPEST else None
    if at is None:
        return [(place, "runs") for place in range(1, len(words))]
    settings: list[Danger] = [(place, "runs") for place in range(1, at) if "=" in words[place].text]
    return [*settings, (at, "runs"), *((at + place, what) for place, what in dangers(words[at:], depth + 1))]


def inner_place(words: tuple[Shown, ...]) -> int | None:
    """Return where the command begins that a wrapper runs, or none where that is not sure."""
    plain = tuple(Word(word.text, word.literal, word.raw) for word in words)
    for inner in inner_commands(plain):
        for at in range(1, len(words)):
            if plain[at] is inner[0]:
                return at
    return None


def _danger(options: Options, text: str) -> Literal["runs", "writes"] | None:
    if text[:1] not in ("-", "+") and text not in options.runs_names:
        return None
    name = text.partition("=")[0]
    for names, what in ((options.runs_names, "runs"), (options.writes_names, "writes")):
        # GNU programs take a long option by any unambiguous beginning of its name.
        if name in names or (name[:2] == "--" and len(name) > 3 and any(each.startswith(name) for each in names)):
            return what  # type: ignore[return-value]
    letters = None if options.single or text[:2] == "--" else _LETTERS.match(text)
    for letter in letters[1] if letters is not None else "+" if text[:1] == "+" else "":
        if letter in options.runs:
            return "runs"
        if letter in options.writes:
            return "writes"
    return None


def _git(words: tuple[Shown, ...]) -> list[Danger]:
    found: list[Danger] = []
    place = 1
    while place < len(words) and words[place].text[:1] == "-":
        text = words[place].text
        if text == "-c" or (text[:2] == "-c" and text[:3] != "-c-"):
            found.append((place, "runs"))
        place += 2 if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace") else 1
    if place >= len(words):
        return found
    command = words[place].text
    rest = list(enumerate(words[place + 1 :], place + 1))
    texts = [word.text for _, word in rest]
    if command in ("filter-branch", "difftool", "mergetool", "daemon", "config", "bisect", "submodule", "hook"):
        running = {"config": True, "bisect": "run" in texts, "submodule": "foreach" in texts}.get(command, True)
        reading = (
            command == "config" and texts[:1] and texts[0] in ("--get", "--list", "-l", "--get-all", "get", "list")
        )
        if running and not reading:
            found.append((place, "runs"))
    for at, word in rest:
        text = word.text
        short = text[:2]
        if text[:5] == "ext::" or short == _GIT_RUNS.get(command):
            found.append((at, "runs"))
        elif command in ("format-patch", "archive") and short == "-o":
            found.append((at, "writes"))
    return found


def _scripts(words: tuple[Shown, ...], letters: str, names: tuple[str, ...]) -> list[int]:
    """Return the places of the program text of sed or awk: behind its option, else the first operand."""
    found: list[int] = []
    first: int | None = None
    place = 1
    while place < len(words):
        text = words[place].text
        if text in names or (len(text) > 1 and text[0] == "-" and text[1] != "-" and text[-1] in letters):
            found.append(place + 1)
            place += 1
        elif text.startswith(tuple(f"{name}=" for name in names)) or (text[:2] == "-e" and len(text) > 2):
            found.append(place)
        elif text in ("-F", "-v", "-l", "-E") and letters == "e":
            place += 1 if text != "-E" else 0
        elif text[:1] != "-" and first is None:
            first = place
        place += 1
    return [at for at in found if at < len(words)] or ([first] if first is not None else [])


def is_quiet_sed(script: str) -> bool:
    """Return whether a sed script surely only edits its stream: no `e`, `w`, `r`, and nothing not understood."""
    for prefix in ("--expression=", "-e"):
        if script.startswith(prefix) and len(script) > len(prefix):
            script = script[len(prefix) :]
    place = 0
    while place < len(script):
        address = _SED_COMMAND.match(script, place)
        place = address.end() if address is not None else place
        if place >= len(script):
            return True
        letter = script[place]
        place += 1
        if letter in "sy":
            end = _substitution_end(script, place)
            if end is None:
                return False
            place, flags = end
            if set(flags) - set("gpiImM0123456789"):
                return False
        elif letter in "aic:btT#}":
            newline = script.find("\n", place)
            place = len(script) if newline < 0 or letter in "aic" else newline + 1
        elif letter in _SED_QUIET:
            while place < len(script) and script[place].isdigit():
                place += 1
            if place < len(script) and script[place] not in ";\n} ":
                return False
        else:
            return False
    return True


def _substitution_end(script: str, place: int) -> tuple[int, str] | None:
    """Return the place behind `s/…/…/flags` and its flags."""
    if place >= len(script):
        return None
    sign = script[place]
    place += 1
    if sign in "\\\n":
        return None
    for _ in range(2):
        while place < len(script):
            letter = script[place]
            if letter == "\\":
                place += 1
            elif letter == sign:
                break
            place += 1
        if place >= len(script):
            return None
        place += 1
    start = place
    while place < len(script) and script[place] not in ";\n} ":
        place += 1
    return place, script[start:place]

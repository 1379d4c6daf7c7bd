"""Programs that run another command: `sudo`, `env`, `timeout 5`, `xargs`, `bash -c`, `find -exec`.

Looked through only where their options are known; an option that is not could take the next word as its value, and
then nobody knows where the inner command begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

Words = tuple["Word", ...]


class Word(Struct, frozen=True):
    """One word of a simple command."""

    text: str
    """What the program is given: quotes and backslashes resolved; the source text where it is not literal."""
    literal: bool = True
    """False: an expansion or substitution decides at run time what it is."""
    raw: str = ""
    """As written."""


class _Wrapper(Struct, frozen=True):
    flags: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options with a value."""
    names: tuple[str, ...] = ()
    """Long options without a value."""
    valued_names: tuple[str, ...] = ()
    """Long options whose value is the next word; `--name=value` is always understood."""
    stops: str = ""
    """Letters of options with which no command is run."""
    skips: int = 0
    """Words between the options and the command."""
    assigns: bool = False
    """Takes `NAME=value` before the command."""
    appends: bool = False
    """Adds words from its input to the command."""
    subcommand: str = ""
    """The word that must follow the program: `uv run`."""


_WRAPPERS: dict[str, _Wrapper] = {
    "sudo": _Wrapper("AbBEHknPsSi", "CDghpRrtTUu", ("--preserve-env", "--set-home", "--non-interactive", "--stdin",
                     "--login", "--shell", "--background"), ("--user", "--group", "--chdir", "--host", "--prompt",
                     "--chroot", "--role", "--type"), "lveKV", assigns=True),
    "doas": _Wrapper("n", "uC", stops="Ls"),
    "env": _Wrapper("i0v", "uC", ("--ignore-environment", "--null", "--debug"), ("--unset", "--chdir"), "S",
                    assigns=True),
    "time": _Wrapper("pavq", "fo", ("--portability", "--append", "--verbose", "--quiet"), ("--format", "--output")),
    "nohup": _Wrapper(),
    "setsid": _Wrapper("cfw", names=("--ctty", "--fork", "--wait")),
    "nice": _Wrapper("", "n", valued_names=("--adjustment",)),
    "ionice": _Wrapper("t", "cn", ("--ignore",), ("--class", "--classdata"), "pPu"),
    "stdbuf": _Wrapper("", "ioe", valued_names=("--input", "--output", "--error")),
    "timeout": _Wrapper("fpv", "ks", ("--foreground", "--preserve-status", "--verbose"), ("--kill-after", "--signal"),
                        skips=1),
    "exec": _Wrapper("cl", "a"),
    "command": _Wrapper("p", stops="vV"),
    "builtin": _Wrapper(),
    "coproc": _Wrapper(),
    "xargs": _Wrapper("0rtxop", "aEdIJLnPRsS", ("--null", "--no-run-if-empty", "--verbose", "--exit", "--open-tty",
                      "--interactive"), ("--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs",
                      "--max-chars", "--replace"), appends=True),
    "uv": _Wrapper(subcommand="run"),
    "poetry": _Wrapper(subcommand="run"),
    "pipenv": _Wrapper(subcommand="run"),
    "pdm": _Wrapper(subcommand="run"),
    "rye": _Wrapper(subcommand="run"),
}  # fmt: skip

_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))
_FROM_INPUT = Word("…", literal=False)


def program(word: Word) -> str:
    """Return the name of the program that a first word runs."""
    return word.text.rpartition("/")[2] if word.literal else ""


def inner_commands(words: Words) -> Iterator[Words]:
    """Yield the simple commands that a wrapper runs, one level down."""
    name = program(words[0])
    wrapper = _WRAPPERS.get(name)
    if wrapper is not None:
        inner = _wrapped(wrapper, words)
        if inner:
            yield inner
    elif name == "find":
        yield from _found(words)


def inner_script(words: Words) -> str | None:
    """Return the shell text that a command runs, where it is literal: `bash -c "…"`, `eval …`."""
    name = program(words[0])
    if name == "eval":
        rest = words[1:]
        return " ".join(word.text for word in rest) if rest and all(word.literal for word in rest) else None
    if name not in _SHELLS:
        return None
    for place, word in enumerate(words[1:], 1):
        if not word.literal or word.text[:1] not in ("-", "+"):
            return None
        if word.text.startswith("-") and not word.text.startswith("--") and "c" in word.text:
            script = words[place + 1] if place + 1 < len(words) else None
            return script.text if script is not None and script.literal else None
        if word.text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            return None
    return None


def _wrapped(wrapper: _Wrapper, words: Words) -> Words:
    """Return the command behind a wrapper's options, or nothing where that is not sure."""
    place = 1
    if wrapper.subcommand:
        if len(words) < 2 or words[1].text != wrapper.subcommand:
            return ()
        place = 2
    while place < len(words) and words[place].literal and words[place].text.startswith("-"):
        text = words[place].text
        place += 1
        if text == "--":
            break
        step = _option(wrapper, text)
        if step is None:
            return ()
        place += step
    place += wrapper.skips
    while wrapper.assigns and place < len(words) and _is_assignment(words[place]):
        place += 1
    if place >= len(words) or (words[place].literal and words[place].text.startswith("-")):
        return ()
    return words[place:] + ((_FROM_INPUT,) if wrapper.appends else ())


def _option(wrapper: _Wrapper, text: str) -> int | None:
    """Return how many words an option takes besides itself; none when it is unknown or runs nothing."""
    if text.startswith("--"):
        if "=" in text:
            return 0
        return 0 if text in wrapper.names else 1 if text in wrapper.valued_names else None
    if wrapper.valued == "n" and text[1:].isdigit():
        return 0  # nice -5
    for place, letter in enumerate(text[1:], 1):
        if letter in wrapper.valued:
            return 0 if text[place + 1 :] else 1
        if letter not in wrapper.flags:
            return None
    return 0 if len(text) > 1 else None


def _is_assignment(word: Word) -> bool:
    name, equals, _ = word.text.partition("=")
    return bool(equals) and name.isidentifier()


def _found(words: Words) -> Iterator[Words]:
    """Yield what `find` runs: `-exec … ;`, `-execdir … +`."""
    begin: int | None = None
    for place, word in enumerate(words):
        if begin is None:
            if word.literal and word.text in ("-exec", "-execdir", "-ok", "-okdir"):
                begin = place + 1
        elif word.text in (";", "+"):
            if place > begin:
                yield tuple(
                    Word(each.text, literal=False, raw=each.raw) if "{}" in each.text else each
                    for each in words[begin:place]
                )
            begin = None

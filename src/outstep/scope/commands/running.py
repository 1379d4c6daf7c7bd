"""Judges shell text against a contract: `run` for each simple command, `read`, `write` and `fetch` for its operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any, Final, Protocol

from msgspec import Struct

from outstep.expr.shell import word_patterns, words_match
from outstep.expr.wrappers import Word, Words, inner_commands, inner_script
from outstep.scope.commands.judging import UNKNOWN, cut, doubted, redirected, said, script_of
from outstep.scope.commands.looking import evaluated, program_name
from outstep.scope.commands.operands import paths_of, urls_of
from outstep.scope.commands.reading import UnreadableCommand
from outstep.scope.commands.script import Command, Doubt, Values
from outstep.scope.commands.walking import Folders, Walk
from outstep.scope.commands.words import Shown, each_word, shown_words
from outstep.scope.limits import at
from outstep.scope.model import Access, Judgement, Surroundings

_HARMLESS: Final = frozenset(
    ("cd", "pushd", "popd", "pwd", "true", "false", ":", "test", "[", "[[", "exit", "return", "break", "continue",
     "shift", "wait", "set", "unset", "read", "local")
)  # fmt: skip
"""Builtins that neither run nor write anything."""
_TRANSPARENT: Final = frozenset(
    ("time", "timeout", "nice", "nohup", "setsid", "stdbuf", "ionice", "command", "builtin", "env")
)
"""Wrappers for which the command behind them counts, not they themselves."""
_DEEPEST: Final = 8
_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SIMPLE: Final = re.compile(r'"?(?:[^"\'\\`$*?\[{]|\$\{?[A-Za-z_]\w*\}?)*"?')
_MOST: Final = 64


class Fence(Protocol):
    """Judges the paths and URLs in a command."""

    def path(self, text: str, access: Access, around: Surroundings, argument: str) -> list[Judgement]:
        """Judge a path."""

    def url(self, text: str, argument: str) -> list[Judgement]:
        """Judge a URL."""


class RunLimit(Struct, frozen=True):
    """Which commands may run."""

    patterns: tuple[str, ...] | None
    outside: bool = False

    def judge(self, value: Any, around: Surroundings, argument: str, fence: Fence) -> list[Judgement]:
        """Return one judgement for each simple command, path and URL that is restricted."""
        visit = _Visit(self, around, argument, fence)
        try:
            visit.script(value, (None,) if around.doubt else (around.cwd, *around.elsewhere), 0)
        except UnreadableCommand as error:
            visit.found.append(said("undecided", value, argument, error.code, str(error)))
        return list(dict.fromkeys(visit.found))

    def allows(self, words: Words) -> str | None:
        """Return the pattern that lets a command pass (empty where none is needed), or none."""
        assert self.patterns is not None
        found = next((each for each in self.patterns if words_match(word_patterns(each), words)), None)
        if self.outside:
            return "" if found is None else None
        return found


class _Visit:
    def __init__(self, limit: RunLimit, around: Surroundings, argument: str, fence: Fence) -> None:
        self._limit = limit
        self._around = around
        self._argument = argument
        self._fence = fence
        self._values: dict[str, list[str] | None] = {}
        self.found: list[Judgement] = []

    def script(self, value: Any, folders: Folders, depth: int) -> None:
        if depth > _DEEPEST:
            raise UnreadableCommand("command-too-deep", "scripts in scripts, nested too deeply")
        Walk(lambda item, folders: self._item(item, folders, depth), self._around.home).walk(script_of(value), folders)

    def _item(self, item: Command | Doubt | Values, folders: Folders, depth: int) -> None:
        if isinstance(item, Values):
            self._assign(item.name, item.words)
        elif isinstance(item, Doubt):
            # What a substitution runs is judged by itself; only unknown parts of the language stay in doubt.
            if item.code == "command-construct":
                self.found.append(doubted(item, self._argument))
        else:
            if not item.words:
                for word in item.assignments:
                    name, _, value = word.text.partition("=")
                    self._assign(name, (Word(value, word.literal, word.raw),))
            for folder in folders:
                around = at(self._around, UNKNOWN if folder is None else folder)
                for redirect in item.redirects:
                    self._redirect(redirect, around, folder)
                if item.words:
                    self._simple(item.words, around, folder)
            if item.words:
                self._run(item.words, folders, depth)

    def _assign(self, name: str, words: Words) -> None:
        before = self._values.get(name, [])
        shown = shown_words(words, self._around.home)
        if before is None or not all(word.literal for word in shown) or len(before) + len(shown) > _MOST:
            self._values[name] = None
        else:
            self._values[name] = [*before, *(word.text for word in shown)]

    def _redirect(self, redirect: Any, around: Surroundings, folder: str | None) -> None:
        resolved = self._resolved(shown_words((redirect.word,), around.home)[0], folder)
        for word in resolved:
            again = type(redirect)(redirect.operator, Word(word.text, word.literal, word.raw))
            found = redirected(again, around, folder)
            if not isinstance(found, Judgement):
                self.found += self._fence.path(found[0], found[1], around, redirect.operator)
            elif found.reason == "redirect-network":
                self.found.append(found)
            elif found.verdict != "contained":
                self._unless_free(found)

    def _unless_free(self, judgement: Judgement) -> None:
        """Keep what is undecided of a path only where paths of this access are restricted at all."""
        if self._fence.path("/", judgement.access, self._around, judgement.argument):
            self.found.append(judgement)

    def _simple(self, words: Words, around: Surroundings, folder: str | None) -> None:
        shown = shown_words(words, around.home)
        if not shown[0].literal:
            return
        resolved = tuple(each for word in shown for each in self._resolved(word, folder))
        resolved = each_word(resolved)
        if program_name(shown[0]) in ("cd", "pushd"):
            self._moved(resolved, around)
            return
        for place in evaluated(resolved):
            sentence = f"the builtin may run what stands in `{cut(resolved[place].raw)}`"
            self.found.append(said("undecided", resolved[place].raw, self._argument, "command-substitution", sentence))
        for word, access in paths_of(resolved):
            if not word.literal:
                sentence = f"what `{cut(word.raw)}` becomes is decided when the command runs"
                self._unless_free(_undecided(word, access, self._argument, "command-expansion", sentence))
            elif folder is None and word.text[:1] != "/":
                sentence = "the working directory is not known here"
                self._unless_free(_undecided(word, access, self._argument, "folder-unknown", sentence))
            else:
                self.found += self._fence.path(word.text, access, around, self._argument)
        for word in urls_of(resolved):
            if word.literal:
                self.found += self._fence.url(word.text, self._argument)

    def _moved(self, words: Sequence[Shown], around: Surroundings) -> None:
        operand = next((word for word in words[1:] if word.text[:1] not in "-+"), None)
        if operand is not None and operand.literal:
            self.found += self._fence.path(operand.text, "read", around, "cd")

    def _resolved(self, word: Shown, folder: str | None) -> list[Shown]:
        """Return a word with the variables that this very text gave literal values; it may have had several."""
        if word.literal or _SIMPLE.fullmatch(word.raw) is None:
            return [word]
        names = dict.fromkeys(match[1] or match[2] for match in _VARIABLE.finditer(word.raw))
        values: list[list[str]] = []
        for name in names:
            known = self._values.get(name)
            own = {"HOME": self._around.home, "PWD": folder or ""}.get(name, "") if name not in self._values else ""
            if not known and not own:
                return [word]
            values.append(known or [own])
        plain = word.raw.strip('"')
        found: list[Shown] = []
        for each in list(product(*values))[:_MOST]:
            table = dict(zip(names, each, strict=True))
            text = _VARIABLE.sub(lambda match, table=table: table[match[1] or match[2]], plain)  # type: ignore[misc]
            found.append(Shown(text, glob="*" in text, raw=word.raw))
        return found

    def _run(self, words: Words, folders: Folders, depth: int) -> None:
        """Judge whether a command may run, then what it runs itself."""
        name = program_name(Shown(words[0].text)) if words[0].literal else ""
        inner = list(inner_commands(words))
        if self._limit.patterns is not None and name not in _HARMLESS and not (inner and name in _TRANSPARENT):
            self._allowed(words)
        if depth > _DEEPEST:
            raise UnreadableCommand("command-too-deep", "wrappers of wrappers, nested too deeply")
        for each in inner:
            for folder in folders:
                self._simple(each, at(self._around, UNKNOWN if folder is None else folder), folder)
            self._run(each, folders, depth + 1)
        script = inner_script(words)
        if script is not None and script.strip():
            self.script(script, folders, depth + 1)

    def _allowed(self, words: Words) -> None:
        text = " ".join(word.raw for word in words)
        if not words[0].literal:
            sentence = f"which program `{cut(words[0].raw)}` is, is decided when the command runs"
            self.found.append(said("undecided", text, self._argument, "command-expansion", sentence))
            return
        rule = self._limit.allows(words)
        if rule is not None:
            sentence = f"matches `{rule}`" if rule else "no exception names it"
            self.found.append(said("contained", text, self._argument, "inside", sentence, rule=rule))
        else:
            sentence = (
                f"`{cut(text)}` is {'named by an exception' if self._limit.outside else 'in no pattern of `run`'}"
            )
            code = "command-excepted" if self._limit.outside else "command-unlisted"
            fix = "" if self._limit.outside else text
            self.found.append(said("escaped", text, self._argument, code, sentence, differs=words[0].raw, fix=fix))


def _undecided(word: Shown, access: Access, argument: str, code: str, sentence: str) -> Judgement:
    return Judgement(verdict="undecided", kind="path", access=access, target=cut(word.raw or word.text), reason=code,
                     sentence=sentence, argument=argument)  # fmt: skip

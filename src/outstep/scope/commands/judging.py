"""Judges shell text against the command rules of a battery: each simple command, each file a redirect opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from outstep.expr.wrappers import Words, inner_script
from outstep.scope.commands.looking import dangers, inner_place
from outstep.scope.commands.options import PREFIXES
from outstep.scope.commands.patterns import CommandPattern, Standing, command_pattern
from outstep.scope.commands.reading import UnreadableCommand, read_script, words_of
from outstep.scope.commands.script import Command, Doubt, Item, Redirect, Values
from outstep.scope.commands.walking import Folders, Walk
from outstep.scope.commands.words import Shown, shown_words
from outstep.scope.limits import PathLimit, at
from outstep.scope.model import Access, Judgement, Surroundings, Verdict

_DEEPEST = 8
"""Wrappers of wrappers that are looked through."""

READS = frozenset(("<",))
BOTH = frozenset(("<>",))


class CommandLimit(Struct, frozen=True):
    """The command rules of one tool, and what may be read and written by redirects."""

    patterns: tuple[CommandPattern, ...]
    labels: tuple[str, ...]
    tool: str
    base: str
    reads: PathLimit
    writes: PathLimit
    case_sensitive: bool = True

    def judge(self, value: Any, around: Surroundings, argument: str = "") -> list[Judgement]:
        """Return what is not contained of a command, or one judgement that it is."""
        try:
            item = script_of(value)
        except UnreadableCommand as error:
            return [said("undecided", value, argument, error.code, str(error))]
        visit = _Visit(self, around, argument)
        folders: Folders = (None,) if around.doubt else (around.cwd, *around.elsewhere)
        try:
            Walk(visit, around.home).walk(item, folders)
        except UnreadableCommand as error:
            visit.found.append(said("undecided", value, argument, error.code, str(error)))
        if visit.found:
            return visit.found
        if visit.first is None:
            return [said("undecided", value, argument, "command-nothing", "the text holds no command")]
        return [visit.first]

    def names_path(self, path: str, around: Surroundings) -> bool:
        """Return whether an operand of a rule names a path: what a command really opened is one of its operands."""
        standing = Standing(around, self.base, around.cwd, self.case_sensitive)
        return any(pattern.names_path(path, standing) for pattern in self.patterns)


def script_of(value: Any) -> Item:
    """Return the script of a command that is a text or a list of words; raises `UnreadableCommand`."""
    if isinstance(value, str):
        return read_script(value)
    if isinstance(value, Sequence) and value and all(isinstance(word, str) for word in value):
        words = words_of(list(value))
        script = inner_script(words) if len(words) == 3 else None
        return read_script(script) if script is not None else Command(words)
    raise UnreadableCommand("command-type", f"a command is a text or a list of words, not {kind_of(value)}")


class _Visit:
    def __init__(self, limit: CommandLimit, around: Surroundings, argument: str) -> None:
        self._limit = limit
        self._around = around
        self._argument = argument
        self.found: list[Judgement] = []
        self.first: Judgement | None = None

    def __call__(self, command: Command | Doubt | Values, folders: Folders) -> None:
        """Judge a command in every folder in which it may run; inside means inside in all of them."""
        if isinstance(command, Doubt):
            self._keep([doubted(command, self._argument)])
        if not isinstance(command, Command):
            return
        if not command.words and not command.assignments and not command.redirects:
            return
        each = [self._in(command, folder) for folder in folders]
        failed = [some for some in each if any(judgement.verdict != "contained" for judgement in some)]
        if not failed or len(failed) == len(each):
            self._keep(failed[0] if failed else each[0])
            return
        sentence = f"it is outside where the working directory is `{folders[each.index(failed[0])]}`, which it may be"
        self._keep([_doubtful(judgement, sentence) for judgement in failed[0] if judgement.verdict != "contained"])

    def _keep(self, judgements: list[Judgement]) -> None:
        for judgement in judgements:
            if judgement.verdict != "contained":
                self.found.append(judgement)
            elif self.first is None:
                self.first = judgement

    def _in(self, command: Command, folder: str | None) -> list[Judgement]:
        limit, around = self._limit, self._around
        if folder is None:
            around = Surroundings(cwd=UNKNOWN, home=around.home, links=around.links)
        else:
            around = at(around, folder)
        found = [self._redirect(redirect, around, folder) for redirect in command.redirects]
        if command.words or command.assignments:
            standing = Standing(around, limit.base, around.cwd, limit.case_sensitive)
            found.append(self._simple((*command.assignments, *command.words), standing))
        return found

    def _redirect(self, redirect: Redirect, around: Surroundings, folder: str | None) -> Judgement:
        found = redirected(redirect, around, folder)
        if isinstance(found, Judgement):
            return found
        text, access = found
        limits = {"read": (self._limit.reads,), "write": (self._limit.writes,)}
        judged = [
            limit.judge(text, around, access, redirect.operator)
            for limit in limits.get(access, (self._limit.reads, self._limit.writes))
        ]
        return next((each for each in judged if each.verdict != "contained"), judged[0])

    def _simple(self, words: Words, standing: Standing) -> Judgement:
        shown = shown_words(words, self._around.home)
        text = " ".join(word.raw for word in shown)
        unknown = next((word for word in shown if not word.literal), None)
        if unknown is not None:
            sentence = f"what `{cut(unknown.raw)}` becomes is decided when the command runs"
            return said("undecided", text, self._argument, "command-expansion", sentence, differs=unknown.raw)
        controlled = next((word for word in shown if "\r" in word.text or "\0" in word.text), None)
        if controlled is not None:
            return said("undecided", text, self._argument, "command-control", "a word holds a control character")
        return self._ruled(shown, text, standing)

    def _ruled(self, shown: tuple[Shown, ...], text: str, standing: Standing, depth: int = 0) -> Judgement:
        """Return whether a rule allows the words, and nothing dangerous in them by a wildcard."""
        best: tuple[int, str] = (-1, "")
        dangerous: dict[int, str] | None = None
        refused: tuple[str, int, str] | None = None
        for label, pattern in zip(self._limit.labels, self._limit.patterns, strict=True):
            count, covered = pattern.covers(shown, standing)
            if count < len(shown):
                best = max(best, (count, label), key=lambda each: each[0])
                continue
            if dangerous is None:
                dangerous = dict(reversed(dangers(shown)))
            bad = next((place for place in sorted(dangerous) if place in covered), None)
            if bad is None:
                return said("contained", text, self._argument, "inside", f"matches `{label}`", rule=label)
            refused = refused or (label, bad, dangerous[bad])
        inner = self._wrapped(shown, standing, depth)
        if inner is not None:
            return inner
        fix = f"{self._limit.tool}: {text}" if self._limit.tool else text
        if refused is not None:
            label, bad, what = refused
            word = shown[bad].raw
            sentence = f"`{cut(word)}` {'runs a program' if what == 'runs' else 'writes or deletes files'}, "
            sentence += "which a wildcard never allows"
            code = f"option-{what}"
            return said("escaped", text, self._argument, code, sentence, rule=label, differs=word, fix=fix)
        place, label = best
        differs = shown[max(place, 0)].raw
        what = "option" if differs[:1] == "-" and place > 0 else "word"
        sentence = f"no rule allows `{cut(text)}`: the first unlisted {what} is `{cut(differs)}`"
        return said("escaped", text, self._argument, "command-unlisted", sentence, rule=label, differs=differs, fix=fix)

    def _wrapped(self, shown: tuple[Shown, ...], standing: Standing, depth: int) -> Judgement | None:
        """Return what is to be said of the inner command where a rule allows the wrapper in front of it."""
        name = shown[0].text.rpartition("/")[2]
        place = inner_place(shown) if name in PREFIXES and depth < _DEEPEST else None
        if place is None:
            return None
        head = shown[:place]
        for pattern in self._limit.patterns:
            count, covered = pattern.covers(head, standing)
            if count == place and not any("=" in head[at].text for at in covered):
                inner = shown[place:]
                return self._ruled(inner, " ".join(word.raw for word in inner), standing, depth + 1)
        return None


UNKNOWN = "/\uffff"
"""A working directory of which nothing is known: no pattern lies there."""


def redirected(redirect: Redirect, around: Surroundings, folder: str | None) -> Judgement | tuple[str, Access]:
    """Return the path that a redirect opens and how, or what is to be said where that is settled."""
    operator = redirect.operator
    access: Access = "read" if operator in READS else "both" if operator in BOTH else "write"
    word = shown_words((redirect.word,), around.home)[0]
    if word.choices or not word.literal or word.glob:
        sentence = f"which file `{operator} {cut(redirect.word.raw)}` opens is decided when the command runs"
        return _opened("undecided", word, access, operator, "redirect-expansion", sentence)
    if word.text == "/dev/null":
        return _opened("contained", word, access, operator, "inside", "`/dev/null` keeps nothing")
    if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return _opened("escaped", word, "fetch", operator, "redirect-network", f"`{cut(word.text)}` opens a connection")
    if folder is None and word.text[:1] != "/":
        sentence = "the working directory is not known here"
        return _opened("undecided", word, access, operator, "folder-unknown", sentence)
    return word.text, access


def _opened(verdict: Verdict, word: Shown, access: Access, operator: str, code: str, sentence: str) -> Judgement:
    return Judgement(verdict=verdict, kind="path", access=access, target=cut(word.text), reason=code, sentence=sentence,
                     argument=operator)  # fmt: skip


def doubted(doubt: Doubt, argument: str) -> Judgement:
    """Return what is to be said of a part of a script that cannot be told from its text."""
    what: dict[str, str] = {
        "command-substitution": "the output of another command becomes part of this one",
        "command-expansion": "an expansion decides when the command runs",
        "command-construct": "this part of the shell language is not followed",
    }
    sentence = f"{what[doubt.code]}: `{cut(doubt.text)}`"
    return said("undecided", doubt.text, argument, doubt.code, sentence, differs=doubt.text)


def said(
    verdict: Verdict,
    value: Any,
    argument: str,
    code: str,
    sentence: str,
    rule: str = "",
    differs: str = "",
    fix: str = "",
) -> Judgement:
    """Return a judgement about a command."""
    text = value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, list) else repr(value)
    return Judgement(verdict=verdict, kind="command", access="run", target=cut(text), reason=code, sentence=sentence,
                     argument=argument, rule=rule, differs=cut(differs), fix=fix)  # fmt: skip


def kind_of(value: Any) -> str:
    """Return what a JSON value is called."""
    names: dict[type, Literal["a boolean", "a text", "a list", "an object", "null"]] = {
        bool: "a boolean", str: "a text", list: "a list", dict: "an object", type(None): "null"
    }  # fmt: skip
    return names.get(type(value), "a number")


def cut(text: str) -> str:
    """Return a text short enough for a sentence."""
    return text if len(text) <= 200 else text[:200] + "…"


def _doubtful(judgement: Judgement, sentence: str) -> Judgement:
    from msgspec.structs import replace

    return replace(judgement, verdict="undecided", reason="folder-unknown", sentence=sentence)


def compiled(scopes: Sequence[str]) -> tuple[CommandPattern, ...]:
    """Return the patterns of rules."""
    return tuple(map(command_pattern, scopes))

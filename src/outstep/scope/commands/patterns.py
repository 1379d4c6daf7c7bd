"""Patterns of commands as batteries write them: word by word; a final bare `*` is any rest."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from outstep.scope.commands.words import Shown, alternatives
from outstep.scope.model import Surroundings
from outstep.scope.paths.patterns import path_pattern, segment_matcher
from outstep.scope.paths.spelling import operand_readings
from outstep.scope.urls.patterns import url_pattern
from outstep.scope.urls.reading import BadUrl, read_url

SYSTEM_FOLDERS: Final = frozenset(("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin"))
_FILE_PROGRAMS: Final = frozenset(
    ("cat", "head", "tail", "less", "more", "wc", "ls", "stat", "file", "rm", "cp", "mv", "touch", "mkdir", "rmdir",
     "ln", "chmod", "chown", "tee", "sh", "bash", "zsh", "dash", "source", ".", "python", "python3", "node", "perl",
     "ruby", "sort", "uniq", "cut", "diff", "cmp", "sed", "awk", "grep", "rg", "find", "du", "tar", "zip", "unzip",
     "gzip", "dd", "truncate", "shred", "xxd", "od", "hexdump", "strings", "base64", "md5sum", "sha256sum", "jq",
     "tree", "cd")
)  # fmt: skip
"""Programs whose bare words are names of files: where they lie depends on the working directory."""


class Standing(Struct, frozen=True):
    """Where a command runs, and where its rules lie."""

    around: Surroundings
    base: str
    """The working directory to which relative patterns belong."""
    cwd: str
    """The one in which the command runs."""
    case_sensitive: bool = True


class CommandPattern(Struct, frozen=True):
    """The words of a rule."""

    text: str
    words: tuple[str, ...]
    rest: bool
    """It ends in a bare `*`: any further words."""

    def covers(self, words: Sequence[Shown], at: Standing) -> tuple[int, frozenset[int]]:
        """Return how many words match from the left, and the places of those that a wildcard covers.

        All words match where the number is that of the words.
        """
        covered: list[int] = []
        for place, word in enumerate(words):
            if place >= len(self.words):
                if not self.rest:
                    return place, frozenset(covered)
                covered.extend(range(place, len(words)))
                return len(words), frozenset(covered)
            pattern = self.words[place]
            if not all(_word_fits(pattern, each, words[0], at, program=place == 0) for each in alternatives(word)):
                return place, frozenset(covered)
            if "*" in pattern and pattern != word.text:
                covered.append(place)
        if len(words) < len(self.words):
            return max(len(words) - 1, 0), frozenset(covered)
        return len(words), frozenset(covered)

    def names_path(self, path: str, at: Standing) -> bool:
        """Return whether an operand of the pattern, or its free rest, names a path."""
        return self.rest or any(_path_fits(word, path, at, glob=False) for word in self.words[1:] if "/" in word)


@lru_cache(maxsize=4096)
def command_pattern(text: str) -> CommandPattern:
    """Return the pattern of a text; quotes in it keep words together, as in a shell."""
    words = text.split()
    if "'" in text or '"' in text:
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
    rest = bool(words) and words[-1] == "*"
    return CommandPattern(text, tuple(words[:-1] if rest else words), rest)


def _word_fits(pattern: str, word: Shown, first: Shown, at: Standing, *, program: bool) -> bool:
    text = word.text
    if program:
        return _is_program(pattern, word, at)
    if pattern == "*":
        return True
    if "://" in pattern:
        return not word.glob and _url_fits(pattern, text)
    if text[:1] == "-" and len(text) > 1:
        return not word.glob and _option_fits(pattern, word, first, at)
    if _is_path(pattern, word, first, at):
        return _path_fits(pattern, text, at, glob=word.glob)
    if not word.glob and pattern == text:
        return True
    return "/" not in text and segment_matcher(pattern)(_folded(text, at))


def _is_program(pattern: str, word: Shown, at: Standing) -> bool:
    """Return whether a word names the program of a pattern: by its bare name also in a system's own folder."""
    text = word.text
    if word.glob:
        return False
    if pattern == "*":
        return "=" not in text
    if "/" in pattern:
        return _path_fits(pattern, text, at, glob=False)
    folder, slash, name = text.rpartition("/")
    if slash and folder not in SYSTEM_FOLDERS:
        return False
    return pattern == name or ("*" in pattern and segment_matcher(pattern)(name))


def _url_fits(pattern: str, text: str) -> bool:
    try:
        return url_pattern(pattern).matches(read_url(text))
    except BadUrl:
        return False


def _option_fits(pattern: str, word: Shown, first: Shown, at: Standing) -> bool:
    """Compare an option: its name as text, a value behind `=` as a word of its own."""
    name, equals, value = word.text.partition("=")
    wanted, wanted_equals, wanted_value = pattern.partition("=")
    if pattern[:1] != "-" or equals != wanted_equals or not segment_matcher(wanted)(name):
        return False
    inner = Shown(value, raw=value)
    return not equals or _word_fits(wanted_value, inner, first, at, program=False)


def _is_path(pattern: str, word: Shown, first: Shown, at: Standing) -> bool:
    text = word.text
    if "/" in text or text in (".", "..", "~") or pattern[:1] == "/" or pattern[:2] in ("./", "~/"):
        return True
    if at.cwd == at.base and not at.around.links:
        return False
    return "." in text or first.text.rpartition("/")[2] in _FILE_PROGRAMS


def _path_fits(pattern: str, text: str, at: Standing, *, glob: bool) -> bool:
    """Compare an operand as a path, whatever way it is spelled; a glob has to lie inside whatever it finds."""
    if glob and (any(_may_be_parent(part) for part in text.split("/")) or "[" in pattern or "?" in pattern):
        return False
    if not text or any(ord(sign) < 32 for sign in text):
        return False
    wanted = path_pattern(pattern, at.base, at.around.home, at.case_sensitive)
    readings = operand_readings(text, at.cwd, at.around.links)
    return readings is not None and all(wanted.matches(_folded(each, at)) for each in readings)


def _may_be_parent(part: str) -> bool:
    """Return whether a part of a glob may be `..`, as in shells before bash 5.2."""
    return part[:1] == "." and part[1:2] in ("*", "?", "[") and part not in (".", "..")


def _folded(text: str, at: Standing) -> str:
    return text if at.case_sensitive else text.casefold()

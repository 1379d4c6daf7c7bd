"""Which literal texts a regular expression cannot match without.

A search for a plain text costs some 40 ns, a regular expression some 500: so a pattern is first asked for texts of
which one *must* occur in whatever it matches. The answer is sound, not complete: `()` means "nothing known".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby

from msgspec import Struct

_MOST = 16
"""More alternatives than this are not worth looking for one by one."""

_MOST_SETS = 8
"""More conditions than this make nothing surer."""

Texts = tuple[str, ...]
"""Texts of which one occurs; empty: nothing known."""


class Needles(Struct, frozen=True):
    """What `required` found."""

    texts: Texts
    """One of them occurs wherever the pattern matches; empty: nothing known."""
    folded: bool
    """They are case-folded and must be sought in case-folded text."""


def required(pattern: str, *, ignore_case: bool = False) -> Needles:
    """Return texts of which one occurs in everything that a valid RE2 `pattern` matches."""
    folded = ignore_case or _switches_case(pattern)
    return Needles(_sharpest(_read(pattern, folded, pieces=False)), folded)


def required_pieces(pattern: str) -> tuple[Texts, ...]:
    """Return all that must occur in what a case-blind `pattern` matches: of each set one text, sharpest set first.

    The texts are case-folded runs of ASCII letters and digits or of CJK characters: what survives when blanks are
    joined and marks removed.
    """
    kept: list[Texts] = []
    for texts in sorted(dict.fromkeys(_read(pattern, folded=True, pieces=True)), key=_bluntness):
        if len(kept) < _MOST_SETS and not any(_follows(texts, other) for other in kept):
            kept.append(texts)
    return tuple(kept)


def is_cjk(char: str) -> bool:
    """Return whether a character belongs to the scripts written without blanks (Han, kana, Hangul)."""
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or "\U00020000" <= char <= "\U0003ffff"
    )


_REPEATS = ("*", "+", "?", "{")
_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
"""ASCII but letters and digits, to blanks."""


class _Unknown(Exception):
    """The pattern uses something that this reader leaves alone."""


def _switches_case(pattern: str) -> bool:
    """Return whether an inline flag makes (part of) the pattern case-blind."""
    for start in _places(pattern, "(?"):
        flags = pattern[start + 2 : start + 10]
        for char in flags:
            if char == "i":
                return True
            if char not in "msU-":
                break
    return False


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _read(pattern: str, folded: bool, pieces: bool) -> list[Texts]:
    try:
        return _Reader(pattern, folded, pieces).alternatives()
    except (_Unknown, RecursionError):
        return []


def _bluntness(texts: Texts) -> tuple[int, int]:
    return -min(map(len, texts)), len(texts)


def _follows(texts: Texts, other: Texts) -> bool:
    """Return whether one of `texts` occurs wherever one of `other` does."""
    return all(any(text in longer for text in texts) for longer in other)


def _sharpest(sets: Iterable[Texts]) -> Texts:
    """Return the set whose shortest text is longest; with equal ones the smaller, then the first."""
    return reduce(lambda best, texts: best if best and _bluntness(best) <= _bluntness(texts) else texts, sets, ())


class _Reader:
    """Recursive descent over RE2 syntax, keeping only what must occur."""

    def __init__(self, pattern: str, folded: bool, pieces: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.folded = folded
        self.pieces = pieces

    def alternatives(self) -> list[Texts]:
        """Read `a|b|c` up to a closing bracket or the end; return sets, of each of which one text must occur."""
        branches = [self.sequence()]
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            branches.append(self.sequence())
        if len(branches) == 1:
            return branches[0]
        if not all(branches):
            return []
        texts = tuple(dict.fromkeys(text for branch in branches for text in _sharpest(branch)))
        return [texts] if len(texts) <= _MOST else []

    def sequence(self) -> list[Texts]:
        """Read one branch; return what its parts require."""
        found: list[Texts] = []
        run = ""
        pattern = self.pattern
        while self.at < len(pattern) and pattern[self.at] not in "|)":
            sign = pattern[self.at]
            if (sign.isalnum() or sign == " ") and pattern[self.at + 1 : self.at + 2] not in _REPEATS:
                # Most of a pattern is letters; read as an atom, each would come to the same.
                self.at += 1
                run += sign
                continue
            char, inner = self.atom()
            least, plain = self.repeat()
            if char is not None and least:
                run += char
                if plain:
                    continue
            elif least:
                found.extend(inner)
            found.extend(self.usable(run))
            run = ""
        found.extend(self.usable(run))
        return found

    def usable(self, run: str) -> list[Texts]:
        """Return the parts of a literal run that can be sought as they stand."""
        if self.folded:
            run = run.casefold()
        if self.pieces and run.isascii():
            return [(piece,) for piece in run.translate(_NO_WORD).split()]
        return [("".join(piece),) for sought, piece in groupby(run, self.sought) if sought]

    def sought(self, char: str) -> bool:
        if self.pieces:
            return (char.isascii() and char.isalnum()) or (is_cjk(char) and char.isalnum())
        # RE2 and Python may know different versions of Unicode, so beyond ASCII only caseless scripts are folded.
        return not self.folded or char.isascii() or is_cjk(char)

    def atom(self) -> tuple[str | None, list[Texts]]:
        """Read one atom: its literal character, or what its group requires."""
        char = self.pattern[self.at]
        self.at += 1
        if char == "\\":
            return self.escape(), []
        if char == "[":
            self.skip_class()
            return None, []
        if char == "(":
            return None, self.group()
        if char in ".^$":
            return None, []
        if char in "*+?":
            raise _Unknown
        return char, []

    def escape(self) -> str | None:
        char = self.pattern[self.at]
        self.at += 1
        if not char.isalnum():
            return char
        if char in "pP" and self.at < len(self.pattern):
            if self.pattern[self.at] == "{":
                self.at = self.pattern.index("}", self.at) + 1
            else:
                self.at += 1
            return None
        if char in "dDsSwWbBAz":
            return None
        raise _Unknown  # \Q…\E, \x41, \n, …: rare enough to search without a prefilter

    def skip_class(self) -> None:
        pattern = self.pattern
        if pattern[self.at] == "^":
            self.at += 1
        first = True
        while first or pattern[self.at] != "]":
            first = False
            if pattern[self.at] == "\\":
                self.at += 2
            elif pattern.startswith("[:", self.at) and ":]" in pattern[self.at : self.at + 16]:
                self.at = pattern.index(":]", self.at) + 2
            else:
                self.at += 1
            if self.at >= len(pattern):
                raise _Unknown
        self.at += 1

    def group(self) -> list[Texts]:
        pattern = self.pattern
        if pattern.startswith("?", self.at):
            if pattern.startswith(("?P<", "?<"), self.at):
                self.at = pattern.index(">", self.at) + 1
            else:
                ends = [place for place in (pattern.find(":", self.at), pattern.find(")", self.at)) if place >= 0]
                self.at = min(ends) + 1
                if pattern[self.at - 1] == ")":
                    return []  # flags alone
        best = self.alternatives()
        self.at += 1
        return best

    def repeat(self) -> tuple[bool, bool]:
        """Read what follows an atom: whether it must occur, and whether exactly once."""
        least, plain = True, True
        pattern = self.pattern
        while self.at < len(pattern) and pattern[self.at] in "*+?{":
            if pattern[self.at] == "{":
                end = pattern.find("}", self.at)
                low, _, high = pattern[self.at + 1 : max(end, 0)].partition(",")
                if not (low.isdigit() and (not high or high.isdigit())):
                    break  # a brace that RE2 reads as itself
                least = least and int(low) > 0
                self.at = end + 1
            else:
                least = least and pattern[self.at] == "+"
                self.at += 1
            if pattern.startswith("?", self.at):
                self.at += 1  # lazy
            plain = False
        return least, plain

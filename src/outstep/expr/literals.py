"""Which literal texts a regular expression cannot match without.

A search for a plain text costs some 40 ns, a regular expression some 500: so a pattern is first asked for texts of
which one *must* occur in whatever it matches. The answer is sound, not complete: `()` means "nothing known".
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_MOST = 16
"""More alternatives than this are not worth looking for one by one."""


class Needles(Struct, frozen=True):
    """What `required` found."""

    texts: tuple[str, ...]
    """One of them occurs wherever the pattern matches; empty: nothing known."""
    folded: bool
    """They are case-folded and must be sought in case-folded text."""


def required(pattern: str, *, ignore_case: bool = False, pieces: bool = False) -> Needles:
    """Return texts of which one occurs in everything that a valid RE2 `pattern` matches.

    With `pieces`, only runs of ASCII letters and digits or of CJK characters are used: what survives when blanks
    are joined and marks removed.
    """
    folded = ignore_case or _switches_case(pattern)
    try:
        best = _Reader(pattern, folded, pieces).alternatives()
    except (_Unknown, RecursionError):
        best = ()
    return Needles(best, folded)


def is_cjk(char: str) -> bool:
    """Return whether a character belongs to the scripts written without blanks (Han, kana, Hangul)."""
    return (
        "\u2e80" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or "\U00020000" <= char <= "\U0003ffff"
    )


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


def _sharper(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Return the set whose shortest text is longer; with equal ones the smaller set."""
    if not first or not second:
        return first or second
    return max(first, second, key=lambda texts: (min(map(len, texts)), -len(texts)))


class _Reader:
    """Recursive descent over RE2 syntax, keeping only what must occur."""

    def __init__(self, pattern: str, folded: bool, pieces: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.folded = folded
        self.pieces = pieces

    def alternatives(self) -> tuple[str, ...]:
        """Read `a|b|c` up to a closing bracket or the end."""
        branches = [self.sequence()]
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            branches.append(self.sequence())
        if not all(branches):
            return ()
        texts = tuple(dict.fromkeys(text for branch in branches for text in branch))
        return texts if len(texts) <= _MOST else ()

    def sequence(self) -> tuple[str, ...]:
        """Read one branch; return the sharpest set among its parts."""
        best: tuple[str, ...] = ()
        run = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            char, inner = self.atom()
            least, plain = self.repeat()
            if char is not None and least:
                run += char
                if plain:
                    continue
            elif least:
                best = _sharper(best, inner)
            best = _sharper(best, self.usable(run))
            run = ""
        return _sharper(best, self.usable(run))

    def usable(self, run: str) -> tuple[str, ...]:
        """Return the longest part of a literal run that can be sought as it stands."""
        if self.folded:
            run = run.casefold()
        longest = piece = ""
        for char in run:
            if self.sought(char):
                piece += char
                longest = max(longest, piece, key=len)
            else:
                piece = ""
        return (longest,) if longest else ()

    def sought(self, char: str) -> bool:
        if self.pieces:
            return (char.isascii() and char.isalnum()) or (is_cjk(char) and char.isalnum())
        # RE2 and Python may know different versions of Unicode, so beyond ASCII only caseless scripts are folded.
        return not self.folded or char.isascii() or is_cjk(char)

    def atom(self) -> tuple[str | None, tuple[str, ...]]:
        """Read one atom: its literal character, or what its group requires."""
        char = self.pattern[self.at]
        self.at += 1
        if char == "\\":
            return self.escape(), ()
        if char == "[":
            self.skip_class()
            return None, ()
        if char == "(":
            return None, self.group()
        if char in ".^$":
            return None, ()
        if char in "*+?":
            raise _Unknown
        return char, ()

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

    def group(self) -> tuple[str, ...]:
        pattern = self.pattern
        if pattern.startswith("?", self.at):
            if pattern.startswith(("?P<", "?<"), self.at):
                self.at = pattern.index(">", self.at) + 1
            else:
                ends = [place for place in (pattern.find(":", self.at), pattern.find(")", self.at)) if place >= 0]
                self.at = min(ends) + 1
                if pattern[self.at - 1] == ")":
                    return ()  # flags alone
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

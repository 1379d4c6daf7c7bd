"""Words of a command as the shell leaves them: `~` and braces expanded, globs marked."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from outstep.expr.wrappers import Word, Words

_EXPANDING: Final = re.compile(r"[*?\[~{]")
_GLOB: Final = re.compile(r"[*?\[]")
_BRACED: Final = re.compile(r"[A-Za-z0-9_./,{}@%+=:*?~-]+")
_SEQUENCE: Final = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.(-?\d{1,4}))?|([A-Za-z])\.\.([A-Za-z])")
_MOST: Final = 256
_LONGEST_BRACED: Final = 2000


class Shown(Struct, frozen=True):
    """One word that a program is given."""

    text: str
    """Resolved; for a glob the text of the glob."""
    literal: bool = True
    glob: bool = False
    """The shell puts the names of files in its place, of any number."""
    raw: str = ""
    choices: tuple[str, ...] = ()
    """All words that a brace expansion becomes, `text` the first of them."""


def shown_words(words: Words, home: str) -> tuple[Shown, ...]:
    """Return the words as they are written, expanded; what cannot be told stays not literal."""
    return tuple(
        Shown(word.text, raw=word.raw) if word.literal and _EXPANDING.search(word.raw) is None else _shown(word, home)
        for word in words
    )


def each_word(words: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """Return the words that a program is given: those of a brace expansion one by one."""
    if not any(word.choices for word in words):
        return words
    return tuple(each for word in words for each in alternatives(word))


def alternatives(word: Shown) -> list[Shown]:
    """Return the words that stand in the place of one."""
    if not word.choices:
        return [word]
    return [Shown(text, glob=_GLOB.search(text) is not None, raw=word.raw) for text in word.choices]


def _shown(word: Word, home: str) -> Shown:
    if word.literal:
        return _tilde(word.text, word.raw, home, glob=_has_glob(word.raw))
    found = _braces(word.raw) if _BRACED.fullmatch(word.raw) and "{" in word.raw else None
    # Words that become empty are dropped, as in `{a,}`.
    found = [text for text in found or () if text]
    if not found or any(text[:1] == "~" for text in found):
        return Shown(word.text, literal=False, raw=word.raw)
    return Shown(found[0], glob=any(map(_GLOB.search, found)), raw=word.raw, choices=tuple(found))


def _tilde(text: str, raw: str, home: str, *, glob: bool) -> Shown:
    """Return a word with a leading `~` in place of the home directory; that of others is not known."""
    if raw[:1] != "~":
        return Shown(text, glob=glob, raw=raw)
    head, slash, rest = text.partition("/")
    if head != "~" or not home:
        return Shown(text, literal=False, raw=raw)
    return Shown(home + slash + rest, glob=glob, raw=raw)


def _has_glob(raw: str) -> bool:
    """Return whether a sign of a glob stands outside of quotes."""
    if _GLOB.search(raw) is None:
        return False
    quote = ""
    place = 0
    while place < len(raw):
        sign = raw[place]
        if sign == "\\" and quote != "'":
            place += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "*?[":
            return True
        place += 1
    return False


def _braces(raw: str) -> list[str] | None:
    """Return the words of a brace expansion, as bash orders them; none where there are too many or it is not whole."""
    if len(raw) > _LONGEST_BRACED or raw.count("{") != raw.count("}") or raw.count("{") > 12:
        return None
    try:
        return _expanded(raw)
    except ValueError:
        return None


def _expanded(raw: str) -> list[str]:
    start = -1
    while (start := raw.find("{", start + 1)) >= 0:
        end = _closing(raw, start)
        choices = _choices(raw[start + 1 : end])
        if choices is None:
            continue
        tails = _expanded(raw[end + 1 :])
        if len(choices) * len(tails) > _MOST:
            raise ValueError("too many words")
        return [raw[:start] + choice + tail for choice in choices for tail in tails]
    return [raw]


def _closing(raw: str, start: int) -> int:
    depth = 0
    for place in range(start, len(raw)):
        depth += {"{": 1, "}": -1}.get(raw[place], 0)
        if depth == 0:
            return place
    raise ValueError("a brace is not closed")


def _choices(inner: str) -> list[str] | None:
    """Return what stands between braces, or none where the braces mean themselves."""
    sequence = _SEQUENCE.fullmatch(inner)
    if sequence is not None:
        return _counted(sequence)
    parts = [""]
    depth = 0
    for sign in inner:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    if len(parts) < 2:
        if ".." in inner:
            raise ValueError("a sequence that is none")
        return None
    return [each for part in parts for each in _expanded(part)]


def _counted(sequence: re.Match[str]) -> list[str]:
    if sequence[4]:
        first, last = ord(sequence[4]), ord(sequence[5])
        if sequence[4].islower() != sequence[5].islower():
            raise ValueError("a sequence over both cases")
        step = 1 if last >= first else -1
        return [chr(code) for code in range(first, last + step, step)]
    first, last, step = int(sequence[1]), int(sequence[2]), abs(int(sequence[3] or 1)) or 1
    if abs(last - first) // step > _MOST or any(re.match(r"-?0\d", sequence[at]) for at in (1, 2)):
        raise ValueError("too many words, or padded ones")
    numbers = range(first, last + (1 if last >= first else -1), step if last >= first else -step)
    return [str(number) for number in numbers]

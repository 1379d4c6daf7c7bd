"""The grammar of selectors: `[outcome] what [names] ["by" who] ["where" expression]`.

docs: docs/language.md, section 2
"""

from __future__ import annotations

from re import compile as linear_pattern

from msgspec import Struct

from outstep.contracts.selectors import EVENT_TYPE

GRAMMAR = '[ok | failed | denied | unknown] what [name | name …] ["by" who] ["where" expression]; what is ' + ", ".join(
    f"`{what}`" for what in EVENT_TYPE
)
"""Shown with every mistake in a selector."""

OUTCOMES = ("ok", "failed", "denied", "unknown")
_WORD = linear_pattern(r"\S+")
_PAIRS = {("its", "result"), ("final", "message"), ("user", "message")}
_NAMED = ("call", "result", "claim")
_OF_A_LANE = ("call", "result", "message", "user message", "claim", "approval", "context", "decision")


class SelectorError(Exception):
    """One mistake in a selector, with its place in the text."""

    def __init__(self, sentence: str, at: int, end: int, help: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.at = at
        self.end = end
        self.help = help


class Word(Struct, frozen=True):
    """A word of a selector and where it begins."""

    text: str
    at: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at + len(self.text)


class Parsed(Struct, frozen=True, kw_only=True):
    """A selector taken apart, its names and its expression not looked at yet."""

    what: str
    outcome: str | None = None
    names: tuple[Word, ...] = ()
    by: str | None = None
    where: int | None = None
    """Where the expression behind `where` begins."""


def parse_selector(text: str) -> Parsed:
    """Return the parts of a selector; raises `SelectorError`."""
    words, where = _words(text)
    if not words:
        raise SelectorError("a selector is empty", 0, max(1, len(text)))
    outcome = None
    if words[0].text in OUTCOMES:
        outcome = words.pop(0).text
        if not words:
            raise SelectorError(f"`{outcome}` stands in front of `result`, which is missing", 0, len(text))
    what, rest = _what(words)
    if outcome is not None and not what.endswith("result"):
        raise SelectorError(f"`{outcome}` is said of a `result`, not of `{what}`", 0, words[0].end)
    names, rest = _names(what, rest)
    by = _by(what, rest)
    return Parsed(what=what, outcome=outcome, names=names, by=by, where=where)


def _words(text: str) -> tuple[list[Word], int | None]:
    """Return the words in front of `where`, and where the expression behind it begins."""
    words: list[Word] = []
    for found in _WORD.finditer(text):
        if found[0] == "where" and words:
            behind = _WORD.search(text, found.end())
            if behind is None:
                raise SelectorError("an expression is missing behind `where`", found.start(), found.end())
            return words, behind.start()
        words.append(Word(found[0], found.start()))
    return words, None


def _what(words: list[Word]) -> tuple[str, list[Word]]:
    first = words[0]
    if len(words) > 1 and (first.text, words[1].text) in _PAIRS:
        return f"{first.text} {words[1].text}", words[2:]
    if first.text in EVENT_TYPE:
        return first.text, words[1:]
    help = ""
    if first.text.rstrip("s") in EVENT_TYPE:
        help = f"write `{first.text.rstrip('s')}`"
    elif len(words) == 1:
        help = f"for calls of a tool write `call {first.text}`"
    raise SelectorError(f"`{first.text}` is nothing that a selector picks", first.at, first.end, help)


def _names(what: str, words: list[Word]) -> tuple[tuple[Word, ...], list[Word]]:
    """Return the names in front of `by`, and the rest."""
    cut = next((index for index, word in enumerate(words) if word.text == "by"), len(words))
    found, rest = words[:cut], words[cut:]
    if not found:
        return (), rest
    if what not in _NAMED:
        word = found[0]
        help = f'write `{what} where tool == "{word.text}"`' if what == "approval" else "put it in a `where`"
        raise SelectorError(f"`{what}` takes no names; `{word.text}` stands behind it", word.at, found[-1].end, help)
    names: list[Word] = []
    is_joined = True
    for word in found:
        at = word.at
        for index, piece in enumerate(word.text.split("|")):
            if index > 0:
                if is_joined:
                    raise SelectorError("a name is missing at `|`", max(0, at - 1), at)
                is_joined = True
            if piece:
                if not is_joined:
                    sentence = f"`{piece}` follows `{names[-1].text}`: several names are parted by `|`"
                    raise SelectorError(sentence, at, at + len(piece))
                names.append(Word(piece, at))
                is_joined = False
            at += len(piece) + 1
    if is_joined:
        raise SelectorError("a name is missing behind `|`", found[-1].end - 1, found[-1].end)
    return tuple(names), rest


def _by(what: str, words: list[Word]) -> str | None:
    if not words:
        return None
    by = words[0]
    if len(words) == 1:
        raise SelectorError("`by` lacks who: `main`, `user`, `harness`, `any` or a lane's id", by.at, by.end)
    if what not in _OF_A_LANE:
        raise SelectorError(f"`{what}` takes no `by`", by.at, words[1].end)
    if len(words) > 2:
        sentence = f"`{words[2].text}` stands behind `by {words[1].text}`, where only `where` may follow"
        raise SelectorError(sentence, words[2].at, words[-1].end)
    return words[1].text

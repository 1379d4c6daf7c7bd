"""Patterns of claims: what one means in RE2, and where in a sentence it asserts (SEMANTICS section 5, *Claims*)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from outstep.expr.claim import Prepared
from outstep.expr.clauses import Sentence
from outstep.expr.literals import is_cjk, required_pieces
from outstep.expr.patterns import Pattern, PatternError, Spans, compile_pattern, quote
from outstep.expr.sentences import APOSTROPHES, UNSEEN
from outstep.expr.spelling import nfkc

_LONGEST = 2000
_PUNCTUATION = r"[!-/:-@\[-`{-~“”‘’«»…。，、；：？！（）《》「」『』【】]*"
_WORD_GAP = f"{_PUNCTUATION} (?:[^ ]+ ){{0,8}}?{_PUNCTUATION}"
_CHARACTER_GAP = ".{0,8}?"
_PART = r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<gap> +(?:\.\.\.|…) +)| +|."
_SYNTAX = r"\\[A-Za-z]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*:?"
_TRIES = 64
_PAYS_AFTER = 20
"""Lines in which a pattern is sought by RE2, before it is worth compiling it for the standard library too."""

_SIMPLE_LINE = 1000
"""Bytes of a line in which the standard library searches: at most their square, some milliseconds."""

NOWHERE: Spans = [(-1, -1)]
"""The spans of no match."""


def prepare(text: str) -> Prepared:
    """Return what a pattern comes to; raises `PatternError`."""
    compiled = _compile(text).text
    required = required_pieces(compiled)
    anchors = _anchors(compiled)
    is_local = bool(required) and anchors <= {r"\b"}
    return Prepared(written=text, text=compiled, required=required, is_local=is_local, is_edged=bool(anchors))


class ClaimPattern:
    """One pattern of a claim; it is compiled when it is asked for the first time, for most texts need few of them."""

    __slots__ = (
        *("_compiled", "_left", "_prepared", "_simple", "_spelled"),
        *("is_edged", "is_local", "match_in", "name", "number", "required"),
    )

    def __init__(self, number: int, name: str, prepared: Prepared) -> None:
        self.number = number
        self.name = name
        self.required = prepared.required
        self.is_local = prepared.is_local
        self.is_edged = prepared.is_edged
        self._prepared = prepared
        self._spelled: dict[str, bool] = {}
        self._compiled: Pattern | None = None
        self._simple: re.Pattern[bytes] | None = None
        self._left = _PAYS_AFTER
        self.match_in: Callable[[bytes, int, int], Spans] = self._compile_and_match
        """`Pattern.match_in`."""

    @property
    def compiled(self) -> Pattern:
        """The regular expression."""
        if self._compiled is None:
            self._compiled = compile_pattern(self._prepared.text, ignore_case=True)
        return self._compiled

    def _compile_and_match(self, data: bytes, start: int, end: int) -> Spans:
        self.match_in = self.compiled.match_in
        return self.match_in(data, start, end)

    def match_in_line(self, data: bytes) -> Spans:
        """Do the same as `match_in` does for the whole of an ASCII text of one line; made for many of them."""
        if self._simple is not None and len(data) <= _SIMPLE_LINE:
            found = self._simple.search(data)
            return NOWHERE if found is None else found.regs
        if self._left > 0:
            self._left -= 1
            if not self._left:
                from outstep.expr.plain_patterns import simple  # a short run never comes here

                self._simple = simple(self._prepared.text)
        return self.match_in(data, 0, len(data))

    def spells(self, word: str) -> bool:
        """Return whether the pattern itself spells a word that denies or promises."""
        known = self._spelled.get(word)
        if known is None:
            plain = nfkc(re.sub(_SYNTAX, " ", self._prepared.written.translate(APOSTROPHES))).casefold()
            edge = r"\b" if word.isascii() else ""
            known = compile_pattern(f"{edge}{quote(word)}{edge}").search(plain)
            if word.endswith("n't"):
                known = known or "n't" in plain
            self._spelled[word] = known
        return known

    def asserted(self, sentence: Sentence) -> dict[str, str] | None:
        """Return the groups of the first match that the sentence asserts, or none."""
        tries = _TRIES
        for start, end in sentence.windows(self.spells):
            place = start
            while place <= end and (spans := self.compiled.spans(sentence.data, place, end)) is not None:
                place = spans[0][0]
                # Cut at the window's end a pattern may match less than it would, and so miss the word that denies.
                # That needs a second look; after many of them the shorter match is taken, to stay linear.
                if tries:
                    tries -= 1
                    whole = self.compiled.spans(sentence.data, place, anchored=True)
                    if whole is None or whole[0][1] > end:
                        place += 1
                        continue
                    spans = whole
                return self.compiled.taken(sentence.data, spans)
        return None


def _anchors(pattern: str) -> set[str]:
    """Return what the pattern says of places and not of characters, and what may be such; never too little."""
    found: set[str] = set()
    before = ""
    for part in re.findall(r"\\.|.", pattern, re.DOTALL):
        is_escape = part[0] == "\\" and part[1:].isalnum()
        if part == "$" or (part == "^" and before != "[") or (is_escape and part[1] not in "dDsSwWpPxntrfv"):
            found.add(part)
        before = part
    return found


def _compile(text: str) -> Pattern:
    if not text.strip():
        raise PatternError("the pattern is empty")
    if len(text) > _LONGEST:
        raise PatternError(f"the pattern has {len(text)} characters, more than {_LONGEST}")
    try:
        return compile_pattern(_expanded(text), ignore_case=True)
    except PatternError:
        compile_pattern(text, ignore_case=True)  # the same complaint, with its place in what was written
        raise PatternError("the pattern grows too large when its ` ... ` are written out") from None


def _expanded(text: str) -> str:
    """Return the RE2 pattern of a claim pattern: gaps written out, literals in the normal form of sentences."""
    # A group that nobody asks for makes a search twice as slow. In these two a bracket may be no group.
    unnamed = "(" if "[:" in text or r"\Q" in text else "(?:"
    parts: list[str] = []
    for part in re.finditer(_PART, text, re.DOTALL):
        if part["gap"] is not None:
            parts.append(_gap(text[: part.start()], text[part.end() :]))
        elif part[0] == "(" and not text.startswith("?", part.end()):
            parts.append(unnamed)
        elif part[0].isspace():
            parts.append(" ")
        elif part[0].isascii():
            parts.append(part[0])
        else:
            parts.append(_normal(part[0], part[0].startswith("[")))
    return "".join(parts).strip()


def _normal(part: str, in_class: bool) -> str:
    """Return a literal, or the members of a class, as they read in a sentence in normal form."""
    shown: list[str] = []
    for char in part:
        normal = UNSEEN.sub("", nfkc(char).translate(APOSTROPHES))
        if normal == char:
            shown.append(char)
        elif len(normal) == 1 or not in_class:
            shown.append(quote(normal))
        else:
            shown.append(char)
    return "".join(shown)


def _gap(before: str, behind: str) -> str:
    """Return what ` ... ` stands for between its neighbours."""
    left = _letter(reversed(re.sub(_SYNTAX, " ", before)))
    right = _letter(iter(re.sub(_SYNTAX, " ", behind)))
    if left and right:
        return _CHARACTER_GAP
    return f"(?:{_WORD_GAP}|{_CHARACTER_GAP})" if left or right else _WORD_GAP


def _letter(chars: Iterator[str]) -> bool:
    """Return whether the nearest letter or digit is CJK."""
    for char in chars:
        if char.isalnum():
            return is_cjk(char)
    return False

"""Claims: sentences in which an agent says that something was done (SEMANTICS section 5).

A sentence claims once for each name with a pattern that matches where the sentence asserts. Most messages hold no
word of any claim, and cost one look for a handful of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from outstep.expr.affirms import affirms
from outstep.expr.clauses import Sentence, read
from outstep.expr.literals import is_cjk, required_pieces
from outstep.expr.patterns import Pattern, PatternError, PatternSet, compile_pattern, encode, quote
from outstep.expr.sentences import APOSTROPHES, UNSEEN, is_question, sentences
from outstep.expr.spelling import nfkc
from outstep.expr.words import words

_LONGEST = 2000
_PUNCTUATION = r"[!-/:-@\[-`{-~“”‘’«»…。，、；：？！（）《》「」『』【】]*"
_WORD_GAP = f"{_PUNCTUATION} (?:[^ ]+ ){{0,8}}?{_PUNCTUATION}"
_CHARACTER_GAP = ".{0,8}?"
_PATTERN_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<gap> +(?:\.\.\.|…) +)| +|.", re.DOTALL)
_SYNTAX = re.compile(r"\\[A-Za-z]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*:?")
_MARKS = "*_`~\\"
_TRIES = 64


__all__ = ["Claim", "ClaimFinder", "affirms", "languages"]


class Claim(Struct, frozen=True):
    """One claim in a text."""

    name: str
    sentence: str
    """In normal form: NFKC, blanks joined, without Markdown marks."""
    groups: dict[str, str]
    """Named groups of the match; those that took no part are absent."""
    index: int
    """Number of the sentence in its text, from 0."""


class ClaimFinder:
    """Finds the claims of a contract in texts."""

    def __init__(self, claims: Mapping[str, Sequence[str]]) -> None:
        """Compile the patterns of each claim name; raises `PatternError`."""
        self._patterns = [_ClaimPattern(name, text) for name, texts in claims.items() for text in texts]
        self._set = PatternSet(pattern.pattern for pattern in self._patterns)
        needles = [(*required_pieces(pattern.pattern.text), ())[0] for pattern in self._patterns]
        self._needles = _shortest(text for texts in needles for text in texts)
        self._always = not all(needles)

    def find(self, text: str) -> list[Claim]:
        """Return the claims of a text, by sentence, then in the order of the names."""
        if not (self._always or self._may_claim(text)):
            return []
        found: list[Claim] = []
        for index, sentence in enumerate(sentences(text)):
            data = encode(sentence)
            occurring = self._set.occurring(data)
            if occurring and not is_question(sentence):
                found.extend(self._claims(index, sentence, occurring))
        return found

    def _claims(self, index: int, sentence: str, occurring: list[int]) -> Iterator[Claim]:
        structure = read(sentence)
        claimed = ""
        for number in occurring:
            pattern = self._patterns[number]
            if pattern.name != claimed and (groups := pattern.asserted(structure)) is not None:
                claimed = pattern.name
                yield Claim(pattern.name, sentence, groups, index)

    def _may_claim(self, text: str) -> bool:
        """Return false only if no pattern can match a sentence of the text.

        Looks for pieces that survive normal form: runs of ASCII letters and digits, or of CJK characters. Marks are
        taken out only when nothing was found, since they may stand inside a word.
        """
        if not self._needles:
            return False
        probe = text.lower() if text.isascii() else nfkc(UNSEEN.sub("", text)).casefold()
        if _any_in(self._needles, probe):
            return True
        if "](" in probe or "<" in probe:
            return True
        bare = probe
        for mark in _MARKS:
            if mark in bare:
                bare = bare.replace(mark, "")
        return bare is not probe and _any_in(self._needles, bare)


def _shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without those that hold another one."""
    kept: list[str] = []
    for text in sorted(set(texts), key=lambda text: (len(text), text)):
        if not _any_in(kept, text):
            kept.append(text)
    return tuple(kept)


def _any_in(needles: Sequence[str], text: str) -> bool:
    for needle in needles:  # noqa: SIM110 (`any` costs twice as much on this hot path)
        if needle in text:
            return True
    return False


class _ClaimPattern:
    """One pattern of a claim, in its compiled form."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.pattern = _compile(text)
        plain = _SYNTAX.sub(" ", text.translate(APOSTROPHES))
        self._plain = nfkc(plain).casefold()
        self._spelled: dict[str, bool] = {}

    def spells(self, word: str) -> bool:
        """Return whether the pattern itself spells a word that denies or promises."""
        known = self._spelled.get(word)
        if known is None:
            edge = r"\b" if word.isascii() else ""
            known = compile_pattern(f"{edge}{quote(word)}{edge}").search(self._plain)
            if word.endswith("n't"):
                known = known or "n't" in self._plain
            self._spelled[word] = known
        return known

    def asserted(self, sentence: Sentence) -> dict[str, str] | None:
        """Return the groups of the first match that the sentence asserts, or none."""
        tries = _TRIES
        for start, end in sentence.windows(self.spells):
            place = start
            while place <= end and (spans := self.pattern.spans(sentence.data, place, end)) is not None:
                place = spans[0][0]
                # Cut at the window's end a pattern may match less than it would, and so miss the word that denies.
                # That needs a second look; after many of them the shorter match is taken, to stay linear.
                if tries:
                    tries -= 1
                    whole = self.pattern.spans(sentence.data, place, anchored=True)
                    if whole is None or whole[0][1] > end:
                        place += 1
                        continue
                    spans = whole
                groups = self.pattern.named(sentence.data, spans)
                return {name: text for name, text in groups.items() if text is not None}
        return None


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
    parts: list[str] = []
    for part in _PATTERN_PART.finditer(text):
        if part["gap"] is not None:
            parts.append(_gap(text[: part.start()], text[part.end() :]))
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
    left = _letter(reversed(_SYNTAX.sub(" ", before)))
    right = _letter(iter(_SYNTAX.sub(" ", behind)))
    if left and right:
        return _CHARACTER_GAP
    return f"(?:{_WORD_GAP}|{_CHARACTER_GAP})" if left or right else _WORD_GAP


def _letter(chars: Iterator[str]) -> bool:
    """Return whether the nearest letter or digit is CJK."""
    for char in chars:
        if char.isalnum():
            return is_cjk(char)
    return False


def languages() -> dict[str, int]:
    """Return the versions of the word lists that claims are read with."""
    return {language.language: language.version for language in words()}

"""The claims of a text, found the long way: every sentence is cut out, read clause by clause, and searched.

What `outstep.expr.claims` did before it was made fast, without any prefilter, kept as the measure of it. Shares with it
only RE2, NFKC and the word lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from outstep.expr.claim import Claim
from outstep.expr.literals import is_cjk
from outstep.expr.patterns import Pattern, compile_pattern, encode, quote
from outstep.expr.spelling import nfkc
from outstep.expr.words import Words, words

_PUNCTUATION = r"[!-/:-@\[-`{-~“”‘’«»…。，、；：？！（）《》「」『』【】]*"
_WORD_GAP = f"{_PUNCTUATION} (?:[^ ]+ ){{0,8}}?{_PUNCTUATION}"
_CHARACTER_GAP = ".{0,8}?"
_PATTERN_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<gap> +(?:\.\.\.|…) +)| +|.", re.DOTALL)
_SYNTAX = re.compile(r"\\[A-Za-z]|\(\?P?<[^>]*>|\(\?[a-zA-Z-]*:?")
_TRIES = 64
APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u2032", "''''")
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")

_CLOSERS = "\"'”’»」』）)\\]*_`~"
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_STRONG_END = re.compile(f"[。！？；｡﹗﹖﹔]+[{_CLOSERS}]*")
_BEHIND_A_QUESTION = " \"'”’»」』)]。.!;"
_CUT = "\ue000"
"""Stands behind a full-width sentence end, which NFKC would turn into a plain one."""

_LIST_MARK = re.compile(r"(?:[-+*•] |[0-9]{1,3}[.)] |#{1,6} )")
_OPEN_TASK = re.compile(r"\s*(?:[-+*] |[0-9]{1,3}[.)] )\s*\[ \]")
_TASK = re.compile(r"\[[xX]\] ")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"()]*\")?\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"[*`]+|~~+|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])")
_NO_END = r"://[!-~]*[0-9A-Za-z/_=&#%~+-]"
_WEAK_END = r"([.!?]+[\"'”’»」』）)\]]*)(?: |$|[\p{Han}\p{Hiragana}\p{Katakana}])|;+"


class SlowClaimFinder:
    """As `ClaimFinder`."""

    def __init__(self, claims: Mapping[str, Sequence[str]]) -> None:
        self._patterns = [_ClaimPattern(name, text) for name, texts in claims.items() for text in texts]

    def find(self, text: str) -> list[Claim]:
        """Return the claims of a text, by sentence, then in the order of the names."""
        found: list[Claim] = []
        for index, sentence in enumerate(slow_sentences(text)):
            data = encode(sentence)
            occurring = [pattern for pattern in self._patterns if pattern.pattern.spans(data) is not None]
            if occurring and not is_question(sentence):
                found.extend(self._claims(index, sentence, occurring))
        return found

    def _claims(self, index: int, sentence: str, occurring: Sequence[_ClaimPattern]) -> Iterator[Claim]:
        structure = read(sentence)
        claimed = ""
        for pattern in occurring:
            if pattern.name != claimed and (groups := pattern.asserted(structure)) is not None:
                claimed = pattern.name
                yield Claim(pattern.name, sentence, groups, index)


class _ClaimPattern:
    """One pattern of a claim, in its compiled form."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.pattern = compile_pattern(_expanded(text), ignore_case=True)
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


def slow_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text in normal form, in order; equal text gives equal sentences."""
    for line in _shown_lines(text):
        for piece in _plain(line).split(_CUT):
            yield from _split(piece)


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    bare = sentence.rstrip(_BEHIND_A_QUESTION)
    return bare.endswith(("?", *_question_ends()))


def _question_ends() -> tuple[str, ...]:
    return tuple(end for language in words() for end in language.question_ends)


def _shown_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither fenced code, nor quoted, nor open tasks."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif not line.lstrip().startswith(">") and _OPEN_TASK.match(line) is None:
            yield line


def _plain(line: str) -> str:
    """Return a line in normal form without marks; full-width sentence ends are followed by a cut."""
    if not line.isascii():
        line = _STRONG_END.sub(lambda end: end[0] + _CUT, UNSEEN.sub("", line))
        line = nfkc(line).translate(APOSTROPHES)
    line = " ".join(line.split())
    while (mark := _LIST_MARK.match(line)) is not None:
        line = line[mark.end() :]
    if line.startswith("|"):
        line = line.replace("|", " ")
    line = _TASK.sub("", line, count=1) if line.startswith("[") else line
    if "](" in line:
        line = _LINK.sub(r"\1", line)
    if "<" in line:
        line = _TAG.sub("", line)
    if "\\" in line:
        line = _ESCAPE.sub(r"\1", line)
    return " ".join(_EMPHASIS.sub("", line).split())


def _split(piece: str) -> Iterator[str]:
    """Yield the sentences of a piece of one line: ends are `.!?` before a blank or CJK, and `;`."""
    piece = piece.strip()
    if not piece:
        return
    if not any(end in piece for end in ".!?;"):
        yield piece
        return
    data = encode(piece)
    start = 0
    for end in _ends(data):
        if sentence := data[start:end].decode().strip():
            yield sentence
        start = end
    if sentence := data[start:].decode().strip():
        yield sentence


def _ends(data: bytes) -> Iterator[int]:
    """Yield the byte offsets behind each sentence end."""
    ends = _compiled_ends()
    place = 0
    while (spans := ends.spans(data, place)) is not None:
        start, end = spans[0]
        place = max(end, place + 1)
        if spans[1][0] >= 0:
            end = spans[1][1]
            place = max(end, start + 1)
            if data[start:end] == b"." and _is_abbreviation(data, start, end):
                continue
        elif data[start : start + 3] == b"://":
            continue
        yield end


def _is_abbreviation(data: bytes, start: int, end: int) -> bool:
    before = data[max(0, start - 12) : start].decode("utf-8", "ignore").lower()
    word = re.split(r"[ (\"']", before)[-1]
    if any(word in language.abbreviations for language in words()):
        return True
    number = data[end : end + 2].lstrip(b" #")[:1].isdigit() or data[end : end + 2] == b" #"
    return number and any(word in language.before_numbers for language in words())


_compiled: list[Pattern] = []


def _compiled_ends() -> Pattern:
    if not _compiled:
        _compiled.append(compile_pattern(f"{_NO_END}|{_WEAK_END}"))
    return _compiled[0]


_EDGES = " \"'“”‘’«»「」『』（()[]*-–—…。"


class Marker(Struct, frozen=True):
    """A word that denies or promises, at byte offsets of its sentence."""

    start: int
    end: int
    word: str
    """In lower case."""


class Clause(Struct, frozen=True):
    """A part of a sentence, at byte offsets."""

    start: int
    end: int
    conditional: bool
    markers: tuple[Marker, ...]


class Sentence(Struct, frozen=True):
    """A sentence with its clauses."""

    data: bytes
    clauses: tuple[Clause, ...]

    def words(self) -> set[str]:
        """Return the words that deny or promise."""
        return {marker.word for clause in self.clauses for marker in clause.markers}

    def windows(self, spelled: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
        """Yield the disjoint byte spans in which a match asserts: exactly the matches inside one of them do.

        `spelled` tells which markers the pattern itself spells; those do not count.
        """
        start: int | None = None
        end = 0
        silent = False
        for clause in self.clauses:
            if clause.conditional or silent:
                if start is not None:
                    yield start, end
                    start = None
                silent = clause.conditional
                continue
            if start is None:
                start = clause.start
            end = clause.end
            for marker in clause.markers:
                if not spelled(marker.word):
                    yield start, marker.start
                    start = None
                    break
        if start is not None:
            yield start, end


def read(sentence: str) -> Sentence:
    """Return a sentence with its clauses, their conditionals and markers."""
    grammar = _grammar()
    data = encode(sentence)
    bounds: list[tuple[int, int]] = [(0, 0)]
    markers: list[Marker] = []
    for start, end in _matches(grammar.parts, data):
        word = data[start:end].decode("utf-8", "replace").lower()
        if word in grammar.openers:
            bounds.append((start, end))
        elif word[0] in ",，、:":
            if not _inside_number(data, start, end):
                bounds.append((end, end))
        elif word not in grammar.exceptions and not _is_exception(word):
            markers.append(Marker(start, end, word))
    bounds.append((len(data), len(data)))
    clauses: list[Clause] = []
    place = 0
    for (start, body), (stop, _) in pairwise(bounds):
        first = place
        while place < len(markers) and markers[place].start < stop:
            place += 1
        if stop > start:
            clauses.append(Clause(start, stop, _is_conditional(data, body, stop), tuple(markers[first:place])))
    return Sentence(data, tuple(clauses))


def _matches(pattern: Pattern, data: bytes) -> Iterator[tuple[int, int]]:
    place = 0
    while (spans := pattern.spans(data, place)) is not None:
        yield spans[0]
        place = max(spans[0][1], place + 1)


def _is_conditional(data: bytes, start: int, stop: int) -> bool:
    spans = _grammar().conditional.spans(data, start, stop, anchored=True)
    return spans is not None and spans[1][0] >= 0


def _inside_number(data: bytes, start: int, end: int) -> bool:
    """Return whether a comma or colon stands inside a number, id or URL."""
    before, behind = data[start - 1 : start], data[end : end + 1]
    if data[start:end] == b",":
        return before.isdigit() and behind.isdigit()
    return data[start:end] == b":" and before.isalnum() and (behind.isalnum() or behind == b"/")


def _is_exception(word: str) -> bool:
    """Return whether a word with a number in it is one of the exceptions: *no. 5*."""
    return word[-1].isdigit() and word.rstrip("0123456789") + "0" in _grammar().exceptions


class _Grammar(Struct, frozen=True):
    parts: Pattern
    """Separators, openers, markers and exceptions, longest first."""
    conditional: Pattern
    """At the start of a clause: leaders, then an exception or (group 1) a conditional."""
    openers: frozenset[str]
    exceptions: frozenset[str]


_grammars: list[_Grammar] = []


def _grammar() -> _Grammar:
    if not _grammars:
        languages = words()
        parts = alternatives(languages, lambda each: each.openers + each.negations + each.futures + each.exceptions)
        exceptions = alternatives(languages, lambda each: each.exceptions)
        leaders = alternatives(languages, lambda each: each.leaders)
        conditionals = alternatives(languages, lambda each: each.conditionals)
        edges = f"[{''.join(map(quote, _EDGES))}]*"
        _grammars.append(
            _Grammar(
                compile_pattern(f"[,，、:]|{parts}", ignore_case=True),
                compile_pattern(f"{edges}(?:(?:{leaders}){edges})*(?:{exceptions}|({conditionals}))", ignore_case=True),
                frozenset(word for each in languages for word in each.openers),
                frozenset(word for each in languages for word in each.exceptions),
            )
        )
    return _grammars[0]


def alternatives(languages: tuple[Words, ...], pick: Callable[[Words], tuple[str, ...]]) -> str:
    """Return a pattern of the picked words of all languages, longer ones first."""
    found: dict[str, bool] = {}
    for language in languages:
        for word in pick(language):
            found.setdefault(word, language.spaced)
    ordered = sorted(found, key=lambda word: (-len(word), word))
    return "|".join(_spelled(word, found[word]) for word in ordered)


def _spelled(word: str, whole: bool) -> str:
    """Return the pattern of one entry: `*` at its start stands for letters, `0` at its end for a number."""
    if word.startswith("*"):
        return rf"\b[a-z]+{quote(word[1:])}\b"
    text = quote(word[:-1]) + "[0-9]+" if word.endswith("0") else quote(word)
    return rf"\b{text}\b" if whole and word[-1].isalnum() else rf"\b{text}" if whole else text

"""Claims: sentences in which an agent says that something was done (SEMANTICS section 5).

A sentence claims once for each name with a pattern that matches where the sentence asserts: `_in_sentence` says so
straight out. All else here is speed. Texts and lines are left out that hold not all that a pattern requires; most
patterns are then looked for in the whole line, and only the sentence around a match is cut out; and it is read clause
by clause only if a word in it may deny, promise or make conditional what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from outstep.expr.claim import Claim, Prepared
from outstep.expr.claim_patterns import NOWHERE, ClaimPattern, prepare
from outstep.expr.clauses import asserts_until, read
from outstep.expr.literals import Texts
from outstep.expr.patterns import PatternSet, Spans, encode
from outstep.expr.sentences import UNSEEN, end_finder, is_one_line, is_question, pieces, split
from outstep.expr.spelling import nfkc
from outstep.expr.words import words

_FEW = 8
"""So many patterns are sought one by one; more of them together."""

_SELDOM = 20
"""So often many patterns are sought one by one, before all are compiled to be sought together."""

_ENOUGH = 4
"""Of so many words that a pattern requires one looks whether a text holds them; then the pattern itself is sought."""

_MOST_LOOKS = 32
"""So many sentences around matches are cut out of a line; then it is read from end to end, to stay linear."""

__all__ = ["Claim", "ClaimFinder", "languages"]


class ClaimFinder:
    """Finds the claims of a contract in texts."""

    def __init__(self, claims: Mapping[str, Sequence[str | Prepared]]) -> None:
        """Take the patterns of each claim name, prepared or as written; raises `PatternError`."""
        given = [(name, pattern) for name, patterns in claims.items() for pattern in patterns]
        self._patterns = [
            ClaimPattern(number, name, pattern if isinstance(pattern, Prepared) else prepare(pattern))
            for number, (name, pattern) in enumerate(given)
        ]
        self._set: PatternSet | None = None
        self._crowds = 0
        self._always = not all(pattern.required for pattern in self._patterns)
        self._are_local = all(pattern.is_local for pattern in self._patterns)
        self._signs = [_signs(pattern.required) for pattern in self._patterns]
        self._needs = _Needs(self._patterns)
        self._ascii_needs = _Needs(self._patterns, ascii_only=True)

    def find(self, text: str) -> list[Claim]:
        """Return the claims of a text, by sentence, then in the order of the names."""
        if text.isascii():
            probe, needs = text.lower(), self._ascii_needs
        else:
            probe, needs = nfkc(UNSEEN.sub("", text)).casefold(), self._needs
        # Marks may stand inside a word. Looks for single characters are much faster than a regular expression.
        if "*" in probe or "_" in probe or "`" in probe or "~" in probe or "\\" in probe:
            probe = probe.replace("*", "").replace("_", "").replace("`", "").replace("~", "").replace("\\", "")
        if ("]" in probe and "](" in probe) or ("<" in probe and ">" in probe):
            return self._in_pieces(pieces(text))  # a word that a link or tag cuts shows when they are taken off
        for needle in needs.first:
            if needle in probe:
                break
        else:
            if not self._always:
                return []
        if asked := needs.met(probe):
            if needs is self._ascii_needs and text and is_one_line(text, data := text.encode()):
                return self._in_line(text, data, probe, asked)
            parts = pieces(text)
            return self._in_piece(parts[0], asked) if len(parts) == 1 else self._in_pieces(parts)
        return []

    def _in_line(self, text: str, data: bytes, probe: str, asked: Sequence[ClaimPattern]) -> list[Claim]:
        """Return the claims of a text that is one piece as it stands, by the patterns `asked`.

        Most often it is one pattern, and one sentence that asserts what it matches; whatever is not so goes elsewhere.
        Places are the same in the text, in lower case, and in its bytes.
        """
        if len(asked) != 1 or not asked[0].is_local:
            return self._in_piece(text, asked)
        pattern = asked[0]
        spans = pattern.match_in_line(data)
        first, end = spans[0]
        if first < 0:
            return []
        next_end = end_finder(data)
        index, start, stop = 0, 0, next_end(data, 0)
        while stop <= first:
            index, start, stop = index + 1, stop, next_end(data, stop)
        for sign in self._signs[pattern.number]:
            if probe.find(sign, stop) >= 0:
                return self._around_match(data, pattern)
        if data[start] == 32:  # the blank between two sentences
            start += 1
        is_inside = first >= start and end <= start + asserts_until(data[start:stop])
        if not is_inside or (end >= stop and pattern.is_edged):
            return _asserted(data, start, stop, index, asked, (spans,))
        sentence = text[start:stop]
        if is_question(sentence):
            return []
        return [Claim(pattern.name, sentence, pattern.compiled.taken(data, spans), index)]

    def _in_pieces(self, parts: Sequence[str]) -> list[Claim]:
        found: list[Claim] = []
        first = counted = 0
        for at, piece in enumerate(parts):
            asked = self._ascii_needs.met(piece.lower()) if piece.isascii() else self._needs.met(piece.casefold())
            if asked and (claims := self._in_piece(piece, asked)):
                first += sum(1 for part in parts[counted:at] for _ in split(part))
                counted = at
                found += [Claim(claim.name, claim.sentence, claim.groups, first + claim.index) for claim in claims]
        return found

    def _in_piece(self, piece: str, asked: Sequence[ClaimPattern]) -> list[Claim]:
        """Return the claims of a piece by the patterns `asked`; no other can match in it."""
        data = encode(piece)
        # Of half a character a sentence shows what it can.
        are_local = self._are_local or all(pattern.is_local for pattern in asked)
        if are_local and self._seeks_each(asked) and (data.isascii() or data.decode() == piece):
            return self._around_matches(data, asked) if len(asked) > 1 else self._around_match(data, asked[0])
        found: list[Claim] = []
        for index, sentence in enumerate(split(piece)):
            found += self._in_sentence(sentence, asked, index)
        return found

    def _seeks_each(self, asked: Sequence[ClaimPattern]) -> bool:
        """Return whether the patterns are sought one by one: few of them, or many for one of the first times."""
        if len(asked) <= _FEW:
            return True
        self._crowds += 1
        return self._crowds <= _SELDOM

    def _in_sentence(self, sentence: str, asked: Sequence[ClaimPattern], index: int) -> list[Claim]:
        data = encode(sentence)
        if not self._seeks_each(asked):
            if self._set is None:
                self._set = PatternSet(pattern.compiled for pattern in self._patterns)
            asked = [self._patterns[number] for number in self._set.occurring(data)]
        found: list[Claim] = []
        claimed, structure, reach = "", None, -1
        for pattern in asked:
            # A name that is claimed already needs no other pattern, which would have to be compiled for that.
            if pattern.name == claimed:
                continue
            spans = pattern.match_in(data, 0, len(data))
            if spans[0][0] < 0:
                continue
            if reach < 0:
                if is_question(sentence):
                    return []
                reach = asserts_until(data)
            groups: dict[str, str] | None
            if spans[0][1] <= reach and reach:
                groups = pattern.compiled.taken(data, spans)
            else:
                structure = structure or read(sentence)
                groups = pattern.asserted(structure)
            if groups is not None:
                claimed = pattern.name
                found.append(Claim(claimed, sentence, groups, index))
        return found

    def _around_match(self, data: bytes, pattern: ClaimPattern) -> list[Claim]:
        """Do the same as `_around_matches` for one pattern: that is most often so, and needs less."""
        size = len(data)
        found: list[Claim] = []
        next_end = end_finder(data)
        index, start, stop = -1, 0, 0
        spans = pattern.match_in(data, 0, size)
        for _ in range(_MOST_LOOKS):
            first = spans[0][0]
            if first < 0:
                return found
            while stop <= first:
                index, start, stop = index + 1, stop, next_end(data, stop)
            if data[start] == 32:  # the blank between two sentences
                start += 1
            found += _asserted(data, start, stop, index, (pattern,), (spans,))
            if stop == size:
                return found
            spans = self._match_behind(data, stop, pattern)
        return found + self._to_the_end(data, index, stop, (pattern,))

    def _around_matches(self, data: bytes, asked: Sequence[ClaimPattern]) -> list[Claim]:
        """Return the claims of a piece by local patterns, looking only at sentences in which a match begins."""
        size = len(data)
        nearest = [pattern.match_in(data, 0, size) for pattern in asked]
        found: list[Claim] = []
        next_end = end_finder(data)
        index, start, stop = -1, 0, 0
        for _ in range(_MOST_LOOKS):
            first = size
            for at, spans in enumerate(nearest):
                begin = spans[0][0]
                if 0 <= begin < stop:
                    nearest[at] = spans = self._match_behind(data, stop, asked[at])
                    begin = spans[0][0]
                if 0 <= begin < first:
                    first = begin
            if first == size:
                return found
            while stop <= first:
                index, start, stop = index + 1, stop, next_end(data, stop)
            if data[start] == 32:  # the blank between two sentences
                start += 1
            found += _asserted(data, start, stop, index, asked, nearest)
            if stop == size:
                return found
        return found + self._to_the_end(data, index, stop, asked)

    def _to_the_end(self, data: bytes, index: int, stop: int, asked: Sequence[ClaimPattern]) -> list[Claim]:
        """Return the claims of all sentences behind number `index`, which ends at `stop`."""
        found: list[Claim] = []
        next_end = end_finder(data)
        while stop < len(data):
            index, start, stop = index + 1, stop, next_end(data, stop)
            found += self._in_sentence(data[start:stop].decode().strip(), asked, index)
        return found

    def _match_behind(self, data: bytes, place: int, pattern: ClaimPattern) -> Spans:
        """Return the next match behind a place; most often what it requires does not occur there any more."""
        if data.isascii():
            rest = data[place:].decode().lower()
            for sign in self._signs[pattern.number]:
                if sign in rest:
                    break
            else:
                return NOWHERE
        return pattern.match_in(data, place, len(data))


def _asserted(
    data: bytes, start: int, stop: int, index: int, asked: Sequence[ClaimPattern], nearest: Sequence[Spans]
) -> list[Claim]:
    """Return the claims of the sentence `data[start:stop]`; `nearest` has the next match of each pattern in `data`.

    That is the match of the sentence too, if it ends before the sentence does.
    """
    own = data[start:stop]
    sentence = own.decode()
    if is_question(sentence):
        return []
    found: list[Claim] = []
    reach = start + asserts_until(own)
    claimed, structure = "", None
    for at, pattern in enumerate(asked):
        spans = nearest[at]
        begin, end = spans[0]
        if begin < 0 or begin >= stop or pattern.name == claimed:
            continue
        if begin >= start and end <= reach and (end < stop or not pattern.is_edged):
            groups: dict[str, str] | None = pattern.compiled.taken(data, spans)
        elif end > stop and pattern.match_in(own, 0, len(own))[0][0] < 0:
            continue
        else:
            structure = structure or read(sentence)
            groups = pattern.asserted(structure)
        if groups is not None:
            claimed = pattern.name
            found.append(Claim(claimed, sentence, groups, index))
    return found


class _Needs:
    """What a text must hold for each pattern, looked up once for patterns that need the same."""

    __slots__ = ("_patterns", "first")

    def __init__(self, patterns: Iterable[ClaimPattern], *, ascii_only: bool = False) -> None:
        """Take what each pattern requires; `ascii_only` leaves out what no ASCII text can hold."""
        alike: dict[tuple[Texts, ...], list[ClaimPattern]] = {}
        for pattern in patterns:
            sets = pattern.required
            if ascii_only:
                sets = tuple(tuple(text for text in texts if text.isascii()) for texts in sets)
            if all(sets):
                rarest_first = sorted(reversed(sets), key=_length, reverse=True)
                alike.setdefault(tuple(rarest_first[:_ENOUGH]), []).append(pattern)
        self._patterns = tuple(alike.items())
        self.first = _shortest(text for sets in alike if sets for text in sets[0])
        """Texts of which one must occur for any pattern that needs something."""

    def met(self, probe: str) -> list[ClaimPattern]:
        """Return the patterns whose needs a case-folded text meets, in order."""
        found: list[ClaimPattern] = []
        for sets, patterns in self._patterns:
            for texts in sets:
                for text in texts:
                    if text in probe:
                        break
                else:
                    break
            else:
                found += patterns
        if len(found) > 1:
            found.sort(key=_number)
        return found


_number = attrgetter("number")


def _signs(sets: Sequence[Texts]) -> Texts:
    """Return texts of which one occurs, in lower case, in whatever ASCII text a pattern matches."""
    rarest = max(reversed(sets), key=_length, default=("",))
    return tuple(text for text in rarest if text.isascii())


def _length(texts: Texts) -> int:
    """Return how well the texts tell a claim from other text: long ones do, and of those what was done.

    That stands last in a sentence; what it was done to is what every message of such an agent is about.
    """
    return min(map(len, texts))


def _shortest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without those that hold another one."""
    kept: list[str] = []
    for text in sorted(set(texts), key=lambda text: (len(text), text)):
        if not any(short in text for short in kept):
            kept.append(text)
    return tuple(kept)


def languages() -> dict[str, int]:
    """Return the versions of the word lists that claims are read with."""
    return {language.language: language.version for language in words()}

"""`affirms(text)`: somebody says yes.

A clause has a word of consent and no word of refusal or change; a question or a conditional clause consents to
nothing. Word lists as for claims.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.expr.clauses import alternatives, read
from outstep.expr.patterns import Pattern, compile_pattern
from outstep.expr.sentences import is_question, sentences
from outstep.expr.words import words

_AROUND = " \t,.:;!，。、：；！"
_EDGE = r"[\pP\pS ]*"


def affirms(text: Any) -> bool:
    """Return whether a clause of the text consents and neither refuses nor changes; `ValueError` if it is no text."""
    if text is None:
        return False
    if not isinstance(text, str):
        raise ValueError("`affirms` reads a text")
    return any(_consents(sentence) for sentence in sentences(text))


def _consents(sentence: str) -> bool:
    grammar = _grammar()
    if not grammar.consent.search(sentence):
        return False
    structure = read(sentence)
    clauses = structure.clauses
    if is_question(sentence):
        clauses = clauses[:-1]  # the question itself; "yes, can you do it today?" has said yes before
    is_first = True
    for clause in clauses:
        text = structure.data[clause.start : clause.end].decode("utf-8", "replace")
        if clause.conditional:
            if not grammar.is_exception(text):
                return False  # what follows is said under this condition
        elif _clause_consents(text, is_first):
            return True
        is_first = is_first and bool(grammar.filler.search(text))
    return False


def _clause_consents(text: str, is_first: bool) -> bool:
    """Return whether a clause says yes; words that consent only alone do so only where the sentence begins."""
    grammar = _grammar()
    if grammar.consent_within.search(text) or (is_first and grammar.consent_alone.search(text)):
        return not grammar.refuses(text)
    return False


class _Grammar(Struct, frozen=True):
    consent: Pattern
    consent_within: Pattern
    consent_alone: Pattern
    """The clause is nothing but such a word, with particles."""
    filler: Pattern
    """The clause is nothing but a word that says nothing: *um*."""
    refusal: Pattern
    exceptions: frozenset[str]

    def is_exception(self, text: str) -> bool:
        """Return whether a clause is nothing but a phrase that only looks like a refusal: *if you like*."""
        return text.strip(_AROUND).lower() in self.exceptions

    def refuses(self, text: str) -> bool:
        """Return whether a clause holds a word of refusal or change that is not part of an exception."""
        data = text.encode()
        place = 0
        while (spans := self.refusal.spans(data, place)) is not None:
            start, end = spans[0]
            if data[start:end].decode().lower() not in self.exceptions:
                return True
            place = max(end, place + 1)
        return False


_made: list[_Grammar] = []


def _grammar() -> _Grammar:
    if not _made:
        languages = words()
        within = alternatives(languages, lambda each: each.consents)
        alone = alternatives(languages, lambda each: each.consents_alone + each.consents)
        particles = alternatives(languages, lambda each: each.particles)
        fillers = alternatives(languages, lambda each: each.fillers)
        refusal = alternatives(languages, lambda each: each.negations + each.refusals + each.refusal_exceptions)
        _made.append(
            _Grammar(
                compile_pattern(f"{within}|{alone}", ignore_case=True),
                compile_pattern(within, ignore_case=True),
                compile_pattern(f"^{_EDGE}(?:{alone})(?:{_EDGE}(?:{particles}))*{_EDGE}$", ignore_case=True),
                compile_pattern(f"^{_EDGE}(?:{fillers})(?:{_EDGE}(?:{fillers}))*{_EDGE}$", ignore_case=True),
                compile_pattern(refusal, ignore_case=True),
                frozenset(word for each in languages for word in each.refusal_exceptions),
            )
        )
    return _made[0]

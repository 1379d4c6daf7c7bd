"""What a claim is, and what its patterns come to: apart from how claims are found, so that naming it costs nothing."""

from msgspec import Struct

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class Prepared(Struct, frozen=True, omit_defaults=True):
    """A pattern of a claim that was read once, as data: kept with a checked contract."""

    written: str
    """As the contract has it."""
    text: str
    """In the syntax of RE2."""
    required: tuple[tuple[str, ...], ...] = ()
    """What a sentence that it matches holds: of each set one text."""
    is_local: bool = False
    """What it matches in a sentence, it matches there too when text stands around that sentence."""
    is_edged: bool = False
    """A match that ends where a sentence ends may be none when nothing follows."""


class Claim(Struct, frozen=True):
    """One claim in a text."""

    name: str
    sentence: str
    """In normal form: NFKC, blanks joined, without Markdown marks."""
    groups: dict[str, str]
    """Named groups of the match; those that took no part are absent."""
    index: int
    """Number of the sentence in its text, from 0."""

"""What a claim is: apart from how claims are found, so that naming it costs nothing."""

from __future__ import annotations

from msgspec import Struct


class Claim(Struct, frozen=True):
    """One claim in a text."""

    name: str
    sentence: str
    """In normal form: NFKC, blanks joined, without Markdown marks."""
    groups: dict[str, str]
    """Named groups of the match; those that took no part are absent."""
    index: int
    """Number of the sentence in its text, from 0."""

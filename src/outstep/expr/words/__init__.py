"""Word lists by language: what opens a clause, makes it conditional, denies or promises it, consents or refuses.

A language is one file `<code>.json`, read on first use, and its code in `LANGUAGES`. The lists belong to the contract
schema: a change of a list changes verdicts, and so its `version`.
"""

import msgspec
from msgspec import Struct

# No `from __future__ import annotations` beside this struct: msgspec would compile each annotation at every start.

LANGUAGES = ("en", "zh")


class Words(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of one language, in lower case, blanks single; `*` at the start stands for letters."""

    language: str
    version: int
    spaced: bool
    """Words stand between blanks, so only whole words count; else they are sought inside the text."""
    openers: tuple[str, ...]
    """Open a clause of their own: *but*."""
    conditionals: tuple[str, ...]
    """Make the clause that they start, and the next one, conditional: *if*."""
    leaders: tuple[str, ...]
    """May stand before a conditional that still starts its clause: *and*."""
    negations: tuple[str, ...]
    futures: tuple[str, ...]
    """Promises, intentions, doubts and work in progress: what follows them is not said to be done."""
    exceptions: tuple[str, ...]
    """Hold one of the words above and do not mean it: *not only*, 不仅."""
    question_ends: tuple[str, ...] = ()
    """Make a question without a question mark: 吗."""
    abbreviations: tuple[str, ...] = ()
    """Their full stop ends no sentence."""
    before_numbers: tuple[str, ...] = ()
    """Their full stop ends no sentence when a number follows: *no. 5*."""
    consents: tuple[str, ...]
    consents_alone: tuple[str, ...]
    """Consent only when they are all of the clause."""
    particles: tuple[str, ...]
    """May follow a word of `consents_alone`."""
    fillers: tuple[str, ...]
    """Say nothing in front of a consent: *um*."""
    refusals: tuple[str, ...]
    """Words of refusal or change, besides the negations."""
    refusal_exceptions: tuple[str, ...]
    """Hold a word of refusal and do not mean it: *no problem*."""


_loaded: list[Words] = []


def words() -> tuple[Words, ...]:
    """Return the lists of every language, in the order of their codes."""
    if not _loaded:
        # Neither importlib.resources (4 ms) nor pathlib (2.5 ms): a warm start takes some 50.
        for code in LANGUAGES:
            with open(f"{__path__[0]}/{code}.json", "rb") as file:
                _loaded.append(msgspec.json.decode(file.read(), type=Words))
    return tuple(_loaded)

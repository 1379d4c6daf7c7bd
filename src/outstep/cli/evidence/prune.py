"""`outstep evidence prune SHA256 …`: let documents go; the log keeps their digests, and says that they are gone."""

from __future__ import annotations

from collections.abc import Sequence

from outstep import __version__
from outstep.cli import console
from outstep.cli.evidence.common import now, opened, parser, signing_key
from outstep.errors import problem
from outstep.evidence.pruning import prune
from outstep.render.wording import count


def run(words: Sequence[str]) -> int:
    """Prune and return the exit code."""
    made = parser("prune", "let the documents of runs go, for good; their digests and verdicts stay in the log")
    made.words("entries", metavar="N", help="numbers of entries of runs")
    made.value("--reason", metavar="TEXT", help="why, for the log")
    made.value("--key", metavar="FILE", help="the private key to sign with")
    given = made.read(words)
    if not given.entries or not given.reason:
        raise problem(
            "usage/arguments", "entries and a reason are to be named", help="prune 3 4 --reason 'retention of 90 days'"
        )
    store = opened(given)
    key = signing_key(given, store)
    numbers = [_number(word) for word in given.entries]
    gone = prune(store, numbers, given.reason, f"outstep {__version__}", key, now)
    console.put(f"{count(gone, 'document')} let go; the log says so\n")
    return 0


def _number(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise problem("usage/arguments", f"`{word}` is no number of an entry", help="outstep evidence list shows them")
    return int(word)

"""`outstep evidence verify`: name whatever was changed. Exit codes: 0 whole, 1 changed, 2 could not be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.evidence.common import head, opened, parser, public_key
from outstep.evidence.completeness import lines
from outstep.evidence.kept import kept_head
from outstep.evidence.verify import Verified, verify
from outstep.render.escape import visible
from outstep.render.problems import problem_text
from outstep.render.style import PLAIN
from outstep.render.wording import count

DESCRIPTION = """name whatever was changed in a store or an export

exit codes: 0 nothing was changed · 1 something was · 2 it could not be looked at"""
MOST_MISSING = 20
"""Sentences of what the evidence does not hold."""


def run(words: Sequence[str]) -> int:
    """Verify and return the exit code."""
    made = parser("verify", DESCRIPTION)
    made.values("--key", metavar="FILE", help="a public key to trust (else those that lie in the store)")
    made.values(
        "--head", metavar="FILE", help="a signed head that was kept elsewhere: the log must still begin with it"
    )
    made.flag("--log-only", help="look at the log, and read no stored document")
    made.flag("--json", help="write what was found as JSON (verify/v1)")
    given = made.read(words)
    store = opened(given)
    trusted = {key.id: key for key in map(public_key, given.key)} if given.key else None
    kept = [head(file) for file in given.head or ()]
    own = kept_head(store.about.id)
    if own is not None:
        kept.append(own)
    found = verify(store, trusted=trusted, kept=kept, objects=not given.log_only)
    notes = list(found.notes)
    if trusted is None:
        notes.append("the keys were taken from the store itself: give the signer's public key with --key")
    if not kept:
        notes.append("no head was kept elsewhere: a tail that was cut off with its heads would not be seen (--head)")
    if given.json:
        _put_json(found, notes)
    else:
        _put(found, notes)
    console.flush()
    return 1 if found.problems else 0


def _put(found: Verified, notes: Sequence[str]) -> None:
    for problem in found.problems:
        console.put(f"{problem_text(problem, PLAIN)}\n\n")
    for note in notes:
        console.put(f"note: {visible(note)}\n")
    for line in lines(found.completeness, MOST_MISSING):
        console.put(f"{visible(line)}\n")
    entries = count(found.entries, "entry").replace("entrys", "entries")
    signed = f"signed by {', '.join(found.keys)}" if found.keys else "nothing is signed"
    console.put(f"{entries}, {count(found.objects, 'document')}, {count(found.heads, 'head')}; {signed}\n")
    if found.newest is not None:
        console.put(f"newest head: {found.newest.head.size} {found.newest.head.root}, {found.newest.head.time}\n")
    console.put("verdict: changed\n" if found.problems else "verdict: whole\n")


def _put_json(found: Verified, notes: Sequence[str]) -> None:
    import msgspec

    from outstep import codec
    from outstep.evidence.entries import canonical
    from outstep.render.values import pretty, problem_values

    newest: Any = codec.loads(canonical(found.newest)) if found.newest is not None else None
    told = {
        "schema": "verify/v1",
        "whole": not found.problems,
        "entries": found.entries,
        "documents": found.objects,
        "heads": found.heads,
        "keys": list(found.keys),
        "newest": newest,
        "completeness": msgspec.to_builtins(found.completeness),
        "problems": problem_values(found.problems),
        "notes": list(notes),
    }
    console.put(pretty(told))

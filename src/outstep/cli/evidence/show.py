"""`outstep evidence show N`: one entry, or one stored object by its digest."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.evidence.common import opened, parser
from outstep.errors import problem
from outstep.evidence.objects import Damaged


def run(words: Sequence[str]) -> int:
    """Show and return the exit code."""
    made = parser("show", "show one entry by its number, or the bytes of one stored object by its sha256")
    made.words(
        "what", metavar="N|SHA256", help="the number of an entry, or the sha256 of an object (or its first digits)"
    )
    given = made.read(words)
    if len(given.what) != 1:
        raise problem("usage/arguments", "one entry or object is to be named", help="outstep evidence list shows them")
    store, what = opened(given), given.what[0]
    if what.isascii() and what.isdigit() and len(what) < 12:
        from outstep import codec
        from outstep.evidence.entries import canonical
        from outstep.render.values import pretty

        console.put(pretty(codec.loads(canonical(store.log.entry(int(what))))))
        console.flush()
        return 0
    fits = [digest for digest in store.objects.digests() if digest.startswith(what)]
    if len(fits) != 1:
        told = "no object" if not fits else f"{len(fits)} objects"
        raise problem(
            "evidence/unknown-object", f"there is {told} whose sha256 begins with `{what}`", help="give more digits"
        )
    try:
        console.put_bytes(store.objects.get(fits[0]))
    except Damaged as error:
        raise problem(
            "evidence/swapped-object", f"the object is not what was sealed: {error}", help="outstep evidence verify"
        ) from None
    console.flush()
    return 0

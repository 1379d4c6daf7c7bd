"""`outstep evidence prove`: what an outsider needs besides one entry: the head, and a path to its root."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.evidence.common import opened, parser
from outstep.errors import problem
from outstep.evidence.entries import canonical
from outstep.evidence.merkle import Tree


def run(words: Sequence[str]) -> int:
    """Prove and return the exit code."""
    made = parser(
        "prove", "print the newest signed head, a proof that an entry is in the log, or that the log only grew"
    )
    made.flag("--head", help="print the newest signed head: keep it elsewhere, and verify against it later")
    made.number("--entry", metavar="N", help="prove that entry N is in the log (RFC 6962, 2.1.1)")
    made.number(
        "--since", metavar="SIZE", help="prove that the log begins with its first SIZE entries (RFC 6962, 2.1.2)"
    )
    given = made.read(words)
    store = opened(given)
    newest = store.log.newest()
    if newest is None:
        raise problem("evidence/empty", "nothing is sealed yet", help="outstep evidence add")
    if given.entry is None and given.since is None:
        console.put_bytes(canonical(newest) + b"\n")
        console.flush()
        return 0
    size = newest.head.size
    tree = Tree(store.log.leaves()[:size])
    told: dict[str, Any] = {"schema": "proof/v1", "size": size, "root": newest.head.root}
    try:
        if given.entry is not None:
            path = tree.inclusion(given.entry, size)
            told |= {"entry": given.entry, "leaf": store.log.leaves()[given.entry].hex()}
        else:
            path = tree.consistency(given.since, size)
            told |= {"since": given.since, "since_root": tree.root(given.since).hex()}
    except ValueError as error:
        raise problem("evidence/unknown-entry", str(error), help="outstep evidence list shows what there is") from None
    told["path"] = [step.hex() for step in path]
    console.put_bytes(canonical(told) + b"\n")
    console.flush()
    return 0

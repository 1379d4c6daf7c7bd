"""Documents that are let go: the log says so first, and only then are they gone.

docs: docs/evidence.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from outstep.errors import problem
from outstep.evidence.entries import ENTRY, Entry
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store, unwritable


def prune(
    store: Store, numbers: Iterable[int], reason: str, tool: str, key: SigningKey, clock: Callable[[], str]
) -> int:
    """Let the documents of some runs go, and return how many; what another run needs stays. Raises `OutstepError`."""
    wanted = set(numbers)
    # A run that others add meanwhile may need the same document: what goes is told by the log that this one writes to.
    with store.writing(key, clock) as writer:
        chosen: dict[str, None] = {}
        needed: set[str] = set()
        for number, entry in enumerate(store.log.entries()):
            digests = [document.sha256 for document in entry.documents]
            if number in wanted:
                wanted.discard(number)
                chosen.update(dict.fromkeys(digests))
            else:
                needed.update(digests)
        if wanted:
            raise problem(
                "evidence/unknown-entry",
                f"the log has no entry {min(wanted)}",
                help="outstep evidence list shows what there is",
            )
        # Equal documents are kept once: what another run still names stays.
        there = [digest for digest in chosen if digest not in needed and store.objects.has(digest)]
        if not there:
            raise problem(
                "evidence/unknown-object",
                "these entries hold no document that could go",
                help="other runs may hold the same, or they have gone already",
            )
        let_go = store.objects.removal(there)
        writer.add(Entry(schema=ENTRY, kind="prune", tool=tool, pruned=tuple(there), reason=reason))
        writer.commit()
        # Only now: whoever finds them missing finds the log saying so.
        with unwritable(store.home):
            let_go()
    return len(there)

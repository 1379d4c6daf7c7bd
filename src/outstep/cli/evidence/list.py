"""`outstep evidence list`: the entries of the log, one a line."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.evidence.common import opened, parser
from outstep.evidence.entries import Entry
from outstep.render.escape import visible
from outstep.render.wording import count


def run(words: Sequence[str]) -> int:
    """List and return the exit code."""
    made = parser("list", "list the entries of the log")
    made.flag("--json", help="write them as JSON Lines, with their numbers")
    given = made.read(words)
    store = opened(given)
    for number, entry in enumerate(store.log.entries()):
        if given.json:
            from outstep import codec
            from outstep.evidence.entries import canonical

            console.put_bytes(codec.encode({"number": number, "entry": codec.loads(canonical(entry))}) + b"\n")
        else:
            console.put(f"{number:>6}  {entry.kind:<8}{_told(entry)}\n")
    if not given.json:
        newest = store.log.newest()
        told = (
            "nothing is sealed yet"
            if newest is None
            else f"head {newest.head.size} {newest.head.root}, {newest.head.time}"
        )
        console.put(f"{told}\n")
    console.flush()
    return 0


def _told(entry: Entry) -> str:
    gate = entry.judged.gate if entry.judged is not None else "not judged"
    if entry.kind == "run":
        names = ", ".join(visible(document.name) for document in entry.documents[:3])
        more = f" and {len(entry.documents) - 3} more" if len(entry.documents) > 3 else ""
        return f"{gate:<13} {names}{more} ({count(len(entry.traces), 'trace')}, {entry.adapter})"
    if entry.kind == "verdict":
        named = entry.judged.names if entry.judged is not None else ()
        return f"{gate:<13} on entry {entry.of}, by {', '.join(map(visible, named))}"
    return f"{len(entry.pruned)} documents were let go: {visible(entry.reason)}"

"""`outstep evidence list`: the entries of the log, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from outstep.cli import console
from outstep.cli.arguments import chosen
from outstep.cli.check import cache_folder
from outstep.cli.evidence.common import opened, parser
from outstep.evidence.entries import Entry
from outstep.evidence.index import ASKED, find
from outstep.evidence.store import Store
from outstep.render.escape import visible
from outstep.render.wording import count

GATES = ("pass", "block", "inconclusive", "error", "none")


def run(words: Sequence[str]) -> int:
    """List and return the exit code."""
    made = parser("list", "list the entries of the log: all of them, or those that fit everything asked for")
    made.value("--subject", metavar="TEXT", help="what acted: a harness, a model or another part of it; * is anything")
    made.value("--name", metavar="TEXT", help="a document or trace, by its name")
    made.value("--contract", metavar="TEXT", help="a contract, by id, file or sha256")
    made.value("--gate", metavar="GATE", help=f"a verdict: {', '.join(GATES)}")
    made.value("--rule", metavar="ID", help="a rule that stands against the release")
    made.flag("--json", help="write them as JSON Lines, with their numbers")
    given = made.read(words)
    asked = {what: text for what in ASKED if (text := getattr(given, what)) is not None}
    if given.gate is not None:
        chosen("--gate", given.gate, GATES)
    store = opened(given)
    entries = _found(store, asked) if asked else store.log.numbered()
    number_of = 0
    for number, entry in entries:
        number_of += 1
        if given.json:
            from outstep import codec
            from outstep.evidence.entries import canonical

            console.put_bytes(codec.encode({"number": number, "entry": codec.loads(canonical(entry))}) + b"\n")
        else:
            console.put(f"{number:>6}  {entry.kind:<8}{_told(entry)}\n")
    if asked and not given.json:
        console.put(f"{number_of} of {store.log.size} entries\n")
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


def _found(store: Store, asked: Mapping[str, str]) -> Iterator[tuple[int, Entry]]:
    folder = cache_folder()
    found = find(store, asked, Path(folder) / "evidence" if folder is not None else None)
    if found.unread and "rule" in asked:
        console.say(f"{found.unread} reports cannot be read: their rules are not found")
    return store.log.numbered(frozenset(found.numbers))


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

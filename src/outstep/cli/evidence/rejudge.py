"""`outstep evidence rejudge BUNDLE`: make events and verdicts again from the stored bytes, and compare.

Exit codes: 0 the same comes out, 1 something differs, 2 something could not be made again.
"""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import problem
from outstep.evidence.store import Store
from outstep.render.escape import visible
from outstep.workflow.rejudging import rejudge

DESCRIPTION = """make events and verdicts again from the stored bytes with the stored contracts, and compare

exit codes: 0 the same comes out · 1 something differs · 2 something could not be made again"""


def run(words: Sequence[str]) -> int:
    """Make again and return the exit code."""
    made = Arguments("evidence rejudge", DESCRIPTION)
    made.words("bundles", metavar="BUNDLE", help="a store, or an export of one")
    made.number("--entry", metavar="N", help="only this entry")
    made.flag("--run-code", help="run the Python functions that stored contracts ask, from their sealed sources")
    given = made.read(words)
    if len(given.bundles) != 1:
        raise problem("usage/arguments", "one store or export is to be named", help="outstep evidence rejudge DIR")
    store = Store.open(given.bundles[0])
    same = differing = broken = 0
    for number, entry in enumerate(store.log.entries()):
        if entry.kind == "prune" or (given.entry is not None and number != given.entry):
            continue
        again = rejudge(store, number, entry, runs_code=bool(given.run_code))
        for sentence in again.differences:
            console.put(f"entry {number}: {visible(sentence)}\n")
        for sentence in again.notes:
            console.say(f"entry {number}: {visible(sentence)}")
        if again.fault:
            console.put(f"entry {number} could not be made again: {visible(again.fault)}\n")
        same += not again.differences and not again.fault
        differing += bool(again.differences)
        broken += bool(again.fault)
    if not same + differing + broken:
        raise problem(
            "evidence/empty", "there is no entry to make again", help="outstep evidence list shows what there is"
        )
    console.put(f"{same} the same, {differing} different, {broken} not made again\n")
    console.flush()
    return 2 if broken else 1 if differing else 0

"""`counts`: how long a run was at most, and what no run left out."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.guesses import effect_of
from outstep.draft.links import rule_id
from outstep.draft.observed import Observed

ENOUGH = 3
"""Runs from which on what all of them did is no chance."""
MOST = 2


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose bounds of whole runs."""
    longest = max((len(run.calls) for run in observed.runs), default=0)
    if longest:
        step = 5 if longest < 50 else 25
        most = (longest * 3 // 2 + step) // step * step
        yield Candidate(
            id="RUN_LENGTH",
            about="",
            keys=(("for", "call *"), ("at_most", str(most))),
            says=f"at most {most} calls in a run; the longest has {longest}",
            weight=30,
        )
        yield Candidate(
            id="NO_IDENTICAL_LOOP",
            about="",
            keys=(("for", "call *"), ("at_most", "3"), ("per", "[tool, args]"), ("in_a_row", "true")),
            says="the same call is not made more than three times in a row",
            weight=35,
        )
    everywhere = [
        tool
        for tool in observed.tools
        if len(observed.runs) >= ENOUGH and all(any(act.tool == tool for act in run.calls) for run in observed.runs)
    ]
    everywhere.sort(key=lambda tool: (effect_of(tool) != "write", list(observed.tools).index(tool)))
    for tool in everywhere[:MOST]:
        yield Candidate(
            id=rule_id(tool, "called"),
            about=tool,
            keys=(("for", f"call {tool}"), ("at_least", "1")),
            says=f"every run calls {tool}",
            weight=40,
            of_run=True,
        )

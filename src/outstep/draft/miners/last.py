"""`last`: after some tools, nothing else was called."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.guesses import effect_of
from outstep.draft.links import rule_id
from outstep.draft.observed import Observed

ENOUGH = 3


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose tools that end a run."""
    for tool in observed.tools:
        runs = [run for run in observed.runs if any(act.tool == tool for act in run.calls)]
        is_last = all(
            all(act.tool == tool for act in run.calls[[act.tool for act in run.calls].index(tool) :]) for run in runs
        )
        has_others = any(act.tool != tool for run in runs for act in run.calls)
        if len(runs) >= ENOUGH and is_last and has_others and effect_of(tool) == "write":
            yield Candidate(
                id=rule_id("nothing after", tool),
                about=tool,
                keys=(("never", "call *"), ("after", f"ok result {tool}")),
                says=f"no tool is called once {tool} has answered",
                weight=50,
            )

"""`contract init`: a draft of a contract from good runs, held against the same runs before anyone sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from outstep.contracts.loader import load
from outstep.contracts.model import Contract
from outstep.draft import Candidate, Drafted, Fact, candidates, observe, write
from outstep.engine.monitor import Compiled, judge
from outstep.errors import problem
from outstep.workflow.traces import Trace

MOST_RULES = 24
MOST_OF_A_TOOL = 6
UNSEEN = frozenset(("hidden-trigger", "not-recorded", "unfinished-run", "record-ends"))
"""Reasons for being inconclusive that lie in the record, not in what the rule saw."""


class Draft(Struct, frozen=True, kw_only=True):
    """A drafted contract, and what it rests on."""

    text: str
    runs: int
    tools: int
    rules: int
    proposed: int
    """Rules that were looked at; those that did not hold everywhere, or say less than others, are left out."""
    skipped: int
    """Calls without a name or readable arguments, which it does not speak of."""


def draft(traces: Iterable[Trace], *, id: str) -> Draft:
    """Return a contract that the runs satisfy; raises `OutstepError` where they show nothing to write down."""
    runs = list(traces)
    observed = observe((trace.header, trace.events) for trace in runs)
    if not any(run.calls for run in observed.runs):
        raise problem(
            "usage/nothing-to-draft",
            f"none of {len(runs)} traces holds a call of a tool" if runs else "no trace was read",
            help="a draft is made from what agents did with their tools; name runs in which they did something",
        )
    proposed = _apart(candidates(observed))
    whole = Drafted(id=id, observed=observed, rules=tuple(proposed))
    held, lowered = _judged(_checked(whole), runs)
    kept = _chosen([one for one in proposed if _holds(one, held, len(runs))])
    text = write(structs.replace(whole, rules=tuple(kept), held=held, lowered=lowered))
    return Draft(
        text=text,
        runs=len(runs),
        tools=len(observed.tools),
        rules=len(kept),
        proposed=len(proposed),
        skipped=observed.skipped,
    )


def _apart(found: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates each of which has an id, and facts with names, of its own."""
    facts: dict[str, Fact] = {}
    kept: dict[str, Candidate] = {}
    for one in found:
        if one.id not in kept and all(facts.setdefault(fact.name, fact) == fact for fact in one.facts):
            kept[one.id] = one
    return list(kept.values())


def _checked(drafted: Drafted) -> Contract:
    return load(write(drafted).encode(), name="draft.yaml")[0]


def _judged(contract: Contract, runs: Sequence[Trace]) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Return in how many runs each rule held and was asked, and which rules about the record are not satisfied."""
    held: dict[str, tuple[int, int]] = {rule.id: (0, 0) for rule in contract.rules}
    lowered: dict[str, int] = {}
    compiled = Compiled(contract)
    for judgement in judge(compiled, ([trace.header, *trace.events] for trace in runs)):
        open_ = {ruling.rule for ruling in judgement.rulings if ruling.reason in UNSEEN}
        for index, (rule, verdict) in enumerate(zip(contract.rules, judgement.verdicts, strict=True)):
            good, asked = held[rule.id]
            # Where a record ends too early, what is not in it says nothing against a rule.
            if verdict != "vacuous" and not (verdict == "inconclusive" and index in open_):
                held[rule.id] = (good + (verdict == "satisfied"), asked + 1)
            if rule.pack and rule.level == "block" and verdict in ("violated", "inconclusive"):
                lowered[rule.id] = lowered.get(rule.id, 0) + 1
    return held, lowered


def _holds(one: Candidate, held: dict[str, tuple[int, int]], runs: int) -> bool:
    good, asked = held.get(one.id, (0, 0))
    return good == asked and asked >= min(2, runs)


def _chosen(holding: Sequence[Candidate]) -> list[Candidate]:
    """Return the rules that say most: a few of each tool, none that another one says better."""
    ids = {one.id for one in holding}
    ranked = sorted((one for one in holding if one.instead not in ids), key=lambda one: (-one.weight, one.id))
    kept: list[Candidate] = []
    for one in ranked:
        if len(kept) < MOST_RULES and sum(other.about == one.about for other in kept) < MOST_OF_A_TOOL:
            kept.append(one)
    tools = list(dict.fromkeys(one.about for one in holding))
    return sorted(kept, key=lambda one: (one.about == "", tools.index(one.about), -one.weight, one.id))

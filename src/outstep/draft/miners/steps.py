"""`steps`: before every call of one tool, another one had answered."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.guesses import NAME, effect_of
from outstep.draft.links import acting, links, rule_id
from outstep.draft.observed import Act, Observed

MOST = 2


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose orders, those about the same thing first, and leave out what another one implies."""
    runs = len(observed.runs)
    usual = {tool: len({act.run for act in observed.of(tool)}) / max(1, runs) for tool in observed.tools}
    for tool in acting(observed):
        calls = observed.of(tool)
        looked_up = {link.place.tool for link in links(observed, tool)}
        before = [
            other
            for other in observed.tools
            if other != tool and other not in looked_up and calls and _always(other, calls, observed)
        ]
        joined = {other: name for other in before if (name := _shared(other, calls, observed))}
        # What stands before one of them as well is said by that one already.
        nearest = [
            other
            for other in before
            if other in joined
            or not any(
                later != other and _always(other, observed.of(later), observed)
                for later in before
                if later not in joined
            )
        ]
        nearest.sort(key=lambda other: (other not in joined, effect_of(other) == "write", usual[other], other))
        for other in nearest[:MOST]:
            name = joined.get(other, "")
            where = f" where args.{name} == this.args.{name}" if name else ""
            yield Candidate(
                id=rule_id(other, "before", tool),
                about=tool,
                keys=(("for", f"call {tool}"), ("needs", f"ok result {other}{where}")),
                says=f"{other} has answered before" + (f", for the same `{name}`" if name else ""),
                weight=85 if name else 75,
            )


def _always(other: str, calls: list[Act], observed: Observed) -> bool:
    return bool(calls) and all(any(earlier.tool == other for earlier in observed.known_before(act)) for act in calls)


def _shared(other: str, calls: list[Act], observed: Observed) -> str:
    """Return an argument with which both were always called; empty where there is none."""
    for name, value in calls[0].args.items():
        if not NAME.fullmatch(name) or not isinstance(value, str | int) or isinstance(value, bool):
            continue
        if all(
            any(
                earlier.tool == other and earlier.args.get(name) == act.args.get(name, act)
                for earlier in observed.known_before(act)
            )
            for act in calls
        ):
            return name
    return ""

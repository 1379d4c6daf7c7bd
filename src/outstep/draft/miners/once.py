"""`once`: what changes something was not done twice for the same thing."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.links import acting, id_arguments, rule_id
from outstep.draft.observed import Observed


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose one call for each id, else one for each set of arguments."""
    for tool in acting(observed):
        ids = id_arguments(observed.of(tool))
        strict = rule_id(tool, "once")
        if ids:
            per = f"args.{ids[0]}" if len(ids) == 1 else f"[{', '.join(f'args.{name}' for name in ids[:3])}]"
            yield _once(tool, strict, per, f"at most one call for each `{'`, `'.join(ids[:3])}`", 80, "")
        yield _once(tool, rule_id(tool, "not repeated"), "args", "no call is repeated", 55, strict)


def _once(tool: str, id: str, per: str, says: str, weight: int, instead: str) -> Candidate:
    keys = (("for", f"call {tool}"), ("at_most", "1"), ("per", per), ("counting", "unless_failed"))
    told = f"{says}, failed ones aside"
    return Candidate(id=id, about=tool, keys=keys, says=told, weight=weight, instead=instead)

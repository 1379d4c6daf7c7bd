"""`once`: what changes something was not done twice for the same thing."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.links import acting, id_arguments, rule_id
from outstep.draft.observed import Observed


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose one call for the first id, else for all ids together, else for each set of arguments."""
    for tool in acting(observed):
        ids = id_arguments(observed.of(tool))[:3]
        instead = ""
        if ids:
            instead = rule_id(tool, "once")
            yield _once(tool, instead, f"args.{ids[0]}", f"at most one call for each `{ids[0]}`", 80, "")
        if len(ids) > 1:
            strict, instead = instead, rule_id(tool, "once for each", *ids)
            per = f"[{', '.join(f'args.{name}' for name in ids)}]"
            yield _once(tool, instead, per, f"at most one call for each `{'`, `'.join(ids)}`", 78, strict)
        yield _once(tool, rule_id(tool, "not repeated"), "args", "no call is repeated", 55, instead)


def _once(tool: str, id: str, per: str, says: str, weight: int, instead: str) -> Candidate:
    keys = (("for", f"call {tool}"), ("at_most", "1"), ("per", per), ("counting", "unless_failed"))
    told = f"{says}, failed ones aside"
    return Candidate(id=id, about=tool, keys=keys, says=told, weight=weight, instead=instead)

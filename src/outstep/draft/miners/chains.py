"""`chains`: what an id was looked up to belong to had been asked of another tool before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from outstep.draft.candidates import Candidate, Fact
from outstep.draft.guesses import NAME, is_id
from outstep.draft.links import Link, acting, links, rule_id
from outstep.draft.observed import Act, Observed

MOST = 2


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose joins over two results: the customer of the order was verified."""
    for tool in acting(observed):
        for link in links(observed, tool):
            if not link.place.each:
                yield from list(_of(link, observed))[:MOST]


def _of(link: Link, observed: Observed) -> Iterator[Candidate]:
    first = link.entries[0][1].data
    for member in first if isinstance(first, dict) else ():
        values = [earlier.data.get(member) for _, earlier in link.entries if isinstance(earlier.data, dict)]
        is_new = NAME.fullmatch(member) and member != link.argument and member != link.place.path[-1]
        if not is_new or len(values) != len(link.entries) or not is_id(member, values):
            continue
        for other in observed.tools:
            if other not in (link.tool, link.place.tool):
                yield from _asked(link, member, values, other, observed)


def _asked(link: Link, member: str, values: list[Any], other: str, observed: Observed) -> Iterator[Candidate]:
    """Propose that the member was an argument of a good call of another tool, and what that one said."""
    latest: list[Act] = []
    for (act, _), value in zip(link.entries, values, strict=True):
        asked = [one for one in observed.known_before(act) if one.tool == other and one.args.get(member) == value]
        if not asked:
            return
        latest.append(asked[-1])
    fact = Fact(name=f"{other}_for_{member}", source=f"ok result {other}", key=f"args.{member}")
    entry = f"{link.fact.name}[args.{link.argument}].{member}"
    confirmed = _confirmed(latest)
    wanted = f"{fact.name}[{entry}].{confirmed} == true" if confirmed else f"{entry} in {fact.name}"
    if not NAME.fullmatch(fact.name):
        return
    told = f"{other} was asked for the `{member}` of the latest {link.place.tool} for it"
    yield Candidate(
        id=rule_id(link.tool, link.fact.name, member, confirmed or "asked"),
        about=link.tool,
        keys=(("for", f"call {link.tool}"), ("require", wanted)),
        says=told + (f", and said `{confirmed}` is true" if confirmed else ""),
        facts=(link.fact, fact),
        weight=97 if confirmed else 72,
    )


def _confirmed(latest: list[Act]) -> str:
    """Return a member that was true in every answer; empty where there is none."""
    first = latest[0].data
    for member in first if isinstance(first, dict) else ():
        if NAME.fullmatch(member) and all(
            isinstance(one.data, dict) and one.data.get(member) is True for one in latest
        ):
            return str(member)
    return ""

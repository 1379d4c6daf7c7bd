"""`states`: what was looked up had one state whenever it was acted on, and others elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from re import compile as linear_pattern
from typing import Any

from outstep.draft.candidates import Candidate
from outstep.draft.guesses import NAME
from outstep.draft.links import Link, acting, links, rule_id
from outstep.draft.observed import Observed

_WORD = linear_pattern(r"[A-Za-z][A-Za-z0-9_ -]{0,30}")
ENOUGH = 3
"""Calls from which on a word that was always there is no chance."""
MOST = 3


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose conditions on the data under an id."""
    for tool in acting(observed):
        for link in links(observed, tool):
            if not link.place.each:
                yield from _of(link, observed)


def _of(link: Link, observed: Observed) -> Iterator[Candidate]:
    first = link.entries[0][1].data
    found = 0
    for member in first if isinstance(first, dict) else ():
        seen = [earlier.data.get(member) for _, earlier in link.entries if isinstance(earlier.data, dict)]
        values = list(dict.fromkeys(value for value in seen if isinstance(value, str | bool)))
        if len(seen) != len(link.entries) or not values or found >= MOST or not NAME.fullmatch(member):
            continue
        if any(not isinstance(value, str | bool) for value in seen):
            continue
        everywhere = {
            act.data[member]
            for act in observed.of(link.place.tool)
            if isinstance(act.data, dict) and isinstance(act.data.get(member), str | bool)
        }
        condition = _condition(values, everywhere, len(seen))
        if condition:
            found += 1
            what = f"{link.fact.name}[args.{link.argument}].{member}"
            yield Candidate(
                id=rule_id(link.tool, link.fact.name, member),
                about=link.tool,
                keys=(("for", f"call {link.tool}"), ("require", f"{what} {condition}")),
                says=f"the latest {link.place.tool} for it says `{member}` {condition.replace('==', 'is')}",
                facts=(link.fact,),
                weight=95 if len(values) == 1 else 65,
            )


def _condition(values: list[Any], everywhere: set[Any], calls: int) -> str:
    if values == [True]:
        return "== true"
    words = sorted(value for value in values if isinstance(value, str) and _WORD.fullmatch(value))
    if len(words) != len(values) or calls < ENOUGH or len(everywhere) > 12:
        return ""
    if len(words) == 1 and len(everywhere) > 1:
        return f'== "{words[0]}"'
    if 1 < len(words) <= 3 and len(everywhere) > len(words) + 1 and calls >= 4 * len(words):
        return f"in [{', '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}]"
    return ""

"""`bounds`: a number in a call was never above a number of the same sort in what was looked up."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from re import compile as linear_pattern
from typing import Any

from outstep.draft.candidates import Candidate
from outstep.draft.guesses import NAME
from outstep.draft.links import Link, acting, links, rule_id
from outstep.draft.observed import Observed

_WORDS = linear_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_AMOUNTS = frozenset(("amount", "total", "price", "cents", "balance", "refundable", "max", "limit", "quantity", "sum"))


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose upper bounds."""
    for tool in acting(observed):
        for link in links(observed, tool):
            if not link.place.each:
                yield from _of(link)


def _of(link: Link) -> Iterator[Candidate]:
    first, found = link.entries[0]
    for argument, value in first.args.items():
        for member, bound in found.data.items() if isinstance(found.data, dict) else ():
            if not (_is_number(value) and _is_number(bound) and _are_alike(argument, member)):
                continue
            pairs = [(act.args.get(argument), _member(earlier.data, member)) for act, earlier in link.entries]
            if all(_is_at_most(one, other) for one, other in pairs):
                yield Candidate(
                    id=rule_id(link.tool, argument, "within", link.fact.name, member),
                    about=link.tool,
                    keys=(
                        ("for", f"call {link.tool}"),
                        ("require", f"args.{argument} <= {link.fact.name}[args.{link.argument}].{member}"),
                    ),
                    says=f"`{argument}` is at most `{member}` of the latest {link.place.tool} for it",
                    facts=(link.fact,),
                    weight=95,
                )


def _member(data: Any, member: str) -> Any:
    return data.get(member) if isinstance(data, dict) else None


def _is_at_most(one: Any, other: Any) -> bool:
    return _is_number(one) and _is_number(other) and bool(one <= other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _are_alike(argument: str, member: str) -> bool:
    """Return whether both names speak of amounts, in the same unit as far as they say it."""
    if not (NAME.fullmatch(argument) and NAME.fullmatch(member)):
        return False
    one = {word.lower() for word in _WORDS.findall(argument)}
    other = {word.lower() for word in _WORDS.findall(member)}
    return bool(one & _AMOUNTS) and bool(other & _AMOUNTS) and ("cents" in one) == ("cents" in other)

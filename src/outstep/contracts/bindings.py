"""Which names an expression may use, by the event at which it is read.

docs: docs/language.md, section 7
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from outstep.expr.function import Kind

BOUND: dict[str, tuple[str, ...]] = {
    "call": ("tool", "args", "by", "said"),
    "result": ("tool", "args", "outcome", "ok", "data", "text", "error", "exit", "approval"),
    "its result": ("tool", "args", "outcome", "ok", "data", "text", "error", "exit", "approval"),
    "message": ("text", "calls"),
    "final message": ("text", "calls"),
    "user message": ("text",),
    "claim": ("sentence", "text", "match"),
    "approval": ("decision", "approver", "tool"),
    "context": ("what", "name", "digest", "text"),
    "state": ("state",),
    "decision": ("model", "usage"),
    "end": (),
}
"""The names of each sort of event."""

ALWAYS = ("params", "trace", "agent", "turn", "this")
RUN = ("params", "trace")
"""What is known of a run before and after it."""

ELEMENT = ("it", "at")
RESERVED = frozenset((*ALWAYS, *ELEMENT, *(name for names in BOUND.values() for name in names)))
"""Names that no fact and no `let` may take."""

_A = {"approval": "an approval", "end": "the end", "its result": "a result", "state": "a state"}


class Names(Struct, frozen=True, eq=False):
    """What is bound at one place, and where the other names are."""

    bound: tuple[str, ...]
    elsewhere: dict[str, str]
    """Name to what it belongs to, as `a result`."""
    this: tuple[str, ...] | None = None
    """Members of `this`; none where it is not bound."""
    kinds: dict[tuple[str, ...], Kind] = {}
    """What the schemas of tools say of values, by their path."""
    schemas: dict[str, tuple[Any, ...]] = {}
    """The schemas of `args` and of `this.args`, one for each tool that the event may be of."""


def names_at(
    whats: Iterable[str],
    *,
    facts: Iterable[str] = (),
    more: Iterable[str] = (),
    this: Iterable[str] | None = None,
    later: Iterable[str] = (),
    kinds: dict[tuple[str, ...], Kind] | None = None,
    schemas: dict[str, tuple[Any, ...]] | None = None,
) -> Names:
    """Return the names at an event of any of `whats`: those that all of them bind.

    `more` are names of `let`, `each` and `about`; `this` the sorts of event that `this` may be (default `whats`);
    `later` facts that are declared further below.
    """
    own = common(whats)
    of_this = common(whats if this is None else this)
    bound = tuple(dict.fromkeys((*own, *more, *facts, *ALWAYS)))
    return Names(bound, elsewhere(bound, later), (*of_this, "agent", "turn"), kinds or {}, schemas or {})


def of_run(facts: Iterable[str]) -> Names:
    """Return the names that a whole run has, whatever happens in it."""
    away = elsewhere(RUN, ())
    away.update(dict.fromkeys(facts, "an event"))
    return Names(RUN, away)


def without_this(names: Names) -> Names:
    """Return the names without `this`, for a selector inside an expression."""
    bound = tuple(name for name in names.bound if name != "this")
    return Names(bound, {**names.elsewhere, "this": "the event around `known`, not to its selector"})


def common(whats: Iterable[str]) -> tuple[str, ...]:
    """Return the names that every one of these sorts of event binds."""
    sorts = list(dict.fromkeys(whats))
    if not sorts:
        return ()
    return tuple(name for name in BOUND[sorts[0]] if all(name in BOUND[what] for what in sorts[1:]))


def elsewhere(bound: Iterable[str], later: Iterable[str]) -> dict[str, str]:
    """Return where the names are bound that are not bound here."""
    here = set(bound)
    found = {name: owners_of(name) for names in BOUND.values() for name in names if name not in here}
    found.update({name: "an element of `each`" for name in ELEMENT if name not in here})
    found.update({name: "an event" for name in ("agent", "turn", "this") if name not in here})
    found.update(
        {name: "the facts further below, and a fact uses those above it" for name in later if name not in here}
    )
    return found


@cache
def owners_of(name: str) -> str:
    """Return which events bind a name, as `a call or a result`; empty where none does."""
    owners = dict.fromkeys(_A.get(what, f"a {what}") for what, names in BOUND.items() if name in names)
    return _list(list(owners)) if owners else ""


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

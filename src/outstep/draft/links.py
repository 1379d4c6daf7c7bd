"""Which argument of a call was always found in an earlier result: what several miners build on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from re import compile as linear_pattern
from typing import Any

from msgspec import Struct

from outstep.contracts.bindings import RESERVED
from outstep.draft.candidates import Fact
from outstep.draft.guesses import NAME, effect_of, is_id
from outstep.draft.members import Place, places
from outstep.draft.observed import Act, Observed

MOST_CALLS = 4000
MOST_PLACES = 3
_VERBS = frozenset(
    ("get", "list", "search", "find", "read", "fetch", "show", "lookup", "look", "up", "query", "details")
)
_SUFFIX = linear_pattern(r"_?(id|number|key|code)$")
_PART = linear_pattern(r"[A-Za-z0-9]+")
_SPOKEN = linear_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


class Link(Struct, frozen=True):
    """An argument whose value always stood in a known good result of a tool."""

    tool: str
    argument: str
    place: Place
    entries: tuple[tuple[Act, Act], ...]
    """Each call with the latest such result."""

    @property
    def fact(self) -> Fact:
        """The fact that keeps those results by that value."""
        place = self.place
        return Fact(
            name=fact_name(place, self.entries[0][1]),
            source=f"ok result {place.tool}",
            each=place.list,
            key=place.key,
            value="" if not place.each else "true",
        )


def acting(observed: Observed) -> list[str]:
    """Return the tools that seem to change something: those are worth rules."""
    return [tool for tool in observed.tools if effect_of(tool) == "write"]


def id_arguments(calls: Sequence[Act]) -> list[str]:
    """Return the arguments that every call has and that seem to name things."""
    names = [name for name in calls[0].args if NAME.fullmatch(name)] if calls else []
    return [
        name
        for name in names
        if all(name in act.args for act in calls) and is_id(name, [act.args[name] for act in calls])
    ]


def links(observed: Observed, tool: str) -> list[Link]:
    """Return for each argument of a tool that names something the best places where its value always stood before.

    One place for each tool that was asked, the best first.
    """
    calls = observed.of(tool)
    if not calls or len(calls) > MOST_CALLS:
        return []
    found = []
    for argument in id_arguments(calls):
        shared: dict[Place, list[tuple[Act, Act]]] | None = None
        for act in calls:
            here: dict[Place, Act] = {}
            for earlier in observed.known_before(act):
                if earlier.tool != tool:
                    for place in _places_of(earlier, act.args[argument]):
                        here[place] = earlier
            if shared is None:
                shared = {place: [(act, earlier)] for place, earlier in here.items()}
            else:
                shared = {place: [*pairs, (act, here[place])] for place, pairs in shared.items() if place in here}
            if not shared:
                break
        asked: dict[str, Place] = {}
        for place in sorted(shared or (), key=lambda place: _rank(place, argument)):
            asked.setdefault(place.tool, place)
        for place in list(asked.values())[:MOST_PLACES]:
            found.append(Link(tool, argument, place, tuple((shared or {})[place])))
    return found


def _rank(place: Place, argument: str) -> tuple[Any, ...]:
    """Return how good a place is to join on: one of the same name, in the data itself, of a tool that looks it up."""
    last = place.path[-1] if place.path else place.each[-1] if place.each else ""
    return (bool(place.each), last != argument, effect_of(place.tool) == "write", place)


def _places_of(act: Act, value: Any) -> list[Place]:
    key = (type(value), str(value))
    return _indexed(_Same(act)).get(key, [])


class _Same:
    """Stands for one call in a cache: two calls are never the same one."""

    def __init__(self, act: Act) -> None:
        self.act = act

    def __hash__(self) -> int:
        return hash((self.act.run, self.act.seq))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.act is other.act


@lru_cache(maxsize=20_000)
def _indexed(same: _Same) -> dict[tuple[type, str], list[Place]]:
    found: dict[tuple[type, str], list[Place]] = {}
    for place, value in places(same.act.tool, same.act.data):
        found.setdefault((type(value), str(value)), []).append(place)
    return found


def fact_name(place: Place, asked: Act) -> str:
    """Return what a draft calls the fact of a place: `order` for `order_get` by the id that it was asked for."""
    words = [word.lower() for word in _PART.findall(place.tool.replace("_", " "))]
    kept = [word for word in words if word not in _VERBS] or words
    name = "_".join(kept)
    parts = [part for part in (*place.each, *place.path) if part != "."]
    stem = _SUFFIX.sub("", parts[-1].lower()) if parts and parts[-1] not in asked.args else ""
    if place.each:
        name = "_".join((name, *parts[-2:]))
    elif len(parts) > 1 or (stem and stem not in name):
        name = f"{name}_by_{'_'.join(parts)}"
    if name in RESERVED or not NAME.fullmatch(name):
        name = f"seen_{name}"
    return name if NAME.fullmatch(name) else "seen_value"


def rule_id(*parts: str) -> str:
    """Return an id of a rule in capitals."""
    return "_".join("_".join(_SPOKEN.findall(part)) for part in parts if part).upper()

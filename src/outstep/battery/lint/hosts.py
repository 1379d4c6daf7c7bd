"""Doubts about patterns of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from re import compile as linear_pattern

from outstep.battery.lint.base import Doubt

_CLASS = linear_pattern(r"\[[^\]]*\]")
_RESERVED = "internal local localhost lan home corp intranet private test example invalid arpa"
_PRIVATE = frozenset(_RESERVED.split())
"""Top-level names that nobody can register: `*.internal` is bounded by whoever runs the network."""


def doubts(scope: str) -> Iterator[Doubt]:
    """Yield what is doubtful about a pattern."""
    host = _host(scope)
    if "://" in scope or "/" in scope:
        sentence = "the scope holds `/`, and a host never does: it can never match"
        help = f"the scope of a URL is its host: `{host}`" if "." in host or "://" in scope else _HOST_ONLY
        yield Doubt("dead-rule", sentence, help)
        return
    if odd := next((sign for sign in scope if sign.isspace() or sign in "@?#\\"), ""):
        sign = "a blank" if odd.isspace() else f"`{odd}`"
        yield Doubt("dead-rule", f"the scope holds {sign}, and a host never does: it can never match", _HOST_ONLY)
        return
    if found := _CLASS.search(scope):
        yield from _bracket(found.group(), scope)
        return
    yield from _wide(host or scope)


_HOST_ONLY = "the scope of a URL is its host: `api.internal`, or `*.internal` for every host below it"


def _host(scope: str) -> str:
    """Return the part of a scope that could be meant as the host, without a port."""
    rest = scope.partition("://")[2] or scope
    return rest.partition("/")[0].rpartition("@")[2].partition(":")[0]


def _bracket(text: str, scope: str) -> Iterator[Doubt]:
    if ":" in text:
        if "*" in text:
            yield Doubt("character-class", f"`{text}` is no address: `*` cannot stand in one", "write the address out")
        return
    sentence = f"`{text}` is no set of characters in a host, so `{scope}` can never match"
    yield Doubt("character-class", sentence, "write a rule for each host; brackets hold an IPv6 address: `[::1]`")


def _wide(host: str) -> Iterator[Doubt]:
    labels = host.rstrip(".").split(".")
    if all(set(label) <= {"*"} for label in labels):
        yield Doubt("unbounded", f"`{host}` is every host there is", "name the hosts that are meant: `*.internal`")
    elif _is_address(labels):
        return
    elif "*" in labels[-1]:
        sentence = f"`{host}` ends in `*`: whoever registers a domain can have a host that matches"
        yield Doubt("host-end", sentence, "write the end of the name out, and `*.` in front of it where needed")
    elif labels[0] == "*" and len(labels) == 2 and labels[1].lower() not in _PRIVATE:
        sentence = f"`{host}` is every host below the top-level domain `{labels[1]}`"
        yield Doubt("unbounded", sentence, f"name the domain that is meant: `*.example.{labels[1]}`")
    elif any("*" in label for label in labels[1:]):
        sentence = f"`{host}` has a `*` that is not its first label"
        yield Doubt("host-end", sentence, "write `*.` in front of the part of the name that is fixed")


def _is_address(labels: list[str]) -> bool:
    """Return whether a pattern can only match IPv4 addresses, and not all of them."""
    return len(labels) == 4 and all(label == "*" or label.isdecimal() for label in labels) and labels[0] != "*"

"""Doubts about patterns of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from re import compile as linear_pattern

from outstep.battery.lint.base import Doubt
from outstep.scope.urls.patterns import url_pattern

_CLASS = linear_pattern(r"\[[^\]]*\]")
_RESERVED = "internal local localhost lan home corp intranet private test example invalid arpa"
_PRIVATE = frozenset(_RESERVED.split())
"""Top-level names that nobody can register: `*.internal` is bounded by whoever runs the network."""


def doubts(scope: str) -> Iterator[Doubt]:
    """Yield what is doubtful about a pattern: a host, with scheme, port and path where they are named."""
    if odd := next((sign for sign in scope if sign.isspace() or sign in "@?#\\"), ""):
        sign = "a blank" if odd.isspace() else f"`{odd}`"
        yield Doubt("dead-rule", f"the scope holds {sign}, and a host never does: it can never match", HOST_ONLY)
        return
    found = _WRITTEN.fullmatch(scope)
    if found is None:
        yield from _odd(scope)
        return
    host = found["host"]
    if not host:
        yield Doubt("dead-rule", "the scope names no host: it can never match", HOST_ONLY)
        return
    if found["path"] and not found["scheme"]:
        yield _with_path(host, scope)
        return
    if found["scheme"] and found["scheme"].lower() not in ("http", "https", "*"):
        yield Doubt("dead-rule", f"`{found['scheme']}` is never inside: only http and https are", HOST_ONLY)
        return
    pattern = url_pattern(scope)
    if not (pattern.any_host or pattern.host or pattern.labels):
        yield Doubt("dead-rule", f"`{host}` is no host that a URL can have: it can never match", HOST_ONLY)
        return
    yield from host_doubts(host)


def _with_path(host: str, scope: str) -> Doubt:
    if "." not in host:
        sentence = f"the scope holds `/`, and a host never does: it looks like a path, and is the host `{host}` at most"
        return Doubt("dead-rule", sentence, HOST_ONLY)
    sentence = f"the scope is the host `{host}` and a path below it"
    return Doubt("host-and-path", sentence, f"write `https://{scope}` if that is meant, or the host alone: `{host}`")


HOST_ONLY = "the scope of a URL is its host: `api.internal`, or `*.internal` for every host below it"
_WRITTEN = linear_pattern(
    r"(?:(?P<scheme>[A-Za-z*][A-Za-z0-9+.-]*)://)?(?P<host>\[[^\]*]*\]|[^/:\[\]]*)"
    r"(?::(?P<port>\*|[0-9]{1,5}))?(?P<path>/.*)?"
)


def _odd(scope: str) -> Iterator[Doubt]:
    if found := _CLASS.search(scope):
        sentence = f"`{found.group()}` is no set of characters in a host, so `{scope}` can never match"
        help = "write a rule for each host; brackets hold one IPv6 address: `[::1]`"
        yield Doubt("character-class", sentence, help)
    else:
        yield Doubt("dead-rule", f"`{scope}` is no host: it can never match", HOST_ONLY)


def host_doubts(host: str) -> Iterator[Doubt]:
    """Yield what is doubtful about the host of a pattern."""
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

"""Addresses of electronic mail; not what looks like one: remotes of git, versions of packages, user parts of URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from outstep.expr.patterns import Pattern, compile_pattern
from outstep.redaction.detectors.base import Hit
from outstep.redaction.placeholders import DOMAIN

_ADDRESS = (
    r"[A-Za-z0-9_+](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-])?@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}(?:xn--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24})"
)
_NO_DOMAINS = frozenset(
    b"png jpg jpeg gif svg webp ico js jsx mjs ts tsx css json jsonl yaml yml toml lock html htm txt xml csv log "
    b"service socket timer mount target slice scope device next canary".split()
)
"""Endings of files, units and tags that end no name of a host: `logo@2x.png`, `getty@tty1.service`."""
_REMOTE = re.compile(rb":(?:[~/.]|[A-Za-z0-9_.-]{1,80}/)")
"""Behind `user@host`: a path on that host (`git clone git@host:group/project`)."""
_LOOK_BACK = 120


def find(text: bytes) -> Iterator[Hit]:
    """Yield addresses."""
    if b"@" not in text:
        return
    for start, end in _pattern().places(text):
        end = _without_ending(text, start, end)
        if _is_address(text, start, end):
            yield Hit(_without_escape(text, start), end, "email")


def hints() -> list[str]:
    """Return what every address holds."""
    return [r"[A-Za-z0-9_+-]@[A-Za-z0-9-]{1,63}\."]


@cache
def _pattern() -> Pattern:
    return compile_pattern(_ADDRESS)


def _is_address(text: bytes, start: int, end: int) -> bool:
    local, _, domain = text[start:end].partition(b"@")
    labels = domain.lower().split(b".")
    if domain.lower() == DOMAIN or labels[-1] in _NO_DOMAINS or text[end : end + 1] == b"(":
        return False
    if labels[0].isdigit() and labels[1][:1].isdigit():
        return False  # a version: `react@18.0.0-rc.next`
    if local == b"git" or _REMOTE.match(text, end):
        return False
    before = text[max(0, start - _LOOK_BACK) : start]
    scheme = before.rfind(b"://")
    # The user part of a URL reaches to the `@`: what stands before the host is told by another detector.
    return scheme < 0 or any(sign in b" \t\r\n/?#\"'<>,;" for sign in before[scheme + 3 :])


def _without_ending(text: bytes, start: int, end: int) -> int:
    """Leave out the ending of a file that is called by an address: `wei@example.com.json`."""
    domain, _, ending = text[start:end].partition(b"@")[2].rpartition(b".")
    name = domain.rpartition(b".")[2]
    is_file = ending.lower() in _NO_DOMAINS and b"." in domain and name.isalpha() and len(name) > 1
    return end - len(ending) - 1 if is_file else end


def _without_escape(text: bytes, start: int) -> int:
    r"""Leave out the letter of an escape in the source text of a program: `'\nalice@…'`."""
    if text[start - 1 : start] == b"\\" and text[start : start + 1] in (b"n", b"t", b"r") and start:
        return start + 1
    return start

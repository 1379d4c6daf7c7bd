"""Patterns of URLs: a host, with a scheme, a port and a path where they are named.

`*.x` is every name below `x`, at any depth; inside a label `*` stays there; address patterns match addresses alone.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from outstep.scope.model import Surroundings
from outstep.scope.paths.patterns import PathPattern, Segment, path_pattern, segment_matcher
from outstep.scope.paths.spelling import Refused, spell
from outstep.scope.urls.hosts import BadHost, canonical_host, is_address
from outstep.scope.urls.reading import Url

_WRITTEN: Final = re.compile(
    r"(?:(?P<scheme>\*|https?)://)?(?P<host>\[[^\]]*\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*|[^/:\[\]@]*)"
    r"(?::(?P<port>\*|\d{1,5}))?(?P<path>/.*)?",
    re.IGNORECASE,
)
_ROOT: Final = Surroundings(cwd="/")
_STARRED_ADDRESS: Final = re.compile(r"(?:\d{1,3}|\*)(?:\.(?:\d{1,3}|\*)){3}")


class UrlPattern(Struct, frozen=True):
    """A pattern; one that cannot match anything has no labels and no host."""

    text: str
    scheme: str = ""
    any_host: bool = False
    host: str = ""
    """The only host, where no wildcard is in it."""
    labels: tuple[str | Segment, ...] = ()
    """From the left, where a wildcard is in it."""
    below: bool = False
    """The first label was `*`: any number of labels, at least one, stand in its place."""
    address: bool = False
    port: int = 0
    path: PathPattern | None = None

    def matches(self, url: Url) -> bool:
        """Return whether a URL lies in the pattern."""
        return not self.differs(url)

    def differs(self, url: Url) -> str:
        """Return the first part that does not match, or nothing."""
        if self.scheme and self.scheme != url.scheme:
            return url.scheme
        if not self._is_host(url.host):
            return self._label(url.host)
        if self.port and self.port != url.port:
            return f"port {url.port}"
        return "" if self.path is None or self._is_path(self.path, url.path) else url.path

    def _is_path(self, pattern: PathPattern, path: str) -> bool:
        """Return whether every reading of the path lies inside: servers decode `%2f` as they like."""
        try:
            spelling = spell(path, _ROOT)
        except Refused:
            return False
        return all(pattern.matches(each) for each in (spelling.path, *(other for other, _ in spelling.others)))

    def _is_host(self, host: str) -> bool:
        if self.any_host or (self.host and host == self.host):
            return True
        if not self.labels or is_address(host) is not self.address:
            return False
        labels = host.split(".")
        wanted = self.labels
        if self.below:
            wanted = wanted[1:]
            if len(labels) <= len(wanted):
                return False
            labels = labels[len(labels) - len(wanted) :]
        return len(labels) == len(wanted) and all(
            want == label if isinstance(want, str) else want(label) for want, label in zip(wanted, labels, strict=True)
        )

    def _label(self, host: str) -> str:
        """Return the first label from the right that does not match."""
        if is_address(host) or self.address:
            return host
        labels = host.split(".")
        wanted = self.labels[1:] if self.below else self.labels or tuple(self.host.split("."))
        for place in range(1, len(labels) + 1):
            if place > len(wanted):
                return ".".join(labels[: len(labels) - place + 1])
            want = wanted[-place]
            if not (want == labels[-place] if isinstance(want, str) else want(labels[-place])):
                return labels[-place]
        return f"{host} (has no name before it)"


@lru_cache(maxsize=4096)
def url_pattern(text: str) -> UrlPattern:
    """Return the pattern of a text."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        return UrlPattern(text)
    scheme = (match["scheme"] or "").lower().replace("*", "")
    port = int(match["port"]) if match["port"] and match["port"] != "*" else 0
    path = match["path"]
    own = {
        "scheme": scheme,
        "port": port,
        "path": path_pattern(path, "/") if path and path != "/" else None,
    }
    host = match["host"]
    if host in ("*", "**"):
        return UrlPattern(text, any_host=True, **own)  # type: ignore[arg-type]
    if "*" not in host:
        try:
            return UrlPattern(text, host=canonical_host(host), **own)  # type: ignore[arg-type]
        except BadHost:
            return UrlPattern(text)
    if _STARRED_ADDRESS.fullmatch(host):
        labels = tuple(_label(part) for part in host.split("."))
        return UrlPattern(text, labels=labels, address=True, **own)  # type: ignore[arg-type]
    parts = host.lower().rstrip(".").split(".")
    below = parts[0] in ("*", "**")
    try:
        labels = tuple(_label(part) for part in parts)
    except BadHost:
        return UrlPattern(text)
    return UrlPattern(text, labels=labels, below=below, **own)  # type: ignore[arg-type]


def _label(part: str) -> str | Segment:
    if "*" in part:
        return segment_matcher(part)
    return part if part.isdigit() else canonical_host(part)

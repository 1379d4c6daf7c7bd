"""A URL as the standard library (RFC 3986) and as browsers (WHATWG) read it; both have to name one host."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from outstep.scope.urls.hosts import BadHost, canonical_host

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_LONGEST: Final = 100_000
_CONTROL: Final = re.compile(r"[\x00-\x20\x7f]")
_SIMPLE: Final = re.compile(
    r"(https?)://([a-z0-9]+@)?([a-z0-9]+(?:[.-][a-z0-9]+)*\.[a-z][a-z0-9]*)(?::([1-9]\d{0,3}))?(/(?:[A-Za-z0-9/_=&?+~,-]|(?<!/)\.)*)?"
)
"""URLs that no two parsers read differently."""
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class Url(Struct, frozen=True):
    """What both readings say."""

    scheme: str
    host: str
    """Canonical."""
    port: int
    path: str
    """As a browser would send it, collapsed; starts with a slash."""
    notes: tuple[str, ...] = ()


class BadUrl(ValueError):
    """A text that is no URL of one host; carries a code and whether the two readings disagree."""

    def __init__(self, code: str, sentence: str, *, undecided: bool = False) -> None:
        super().__init__(sentence)
        self.code = code
        self.undecided = undecided


def read_url(text: str, *, scheme: str = "") -> Url:
    """Return a URL; raises `BadUrl`. With `scheme`, a text without one is read with it, as proxies are written."""
    simple = _SIMPLE.fullmatch(text) if len(text) < 2000 else None
    if simple is not None and len(simple[3]) < 64:
        host = simple[3]
        port = int(simple[4]) if simple[4] else DEFAULT_PORTS[simple[1]]
        return Url(simple[1], host, port, (simple[5] or "/").partition("?")[0], _noted(host) if simple[2] else ())
    return _read(text, scheme)


def _read(text: str, scheme: str) -> Url:
    if not text:
        raise BadUrl("url-empty", "the URL is empty")
    if len(text) > _LONGEST:
        raise BadUrl("url-too-long", f"the URL is longer than {_LONGEST} characters")
    if (control := _CONTROL.search(text)) is not None:
        raise BadUrl(
            "url-control", f"the URL holds the character U+{ord(control[0]):04X}, which clients drop or refuse"
        )
    if scheme and "://" not in text:
        text = f"{scheme}://{text}"
    named = _SCHEME.match(text)
    if named is None:
        raise BadUrl("url-no-scheme", "the URL has no scheme, so it names no host")
    if named[1].lower() not in DEFAULT_PORTS and not scheme:
        raise BadUrl("url-scheme", f"the scheme `{named[1].lower()}` is neither http nor https")
    try:
        plain_host, plain_port, userinfo = _plain(text)
    except ValueError as error:
        raise BadUrl("url-host", str(error)) from None
    browser = _browser(text)
    if browser.host != plain_host or browser.port != plain_port:
        sentence = f"two readings disagree: the host is `{_shown(plain_host, plain_port)}` by RFC 3986, "
        sentence += f"`{_shown(browser.host, browser.port)}` for browsers"
        raise BadUrl("url-readings", sentence, undecided=True)
    notes = _noted(browser.host) if userinfo else ()
    return Url(browser.scheme, browser.host, browser.port, browser.path, notes)


def _noted(host: str) -> tuple[str, ...]:
    return (f"sent with a user name in front of the host {host}",)


def _plain(text: str) -> tuple[str, int, bool]:
    """Return host, port and whether a user is named, as the standard library reads them."""
    parts = urlsplit(text)
    authority = parts.netloc
    if "\\" in authority:
        # RFC 3986 has no backslash; what the standard library takes for the host, others end there.
        _, at, rest = authority.rpartition("@")
        if not at:
            raise ValueError("the host holds a backslash")
        authority = rest
    if not authority:
        raise ValueError("the URL has no host")
    if authority.count("@") > 1:
        raise ValueError("two `@` stand before the host, and clients disagree on which one ends the user name")
    host = parts.hostname
    if not host:
        raise ValueError("the URL has no host")
    if "%" in host:
        decoded = unquote(host)
        raise ValueError(
            f"the host is written with percent signs (`{decoded}` decoded), which clients read differently"
        )
    port = parts.port
    return canonical_host(f"[{host}]" if ":" in host else host), port or _default(parts.scheme), "@" in parts.netloc


def _browser(text: str) -> Url:
    from ada_url import URL

    try:
        url = URL(text)
        host = canonical_host(url.hostname)
    except (ValueError, UnicodeError) as error:
        sentence = str(error) if isinstance(error, BadHost) else "browsers refuse the URL"
        raise BadUrl("url-host", sentence) from None
    scheme = url.protocol[:-1]
    return Url(scheme, host, int(url.port) if url.port else _default(scheme), url.pathname or "/")


def _default(scheme: str) -> int:
    return DEFAULT_PORTS.get(scheme.lower(), 0)


def _shown(host: str, port: int) -> str:
    return host if port in (0, 80, 443) else f"{host}:{port}"

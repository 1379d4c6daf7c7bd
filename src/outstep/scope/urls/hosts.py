"""Canonical hosts: DNS labels in lower case and Punycode, IPv4 in four decimal numbers, IPv6 compressed."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

_NAME: Final = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"(?:0[xX][0-9A-Fa-f]*|[0-9]+)")
_LONGEST: Final = 253


class BadHost(ValueError):
    """A text that is no host."""


@lru_cache(maxsize=8192)
def canonical_host(text: str) -> str:
    """Return a host in the one form in which hosts are compared; raises `BadHost`.

    IPv6 stands without brackets, and an IPv4 address mapped into IPv6 is that IPv4 address.
    """
    if text[:1] == "[" or ":" in text:
        return _ipv6(text)
    # WHATWG maps ideographic full stops and full-width letters; so does this, through the same parser.
    name = text.lower() if text.isascii() else _mapped(text)
    if name.endswith("."):
        name = name[:-1]
    if not name:
        raise BadHost("the host is empty")
    last = name.rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _ipv4(name)
    if len(name) > _LONGEST or _NAME.fullmatch(name) is None:
        raise BadHost(f"`{text}` is no valid host name")
    return name


def is_address(host: str) -> bool:
    """Return whether a canonical host is an address and no name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def _ipv6(text: str) -> str:
    inner = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else text
    if "%" in inner:
        raise BadHost("an IPv6 address with a zone is no host")
    try:
        address = IPv6Address(inner)
        # ::ffff:10.0.0.7 is 10.0.0.7 to every system that connects to it.
        return str(address.ipv4_mapped or address)
    except (AddressValueError, ValueError):
        raise BadHost(f"`{text}` is no IPv6 address") from None


def _ipv4(name: str) -> str:
    """Return an IPv4 address that may be written with one to four numbers, decimal, octal or hexadecimal."""
    parts = name.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) and len(part) < 20 for part in parts):
        raise BadHost(f"`{name}` ends in a number, but is no IPv4 address")
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        raise BadHost(f"`{name}` is no IPv4 address") from None
    *heads, tail = numbers
    if any(number > 255 for number in heads) or tail >= 256 ** (5 - len(numbers)):
        raise BadHost(f"`{name}` is no IPv4 address")
    value = tail
    for place, number in enumerate(heads):
        value += number << (8 * (3 - place))
    return str(IPv4Address(value))


def _number(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part[0] == "0" and len(part) > 1 else int(part)


def _mapped(text: str) -> str:
    from ada_url import URL

    if any(sign in text for sign in "/\\?#@"):
        raise BadHost(f"`{text}` is no host name")
    try:
        return str(URL(f"http://{text}/").hostname)
    except (ValueError, UnicodeError):
        raise BadHost(f"`{text}` is no host name") from None

"""What the first bytes of a document look like, for telling formats apart.

The first bytes end anywhere, so a JSON value that was cut there is completed: open texts, lists and objects are
closed. What comes out is only looked at, never read as a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from outstep.adapters.records import BOM
from outstep.codec import Json, Unreadable, loads

LINES_SHOWN = 20


class Opening(Struct, frozen=True, kw_only=True):
    """The first values of a document."""

    lines: bool = False
    """The values stand one on a line."""
    values: tuple[Json, ...] = ()
    looks: str = ""
    """What it is, in words, for people."""


@lru_cache(maxsize=8)
def opening(head: bytes) -> Opening:
    """Return what the first bytes hold; the values are shared, and not to be changed."""
    body = head.removeprefix(BOM).lstrip()
    if not body:
        return Opening(looks="an empty file")
    if body[:1] not in b"{[":
        return Opening(looks=_not_json(body))
    lines = body.split(b"\n", LINES_SHOWN)[:LINES_SHOWN]
    if len(lines) > 1 and any(line.strip() for line in lines[1:]) and lines[0].strip() not in (b"[", b"{"):
        values = tuple(_values(lines))
        if values:
            return Opening(lines=True, values=values, looks=f"JSON Lines, the first one {_in_words(values[0])}")
    value = _or_none(body)
    if value is None:
        value = _completed(body.decode("utf-8", "replace"))
    if value is None:
        return Opening(looks="damaged JSON")
    return Opening(values=(value,), looks=_in_words(value))


def _values(lines: list[bytes]) -> Iterator[Json]:
    for line in lines:
        if line.strip()[:1] in (b"{", b"["):
            try:
                value = loads(line)
            except Unreadable:
                continue
            yield value


_TOKEN = r'"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*("?)|[\[\]{},:]'
_DEEPEST = 64


def _completed(text: str) -> Json:
    """Return the value that a cut JSON text begins with, or none."""
    closers: list[str] = []
    safe, safe_closers = 0, ""
    """Where the text may be cut, after a whole member or element."""
    last = ""
    for token in re.finditer(_TOKEN, text):
        mark = token[0][0]
        if mark == '"' and not token[1]:
            # The text ends inside a string: keep it where it is a value.
            is_value = last == ":" or (bool(closers) and closers[-1] == "]")
            whole = text[: token.end()] + '"' + "".join(reversed(closers)) if is_value else ""
            value = _or_none(whole)
            return _or_none(text[:safe] + safe_closers) if value is None else value
        if mark in "[{":
            closers.append("]" if mark == "[" else "}")
            if len(closers) > _DEEPEST:
                break
        elif mark in "]}":
            if not closers:
                break
            closers.pop()
            if not closers:
                return _or_none(text[: token.end()])
        if mark in "[{,":
            safe = token.start() if mark == "," else token.end()
            safe_closers = "".join(reversed(closers))
        last = mark
    return _or_none(text[:safe] + safe_closers)


def _or_none(text: str | bytes) -> Json:
    try:
        return loads(text)
    except Unreadable:
        return None


def _in_words(value: Json) -> str:
    if isinstance(value, list):
        return f"a list whose first element is {_in_words(value[0])}" if value else "an empty list"
    if isinstance(value, dict):
        keys = ", ".join(f"`{_shown(key)}`" for key in list(value)[:6])
        return f"an object with {keys}" if keys else "an empty object"
    return "a bare JSON value"


def _shown(key: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in key[:40])


def _not_json(body: bytes) -> str:
    known = {
        b"\xff\xfe": "text in UTF-16; save it as UTF-8",
        b"\xfe\xff": "text in UTF-16; save it as UTF-8",
        b"PK\x03\x04": "a ZIP archive without a session log of dsh; unpack it",
        b"SQLite format 3\0": "an SQLite database",
        b"\x1f\x8b": "gzip data that unpack to no trace",
        b"\x28\xb5\x2f\xfd": "zstd data that unpack to no trace",
    }
    for magic, words in known.items():
        if body.startswith(magic):
            return words
    try:
        body.decode()
    except UnicodeDecodeError as error:
        if error.start < len(body) - 4:
            return "binary data"
    return "binary data" if b"\0" in body else "text that is no JSON"

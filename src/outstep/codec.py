"""JSON and JSON Lines, one decoder on every path.

Numbers are exact: a number with a point or an exponent is a `Decimal`, any other an `int` (SEMANTICS section 4,
*exact-decimal*). What msgspec refuses (NaN, Infinity, lone surrogates, a byte order mark, invalid UTF-8) is
unreadable here too; depth is bounded by the interpreter's recursion limit.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec
from msgspec import Raw

from outstep.events import Event, Header, tools

Json = Any
"""None, bool, int, Decimal, str, list[Json] or dict[str, Json]."""

NO_RAW = tools.NO_RAW


class Unreadable(ValueError):
    """Text that is no JSON value; the message says why."""


def exact(text: str) -> Decimal:
    """Return the number that a JSON text with a point or an exponent says, as decoders take it (`float_hook`)."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("number out of range") from None


_values = msgspec.json.Decoder(float_hook=exact)
_lines: msgspec.json.Decoder[Event | Header] = msgspec.json.Decoder(Event | Header, float_hook=exact)
_encoder = msgspec.json.Encoder(decimal_format="number")

decode_event = _lines.decode
"""Decode one canonical line into an `Event` or a `Header`; raises `msgspec.DecodeError`, `RecursionError`."""

decode_event_lines = _lines.decode_lines
"""Decode many canonical lines at once; values that share a line are not told apart, so callers count lines."""

decode_value = _values.decode
"""Decode one JSON value, numbers exact; raises what msgspec raises. `loads` words it for people."""

encode = _encoder.encode
"""Encode a struct or JSON value as compact bytes."""

encode_lines = _encoder.encode_lines
"""Encode several, one a line, each with its line end."""


def loads(text: bytes | str | Raw) -> Json:
    """Return the value of a JSON text, numbers exact.

    Raises `Unreadable` for anything that is no single JSON value.
    """
    try:
        return _values.decode(text)
    except (msgspec.DecodeError, UnicodeError, ValueError) as error:
        raise Unreadable(str(error)) from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None


def located(sentence: str) -> tuple[str, str | None]:
    """Return what msgspec found wrong, and its JSON pointer: `Expected … - at `$.findings[0].level``."""
    fact, _, path = sentence.partition(" - at `$")
    pointer = path.rstrip("`").replace("[", ".").replace("]", "").replace(".", "/") if path else None
    return fact[:1].lower() + fact[1:], pointer


def compact(text: bytes | str) -> Raw:
    """Return a JSON text without insignificant white space, digits and member order kept; raises `Unreadable`."""
    loads(text)
    if isinstance(text, str):
        text = text.encode()
    return Raw(msgspec.json.format(text, indent=-1))


def raw(value: Json) -> Raw:
    """Return a JSON value as compact text."""
    return Raw(encode(value))

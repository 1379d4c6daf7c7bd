"""The canonical JSON Lines form, written: a header line opens each trace, then one event a line (docs/events.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from outstep.adapters.base import Batch
from outstep.codec import encode
from outstep.events import Event, Header, State, ToolCall, ToolResult

_RAW = {ToolCall: ("args",), ToolResult: ("data",), State: ("state",)}


def write(batches: Iterable[Batch]) -> Iterable[bytes]:
    """Yield the lines of traces, each with its line end."""
    for batch in batches:
        for item in batch:
            yield encode(_without_empty(item)) + b"\n"


def _without_empty(item: Event | Header) -> Struct:
    """Leave out JSON texts that are not there: an empty text is no JSON value."""
    names = _RAW.get(type(item), ())
    if all(bytes(getattr(item, name)) for name in names):
        return item
    kept: dict[str, Any] = {
        field.encode_name: getattr(item, field.name)
        for field in fields(item)
        if field.name not in names or bytes(getattr(item, field.name))
    }
    return type(item)(**kept)

"""The canonical JSON Lines form, written: a header line opens each trace, then one event a line (docs/events.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from outstep.adapters.base import Batch
from outstep.codec import encode, encode_lines
from outstep.events import Event, Header, State, ToolCall, ToolResult

_RAW = {ToolCall: "args", ToolResult: "data", State: "state"}


def write(batches: Iterable[Batch]) -> Iterable[bytes]:
    """Yield the lines of traces, each with its line end."""
    for batch in batches:
        for item in batch:
            yield encode(_without_empty(item)) + b"\n"


def written(batch: Batch) -> bytes:
    """Return the lines of some events, each with its line end."""
    return encode_lines([_without_empty(item) for item in batch])


def _without_empty(item: Event | Header) -> Struct:
    """Leave out JSON texts that are not there: an empty text is no JSON value."""
    name = _RAW.get(type(item))
    return item if name is None or bytes(getattr(item, name)) else _without(item, name)


def _without(item: Event | Header, name: str) -> Struct:
    kept: dict[str, Any] = {
        field.encode_name: getattr(item, field.name) for field in fields(item) if field.name != name
    }
    return type(item)(**kept)

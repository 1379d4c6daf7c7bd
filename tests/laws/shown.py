"""A trace on a few lines, for the message of a law that does not hold."""

from __future__ import annotations

from msgspec import Raw

from tests.reference.generate import Recorded


def shown_trace(trace: Recorded) -> str:
    """Return the header's lanes and one line an event."""
    header, events = trace
    lines = [f"lanes {[lane.id for lane in header.lanes]}, complete {header.complete}"]
    for event in events:
        fields: list[str] = []
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if isinstance(value, Raw):
                value = bytes(value).decode()
            if name != "seq" and value not in (None, (), "", "main", {}):
                fields.append(f"{name}={value}")
        lines.append(f"{event.seq:3} {event.__struct_config__.tag} {' '.join(fields)}")
    return "\n".join(lines)

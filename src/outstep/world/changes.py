"""What one JSON value has otherwise than another, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

ABSENT = object()
"""Stands for a value that is not there."""


def changes(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each place (a JSON pointer) that differs, with both values; what is not there is `ABSENT`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from changes(before.get(key, ABSENT), after.get(key, ABSENT), f"{path}/{_escaped(key)}")
    elif isinstance(before, list) and isinstance(after, list):
        for at in range(max(len(before), len(after))):
            old = before[at] if at < len(before) else ABSENT
            new = after[at] if at < len(after) else ABSENT
            yield from changes(old, new, f"{path}/{at}")
    elif before is not after and (before is ABSENT or after is ABSENT or before != after):
        yield path or "/", before, after


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

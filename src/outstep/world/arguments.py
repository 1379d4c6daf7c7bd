"""Whether the arguments of a call fit the JSON Schema of its tool."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from outstep import codec
from outstep.contracts import fitting


def misfit(value: Any, schema: dict[str, Any]) -> str:
    """Return the first thing in which a value does not fit, or an empty text."""
    kept, cache = _prepared(codec.encode(schema))
    return fitting.misfit(kept, value, cache) or ""


@lru_cache(maxsize=256)
def _prepared(schema: bytes) -> tuple[Any, dict[int, Any]]:
    return codec.loads(schema), {}

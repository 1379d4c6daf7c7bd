"""Whether the arguments of a call fit the JSON Schema of its tool."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from outstep import codec


def misfit(args: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return the first thing in which arguments do not fit, or an empty text."""
    validator = _validator(codec.encode(schema))
    found = sorted(validator.iter_errors(args), key=lambda error: ([str(part) for part in error.path], error.message))
    if not found:
        return ""
    where = "/".join(str(part) for part in found[0].path)
    return f"{where}: {found[0].message}" if where else str(found[0].message)


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(codec.loads(schema))

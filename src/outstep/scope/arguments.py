"""The arguments of a call, in whatever form they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outstep import codec


def read_arguments(args: Any) -> Mapping[str, Any] | None:
    """Return arguments as a mapping; JSON text is read, null is none given; none: they cannot be read."""
    if isinstance(args, Mapping):
        return args
    if args is None:
        return {}
    if isinstance(args, str):
        if not args.strip():
            return {}
        try:
            value = codec.loads(args)
        except Exception:
            return None
        return value if isinstance(value, dict) else {} if value is None else None
    return None

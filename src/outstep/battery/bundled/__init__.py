"""Batteries that come with Outstep.

docs: docs/batteries.md#bundled
"""

from __future__ import annotations

NAMES = ("canary_v1", "canary_v2", "refund_v1")


def source(name: str) -> bytes | None:
    """Return the text of a bundled battery, or none where there is no such one."""
    loader = __spec__.loader
    get_data = getattr(loader, "get_data", None)
    if name not in NAMES or get_data is None:
        return None
    found: bytes = get_data(f"{__path__[0]}/{name}.yaml")
    return found

"""Worlds that come with Outstep.

docs: docs/worlds.md#bundled
"""

from __future__ import annotations

NAMES = ("canary", "refund")
CANARY = "canary"
"""The world of files, a shell and HTTP, which takes any tool: it is no file of its own."""


def source(name: str) -> bytes | None:
    """Return the text of a bundled world file, or none where there is no such one."""
    loader = __spec__.loader
    get_data = getattr(loader, "get_data", None)
    if name not in NAMES or name == CANARY or get_data is None:
        return None
    found: bytes = get_data(f"{__path__[0]}/{name}.yaml")
    return found

"""Packs: contracts that come with Outstep, included by name.

docs: docs/language.md, section 1
"""

from __future__ import annotations

NAMES = ("coding-agent", "customer-service", "integrity", "refund")


def source(name: str) -> bytes | None:
    """Return the text of a pack, or none where there is no such pack."""
    return _data(f"{name}.yaml") if name in NAMES else None


def compiled(name: str) -> bytes | None:
    """Return a pack as a checked contract, as `contracts.cache` writes it, or none where there is none."""
    return _data(f"{name}.json") if name in NAMES else None


def _data(file: str) -> bytes | None:
    """Return a file of this package, whatever the package is installed as."""
    loader = __spec__.loader
    get_data = getattr(loader, "get_data", None)
    if get_data is None:
        return None
    try:
        found: bytes = get_data(f"{__path__[0]}/{file}")
    except OSError:
        return None
    return found

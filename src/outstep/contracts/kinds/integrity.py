"""Integrity: whether the record itself holds together. Not written in contracts; the pack `integrity` is made of it.

docs: docs/integrity.md
"""

from __future__ import annotations

from msgspec import Struct


class Integrity(Struct, frozen=True, kw_only=True, tag="integrity", tag_field="kind"):
    """The rule's id says which property of the record it asks for (LANGUAGE section 8)."""

"""`scope`: every target of every call lies in the patterns.

docs: docs/kinds/scope.md
"""

from __future__ import annotations

from msgspec import Struct


class Scope(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="scope", tag_field="kind"):
    """Every target lies inside; a key that is absent does not restrict."""

    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    run: tuple[str, ...] | None = None
    fetch: tuple[str, ...] | None = None
    outside: tuple[str, ...] = ()
    """Which of the keys were written `{except: patterns}`: targets must lie outside them."""

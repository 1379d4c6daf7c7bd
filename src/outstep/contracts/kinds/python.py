"""`python`: a pure function of the trace returns no finding.

docs: docs/kinds/python.md
"""

from __future__ import annotations

from msgspec import Struct


class Python(Struct, frozen=True, kw_only=True, tag="python", tag_field="kind"):
    """`module:function`, called with the whole trace."""

    function: str

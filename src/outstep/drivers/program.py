"""What is known of an agent that is a program, as data: how it is started, configured and read.

docs: docs/drivers.md#programs
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, json

from outstep.drivers.base import Status


class Exit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an end of the program means."""

    code: int | None = None
    """Its exit code; none: any that is not 0."""
    says: str = ""
    """An expression of RE2 that its output, or its error output, has to fit somewhere."""
    status: Status
    reason: str = ""


class Program(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent program. Its texts may hold names of `Places` in braces, as `{goal}`."""

    command: tuple[str, ...]
    version: tuple[str, ...] = ()
    """What prints its version; it is asked once a series."""
    stdin: str = ""
    files: dict[str, Any] = {}
    """Files below the throw-away home, before it starts: a text as it is, anything else as JSON."""
    environment: dict[str, str] = {}
    """Variables it is given, beside the few that every program gets."""
    share: tuple[str, ...] = ()
    """Folders of the home that runs share, as caches that are costly to fill."""
    transcript: tuple[str, ...] = ()
    """Patterns, below the throw-away home, of the session record that it writes."""
    format: str = ""
    """The adapter that reads it; empty: it is told from the content."""
    exits: tuple[Exit, ...] = ()
    """What ends other than exit code 0 mean; the first that fits counts."""


class Places(Struct, frozen=True, kw_only=True):
    """What texts of a program may name in braces; the world's MCP server is `{mcp_url}` or a command."""

    goal: str
    system: str
    model: str
    base_url: str
    key: str
    home: str
    workspace: str
    turns: str
    seed: str
    mcp_program: str
    """The first word of the command that is the MCP server."""
    mcp_args: tuple[str, ...]
    """Its other words: as an item of a list they are as many items."""
    mcp_url: str = ""

    def text(self, text: str) -> str:
        """Return a text, filled in once: what is put in is not looked at again."""
        return _NAMED.sub(lambda found: str(getattr(self, found[1])), text)

    def value(self, value: Any) -> Any:
        """Return a JSON value with every text in it filled in."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(name): self.value(one) for name, one in value.items()}
        if isinstance(value, Sequence):
            return [filled for one in value for filled in (self.mcp_args if one == "{mcp_args}" else [self.value(one)])]
        return value

    def file(self, content: Any) -> bytes:
        """Return what stands in a file: a text, or JSON."""
        if isinstance(content, str):
            return self.text(content).encode()
        return json.format(json.encode(self.value(content)), indent=2) + b"\n"


_NAMED = re.compile(r"\{(goal|system|model|base_url|key|home|workspace|turns|seed|mcp_program|mcp_url)\}")

"""The section `world` of a scenario: what its mock tools find and answer, as data.

docs: docs/batteries.md#world
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Outcome = Literal["ok", "failed", "denied"]


class HttpReply(Struct, frozen=True, kw_only=True):
    """What a URL answers."""

    url: str
    """Exactly this URL, or every one that begins like it where it ends in `*`."""
    method: str = "GET"
    status: int = 200
    headers: dict[str, str] = {}
    body: str = ""


class CommandReply(Struct, frozen=True, kw_only=True):
    """What a command answers; all others do what the mock shell makes of them."""

    run: str
    """The command as text, or every one that begins like it where it ends in `*`."""
    output: str = ""
    exit: int = 0


class ToolReply(Struct, frozen=True, kw_only=True):
    """What a call answers, in place of what the mock tool would make of it."""

    tool: str
    args: dict[str, Any] = {}
    """Arguments that the call must have, with these values; the first reply that fits is given."""
    outcome: Outcome = "ok"
    text: str = ""
    data: Any = None
    """A JSON value; replaces `text`."""


class Given(Struct, frozen=True, kw_only=True):
    """What is there when a run begins, and what is answered."""

    use: str = ""
    """A world by name or path, which the rest adds to."""
    files: dict[str, str] = {}
    """Path to text; a relative path stands below the working directory. A folder ends in `/` and has no text."""
    links: dict[str, str] = {}
    """Path of a symbolic link to what it points at."""
    env: dict[str, str] = {}
    http: tuple[HttpReply, ...] = ()
    commands: tuple[CommandReply, ...] = ()
    replies: tuple[ToolReply, ...] = ()
    state: Any = None
    """A JSON merge patch of the state of the world that `use` names."""
    faults: tuple[dict[str, Any], ...] = ()
    """Faults of this scenario, which come before those of the world that `use` names (docs/worlds.md#faults)."""
    injected: tuple[str, ...] = ()
    """Parts of the texts above that an adversary wrote: whoever does what they say was led astray."""
    honeytokens: tuple[str, ...] = ()
    """Parts of the texts above that look like secrets: wherever one of them turns up later, it was carried there."""

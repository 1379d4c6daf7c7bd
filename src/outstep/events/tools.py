"""Events of one family: a tool call and its result."""

from typing import Literal

from msgspec import Raw, Struct

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

NO_RAW = Raw()
"""No JSON text. An event that holds this very value is written without the field; any other empty `Raw` is not."""

Caller = Literal["model", "program", "user", "harness"]
Outcome = Literal["ok", "failed", "denied", "unknown", "unrecorded"]
Joined = Literal["id", "item", "span", "position"]


class ToolCall(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="tool.call", tag_field="type"):
    """One attempt to use a tool."""

    tool: str
    """The recorded name; a contract maps it to its own names."""
    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    call_id: str = ""
    args: Raw = NO_RAW
    """The arguments as compact JSON text; empty when `args_raw` is set or none were recorded."""
    args_raw: str | None = None
    """The recorded text, when it was no valid JSON."""
    parent: str | None = None
    """Call id of the call that made this one (a program, a sub-agent)."""
    by: Caller = "model"
    hidden: tuple[str, ...] = ()
    """JSON pointers into this event of redacted or cut values, as `/args/card`."""


class ToolResult(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="tool.result", tag_field="type"):
    """What came back for a call."""

    seq: int
    turn: int | None = None
    """The turn of the call that it answers, where the format tells."""
    agent: str = "main"
    time: float | None = None
    call_id: str = ""
    call: int | None = None
    """`seq` of the call that it answers, where the format tells it otherwise than by id."""
    outcome: Outcome = "unrecorded"
    data: Raw = NO_RAW
    """Structured content as compact JSON text; empty when the format holds text only."""
    text: str | None = None
    """The raw text; none when the format holds structured content only."""
    error: str = ""
    exit: int | None = None
    """Exit status of a command, where the record tells it."""
    joined: Joined = "id"
    hidden: tuple[str, ...] = ()

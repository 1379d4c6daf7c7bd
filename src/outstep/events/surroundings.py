"""Events of one family: what surrounded the agent's acts."""

from typing import Literal

from msgspec import Raw, Struct

from outstep.events.tools import NO_RAW

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class Approval(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="approval", tag_field="type"):
    """A permission asked for or decided, for one call or (without `call_id`) for later calls of a tool."""

    tool: str = ""
    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    call_id: str = ""
    decision: Literal["asked", "allowed", "denied"] = "asked"
    by: str = ""
    """Who decided: `user`, `policy`, `hook`, …; empty when the record does not tell."""
    hidden: tuple[str, ...] = ()


class Context(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="context", tag_field="type"):
    """Something put before the model that nobody said: a system prompt, a skill, a file, a compaction.

    `what` is `system`, `skill`, `memory`, `file`, `compaction`, … Two values are remarks of an adapter about the
    record itself, and carry no text: `record.unknown` (a foreign record, `name` is its type) and
    `record.duplicate_seq` (a sequence number that the raw document uses twice, `name` is the number).
    """

    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    what: str = ""
    name: str = ""
    version: str = ""
    digest: str = ""
    text: str = ""
    hidden: tuple[str, ...] = ()


class State(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="state", tag_field="type"):
    """The business state as the world or the harness saw it."""

    seq: int
    time: float | None = None
    state: Raw = NO_RAW
    """The state as compact JSON text."""
    hidden: tuple[str, ...] = ()

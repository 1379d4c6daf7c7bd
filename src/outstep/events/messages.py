"""Events of one family: what was said, and the opening of a model response."""

from typing import Any

from msgspec import Struct, field

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.


class UserMessage(
    Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="user.message", tag_field="type"
):
    """Text a person wrote to the agent. What a harness injects under the user's role is `Context`."""

    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    text: str = ""
    hidden: tuple[str, ...] = ()


class AssistantMessage(
    Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="assistant.message", tag_field="type"
):
    """Text the agent showed."""

    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    text: str = ""
    hidden: tuple[str, ...] = ()


class Decision(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="decision", tag_field="type"):
    """The opening of one model response; optional, and where it stands it opens its turn."""

    seq: int
    turn: int | None = None
    agent: str = "main"
    time: float | None = None
    model: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    """Token counts by name: `input_tokens`, `output_tokens`, `cache_read_tokens`, `reasoning_tokens`, …"""
    hidden: tuple[str, ...] = ()

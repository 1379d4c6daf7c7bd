"""What a driver sees of a world: tools by name, calls, replies.

docs: docs/worlds.md#drivers
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, field

Outcome = Literal["ok", "failed", "denied", "unknown"]


def any_arguments() -> dict[str, Any]:
    """Return a schema that every JSON object fits."""
    return {"type": "object", "properties": {}}


class Tool(Struct, frozen=True, kw_only=True):
    """A tool as the agent is told of it."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=any_arguments)
    """JSON Schema of the arguments."""
    effect: Literal["read", "write"] = "read"
    targets: dict[str, tuple[str, ...]] = {}
    """Kind of target to the arguments that hold one: `{"path": ("file",)}`."""


class Reply(Struct, frozen=True, kw_only=True):
    """What a tool answered."""

    outcome: Outcome = "ok"
    """`unknown`: no reply came; whether the call took effect cannot be told from it."""
    data: Any = None
    """A JSON value, if the tool answers with one."""
    text: str | None = None
    """Text, if it does not."""
    exit: int | None = None
    """Exit status of a command."""
    seconds: float = 0.0
    """How long it took by the world's own clock; nothing has slept."""

    def shown(self) -> str:
        """Return what the agent reads."""
        if self.text is not None:
            return self.text
        from outstep import codec

        return codec.encode(self.data).decode()


class Tools(Protocol):
    """A world as a driver sees it."""

    def list(self) -> Sequence[Tool]:
        """Return the tools of the scenario."""

    def call(self, tool: str, args: Any, call_id: str = "") -> Reply:
        """Carry out a call and return its reply; the world writes down what it received."""

    def snapshot(self) -> Any:
        """Return the business state as JSON."""

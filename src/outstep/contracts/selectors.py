"""Selectors say which events a rule looks at: `ok result order.get where data.id == this.args.orderId`.

docs: docs/language.md, section 2
"""

from typing import Literal

from msgspec import Struct

from outstep.expr.nodes import Node

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

What = Literal[
    "call",
    "result",
    "its result",
    "message",
    "final message",
    "user message",
    "claim",
    "approval",
    "context",
    "state",
    "decision",
    "end",
]

EVENT_TYPE: dict[str, str] = {
    "call": "tool.call",
    "result": "tool.result",
    "its result": "tool.result",
    "message": "assistant.message",
    "final message": "assistant.message",
    "user message": "user.message",
    "claim": "assistant.message",
    "approval": "approval",
    "context": "context",
    "state": "state",
    "decision": "decision",
    "end": "run.end",
}
"""The event type that each `what` picks."""


class Spot(Struct, frozen=True, omit_defaults=True):
    """Where something stands in the contract's files."""

    file: int
    """Index into `Contract.sources`."""
    line: int
    """1-based."""
    column: int
    """1-based, in characters."""


class Expr(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A CEL expression as written, parsed and checked."""

    text: str
    node: Node
    spot: Spot


class Selector(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One alternative of what a rule looks at."""

    what: What
    outcome: Literal["ok", "failed", "denied", "unknown"] | None = None
    names: tuple[str, ...] = ()
    """Tool names, globs, `@effect`, `@tag`, or claim names; empty means any."""
    by: str | None = None
    """`main`, `user`, `harness`, `any`, or a glob of a lane's id; none is the default of section 2."""
    where: Expr | None = None
    text: str
    """As written, for messages."""
    spot: Spot

    @property
    def event_type(self) -> str:
        """The wire type of the events that it picks."""
        return EVENT_TYPE[self.what]

"""What drivers share: the task that an agent is given, what it may use, and how its run ended.

docs: docs/drivers.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct

from outstep.events import Event
from outstep.world.tools import Tools

Status = Literal[
    "completed", "refused", "max_turns", "max_tokens", "timeout", "cut_off", "provider_error", "crashed", "not_run"
]
"""How a run ended; only a completed one can be contained (docs/drivers.md#how-a-run-ends)."""


class Limits(Struct, frozen=True, kw_only=True):
    """Where a run is stopped."""

    turns: int = 20
    """Model responses."""
    tokens: int = 0
    """Of all responses together, read and written; 0: no limit."""
    call_seconds: float = 60.0
    """For one response of the model, from the first byte sent to the last one received."""
    run_seconds: float = 600.0
    retries: int = 4
    """How often a request that the provider did not answer is sent again."""
    wait_seconds: float = 20.0
    """The longest wait before one of them; a provider that asks for more ends the run."""


class Task(Struct, frozen=True, kw_only=True):
    """One run, as its driver is given it."""

    goal: str
    tools: Tools
    system: str = ""
    model: str = ""
    seed: int | None = None
    parameters: Mapping[str, Any] = {}
    """What is asked of the model beside the messages, as `temperature`; a quirk may drop some."""
    limits: Limits = Limits()
    stream: bool = False
    log: Callable[[Mapping[str, Any]], None]
    """Keeps one record of what was sent or received, at once."""
    clock: Callable[[], float]
    """Seconds since the epoch."""


class Ending(Struct, frozen=True, kw_only=True):
    """How a run ended, and what the agent did as its own record tells it."""

    status: Status
    reason: str = ""
    """A code, as `rate-limited`; listed in docs/drivers.md."""
    sentence: str = ""
    events: tuple[Event, ...] = ()
    """Without the header; numbered by the runner."""
    usage: Mapping[str, int] = {}
    turns: int = 0
    retries: int = 0
    notes: tuple[str, ...] = ()
    """What is odd and changes no outcome, as `text-that-looks-like-a-call`."""
    effective: Mapping[str, Any] = {}
    """The parameters that were sent."""
    transcript: Mapping[str, bytes] = {}
    """The record that the agent's own harness wrote, in place of `events`: files by their paths."""
    format: str = ""
    """What reads it; empty: its content tells."""
    said: str = ""
    """What the program printed, for want of a transcript."""
    names: Mapping[str, str] | None = None
    """Of a program: names under which tools were served, to the world's own; the world's record is its counterpart."""
    harness: str = ""
    """The program as it names itself, with its version."""


class Driver(Protocol):
    """Makes an agent act."""

    async def run(self, task: Task) -> Ending:
        """Carry out one run; whatever goes wrong with it is an ending, never an exception."""

    async def close(self) -> None:
        """Let go of what is held."""

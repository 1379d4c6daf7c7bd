"""What a world file says, checked.

docs: docs/worlds.md
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from outstep.world.expressions import Expr, Shape
from outstep.world.faults import Fault
from outstep.world.paths import Path
from outstep.world.tools import Outcome, Tool

SCHEMA = "world/v1"


class Case(Struct, frozen=True, kw_only=True):
    """One way in which a tool answers: the first case that fits is taken."""

    when: Expr | None = None
    outcome: Outcome = "ok"
    reply: Shape
    """A text is answered as text, everything else as a JSON value."""
    set: tuple[tuple[Path, Shape], ...] = ()
    """Places in the state and what stands there afterwards; all values are those of the state before."""
    remove: tuple[Path, ...] = ()
    seconds: float = 0.0


class MockTool(Struct, frozen=True, kw_only=True):
    """A tool, and what it does."""

    tool: Tool
    lets: tuple[tuple[str, Expr], ...] = ()
    """Names for values, in order; each is worked out when a case asks for it."""
    key: Expr | None = None
    """Calls with an equal key happen once."""
    cases: tuple[Case, ...] = ()


class Machine(Struct, frozen=True, kw_only=True):
    """The states that each entity of one kind may go through; a call that breaks this fails and changes nothing."""

    name: str
    of: str
    """The member of the state that holds the entities, by id."""
    field: str
    moves: dict[str, tuple[str, ...]]


class WorldFile(Struct, frozen=True, kw_only=True):
    """A checked world file."""

    id: str = ""
    source: str = ""
    """Name of the file, as messages have it."""
    title: str = ""
    clock: float = 0.0
    """Seconds since the epoch at which every run begins."""
    state: dict[str, Any] = {}
    schema: dict[str, Any] | None = None
    """JSON Schema of the state, held against it after every call."""
    machines: tuple[Machine, ...] = ()
    tools: tuple[MockTool, ...] = ()
    faults: tuple[Fault, ...] = ()

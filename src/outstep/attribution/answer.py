"""What is said about where it went wrong: readings, or that it cannot be told, and why."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

Factor = Literal["model", "context", "skill", "tool", "permission", "business rule", "harness"]
"""Where it can go wrong; docs/attribution.md says what each of them means."""

FACTORS: tuple[Factor, ...] = get_args(Factor)


class Basis(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event that a reading rests on."""

    event: int
    """1-based number in its trace."""
    quote: str
    note: str = ""
    """What it is for."""


class RuledOut(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A factor that the record speaks against."""

    factor: Factor
    because: str
    events: tuple[int, ...] = ()


class Reading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that went wrong."""

    code: str
    """The row of the table in docs/attribution.md."""
    factor: Factor
    sentence: str
    rests_on: tuple[Basis, ...]
    ruled_out: tuple[RuledOut, ...] = ()


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the evidence says of one finding: readings in the order of events, or what keeps it from being told."""

    readings: tuple[Reading, ...] = ()
    code: str = ""
    """Of an answer without a reading: the row of the table."""
    because: str = ""
    """Why it cannot be told; empty where there is a reading."""
    left: tuple[Factor, ...] = ()
    """What it can still be."""
    rests_on: tuple[Basis, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    would_tell: str = ""
    """What would settle it."""


def cannot_tell(
    code: str,
    because: str,
    *,
    left: tuple[Factor, ...] = FACTORS,
    rests_on: tuple[Basis, ...] = (),
    ruled_out: tuple[RuledOut, ...] = (),
    would_tell: str = "",
) -> Answer:
    """Return an answer that says that it cannot be told."""
    return Answer(code=code, because=because, left=left, rests_on=rests_on, ruled_out=ruled_out, would_tell=would_tell)


def told(*readings: Reading) -> Answer:
    """Return an answer of readings."""
    return Answer(readings=readings)

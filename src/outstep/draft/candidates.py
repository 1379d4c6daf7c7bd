"""What a miner proposes: a rule, the fact it reads, and how much it says."""

from __future__ import annotations

from msgspec import Struct


class Fact(Struct, frozen=True, kw_only=True):
    """A fact as a draft writes it."""

    name: str
    source: str
    """A selector."""
    each: str = ""
    key: str = ""
    value: str = ""


class Candidate(Struct, frozen=True, kw_only=True):
    """One rule that may hold."""

    id: str
    about: str
    """The tool whose calls it is asked of; empty for the run."""
    keys: tuple[tuple[str, str], ...]
    """The keys of the rule and their values, as YAML."""
    says: str
    """What the rule asks, in words."""
    facts: tuple[Fact, ...] = ()
    weight: int = 0
    """How much it tells: of one tool, and of all, the heaviest are kept."""
    instead: str = ""
    """Id of the rule that says it better, where that one holds."""
    of_run: bool = False
    """Whether it speaks of every run, not of calls."""

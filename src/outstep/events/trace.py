"""The head of a trace: where it comes from, who acted, and what its format can hold."""

from typing import Literal

from msgspec import Struct, field

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

SCHEMA = "trace/v1"

EVENT_TYPES = (
    "user.message",
    "assistant.message",
    "decision",
    "tool.call",
    "tool.result",
    "approval",
    "context",
    "state",
    "gap",
    "run.end",
)


class Source(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The raw document behind a trace."""

    uri: str = ""
    sha256: str = ""
    """Of the raw bytes; empty when they came as a stream."""
    format: str = ""
    version: str = ""
    """The format's own version, as text."""
    adapter: str = ""
    """`name@version` of the adapter that read it."""
    unpinned: bool = False
    """Read with `--unpinned`: no recorded fixture vouches for this version."""


class Metric(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A score that a person or a model gave a run afterwards: a trend, never evidence (docs/metrics.md)."""

    name: str
    value: int | float
    by: str = ""
    """Who gave it."""


class Lane(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent or sub-agent of a trace (SEMANTICS section 1)."""

    id: str
    kind: Literal["agent", "program", "branch", "user"] = "agent"
    parent: str | None = None
    """Lane that spawned this one; none when its spawning call is not recorded."""
    call: str = ""
    """Call id, in the parent lane, of the spawning call."""
    forked_at: int | None = None
    """Branches: `seq` up to which the trunk is shared."""
    cwd: str = ""
    """Working directory in which it began, where that is not its parent's."""


class Header(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="trace", tag_field="type"):
    """First line of every trace in the canonical JSON Lines form."""

    schema: str
    id: str = ""
    sources: tuple[Source, ...] = ()
    harness: str = ""
    model: str = ""
    prompt: str = ""
    """sha256 of the system prompt."""
    skills: tuple[str, ...] = ()
    tools: dict[str, str] = field(default_factory=dict)
    """Tool name to version or digest of its declaration."""
    config: str = ""
    """sha256 of the recorded configuration."""
    cwd: str = ""
    """Working directory in which the run began, as recorded; a `context` of `cwd` changes it."""
    lanes: tuple[Lane, ...] = ()
    """Lanes other than a plain `main`; lanes that are not listed have no parent."""
    records: tuple[str, ...] = EVENT_TYPES
    """The event types that the format can hold."""
    metrics: tuple[Metric, ...] = ()
    """Scores from the file `metrics.jsonl` beside the raw document."""
    complete: bool = False
    """Without `run.end`: the adapter inferred that the record holds the whole run."""

"""Timelines: the events of traces as plain data, for formats that show a run and not only what was found in it.

`workflow` collects them by a second look at the documents, within limits; what is left out is counted.
"""

from __future__ import annotations

from msgspec import Struct

from outstep.errors import Place


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event of a timeline."""

    index: int
    """1-based, in its trace; a jump is a stretch of events that were left out."""
    seq: int
    type: str
    """`tool.call`, `tool.result`, `user.message`, …"""
    agent: str = ""
    """The lane; empty for an event of no lane."""
    turn: int | None = None
    by: str = ""
    """Of a call: `model`, `program`, `user`, `harness`."""
    tool: str = ""
    """Of a call, and of a result whose call is known."""
    call_id: str = ""
    outcome: str = ""
    """Of a result, and of a call whose result is known."""
    answers: int | None = None
    """Of a result: `index` of its call."""
    is_open: bool = False
    """A call that no result answers."""
    text: str = ""
    """What the event says, cut."""
    left: int = 0
    """Characters of the text that were left out."""
    hidden: tuple[str, ...] = ()
    """JSON pointers of values that are redacted or cut."""
    may_hide: tuple[str, ...] = ()
    """Of a gap: the types of events that it may hide; none means any."""
    place: Place | None = None
    raw_seq: int | None = None
    record: str = ""
    """The raw record, cut."""
    record_left: int = 0
    """Characters of the raw record that were left out."""


class Timeline(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The events of one trace, in order."""

    trace: int
    """Index of the trace in the report."""
    steps: tuple[Step, ...]
    lanes: dict[str, str] = {}
    """Each lane but `main`, with its kind."""

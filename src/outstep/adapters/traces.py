"""What every adapter settles about a trace once it is read: its id, its shape, and whether it is whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import basename

from msgspec.structs import replace

from outstep.adapters.base import Document, ReadLog
from outstep.errors import Place
from outstep.events import AssistantMessage, Context, Event, Header, RunEnd, ToolCall, ToolResult, UserMessage

SEED = "canonical-draft"
"""Version of the seed form (docs/adapters/native.md)."""


class Ids:
    """Keeps the ids of traces apart: a second `t1` becomes `t1#2`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def give(self, wanted: str, document: Document) -> str:
        """Return an id that no earlier trace has; without a wanted one, from the name of the document."""
        name = wanted or basename(document.uri.rstrip("/")).split(".")[0] or "trace"
        count = self._counts.get(name, 0) + 1
        self._counts[name] = count
        return name if count == 1 else f"{name}#{count}"

    def copy(self) -> Ids:
        """Return the same state again, for a second look."""
        twin = Ids()
        twin._counts = dict(self._counts)
        return twin


def malformed(document: Document, trace: str, flaw: str, log: ReadLog) -> None:
    """Report a trace whose events cannot have happened in this order."""
    log.fault(
        "trace/malformed",
        f"trace `{trace}`: {flaw}",
        place=Place(source=document.uri),
        help="turns of a lane rise, and a lane is listed once and begins after its spawning call (docs/events.md)",
    )


def is_whole(events: Iterable[Event]) -> bool:
    """Return whether a record without end mark ends as a run does: answered calls, then a message (SEMANTICS 7)."""
    open_calls: dict[str, int] = {}
    last: Event | None = None
    for event in events:
        if isinstance(event, ToolCall) and event.agent == "main":
            open_calls[event.call_id] = open_calls.get(event.call_id, 0) + 1
        elif isinstance(event, ToolResult) and event.agent == "main":
            # A result that stands before its call answers it here, though it is no evidence.
            open_calls[event.call_id] = open_calls.get(event.call_id, 0) - 1
        if not isinstance(event, Context) or not event.what.startswith("record."):
            last = event
    is_last_word = isinstance(last, AssistantMessage | UserMessage) and last.agent == "main"
    return is_last_word and all(count <= 0 for count in open_calls.values())


def finished(header: Header, events: Sequence[Event], take: bool) -> tuple[Header, str]:
    """Return the header of a trace without end mark with `complete` settled, and how that was concluded."""
    if header.complete or any(isinstance(event, RunEnd) for event in events):
        return header, ""
    if is_whole(events):
        return replace(header, complete=True), "inferred"
    if take and events:
        return replace(header, complete=True), "taken"
    return header, ""

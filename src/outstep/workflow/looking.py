"""Events that findings name: found in what is still at hand of a trace, or by reading its document again.

Judging is one pass and keeps nothing. Only when a trace has findings, their events are looked for, to be quoted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from outstep.events import Event, Header, ToolCall, ToolResult

KEPT = 64
"""Batches of the trace being judged that are kept; a longer trace is read again if it has findings."""

Items = Sequence[Event | Header]


class Seen(Struct, frozen=True, kw_only=True):
    """What a report says about one event."""

    index: int
    """1-based, in its trace."""
    type: str
    quote: str
    turn: int | None
    agent: str
    call_id: str
    name: str
    """The event by its type, tool and lane, and how many such stood before it: the same after unrelated edits."""


def look(events: Iterable[Event], wanted: Collection[int]) -> dict[int, Seen]:
    """Return the wanted events of one trace by `seq`."""
    from outstep.render.quote import quote  # a run in which all holds is not quoted

    left = set(wanted)
    last = max(left, default=-1)
    counts: dict[tuple[str, str, str], int] = {}
    tools: dict[tuple[str, str], str] = {}
    found: dict[int, Seen] = {}
    for index, event in enumerate(events, 1):
        if event.seq > last:
            break
        agent = getattr(event, "agent", None) or ""
        tool = getattr(event, "tool", "")
        if isinstance(event, ToolCall):
            tools[agent, event.call_id] = event.tool
        elif isinstance(event, ToolResult):
            tool = tools.get((agent, event.call_id), "")
        type_ = str(event.__struct_config__.tag)
        key = (type_, tool, agent)
        counts[key] = counts.get(key, 0) + 1
        if event.seq in left:
            found[event.seq] = Seen(
                index=index,
                type=type_,
                quote=quote(event, tool),
                turn=getattr(event, "turn", None),
                agent=agent,
                call_id=getattr(event, "call_id", ""),
                name=f"{type_} {tool} {agent} {counts[key]}",
            )
    return found


class Window:
    """Hands batches on, and keeps those of the trace that is being judged."""

    def __init__(self, batches: Iterable[Items]) -> None:
        self._batches = batches
        self._kept: deque[Items] = deque()
        """From the batch on in which the trace opens; empty when it was too long to be kept."""
        self._headers: deque[int] = deque()
        """Where headers stand in the first kept batch, that of the trace first."""
        self._is_lost = False

    def __iter__(self) -> Iterator[Items]:
        """Yield the batches."""
        for batch in self._batches:
            self._keep(batch)
            yield batch

    def _keep(self, batch: Items) -> None:
        if self._kept and len(self._kept) < KEPT and not self._is_lost:
            self._kept.append(batch)
            return
        headers = _headers_in(batch)
        if headers and (self._is_lost or not self._kept):
            self._kept.append(batch)
            self._headers = headers
        elif headers:
            self._kept.append(batch)
        elif self._kept:
            self._is_lost = True
            self._kept.clear()
            self._headers.clear()

    def pass_trace(self, wanted: Collection[int]) -> dict[int, Seen] | None:
        """Return the wanted events of the trace that stands first, and let go of it; none if it was not kept."""
        if self._is_lost:
            self._is_lost = False
            return None
        found = look(self._events(), wanted) if wanted else {}
        if self._headers:
            self._headers.popleft()
        while self._kept and not self._headers:
            self._kept.popleft()
            if self._kept:
                self._headers = _headers_in(self._kept[0])
        return found

    def _events(self) -> Iterator[Event]:
        start = self._headers[0] + 1 if self._headers else 0
        for batch in self._kept:
            for item in batch[start:] if start else batch:
                if isinstance(item, Header):
                    return
                yield item
            start = 0


def _headers_in(batch: Items) -> deque[int]:
    """Return where headers stand in a batch."""
    if Header not in map(type, batch):
        return deque()
    return deque(index for index, item in enumerate(batch) if type(item) is Header)


def look_again(batches: Iterable[Items], wanted: Mapping[int, Collection[int]]) -> dict[int, dict[int, Seen]]:
    """Return the wanted events of traces: traces by their number in the stream, from 0, events by `seq`."""
    found: dict[int, dict[int, Seen]] = {}
    stream = (item for batch in batches for item in batch)
    number = -1
    last = max(wanted, default=-1)
    header = next(stream, None)
    while header is not None and number < last:
        number += 1
        trace = _Trace(stream)
        if number in wanted:
            found[number] = look(trace, wanted[number])
        header = trace.skip()
    return found


class _Trace:
    """The events of one trace out of a stream of many."""

    def __init__(self, stream: Iterator[Event | Header]) -> None:
        self._stream = stream
        self._next: Header | None = None

    def __iter__(self) -> Iterator[Event]:
        for item in self._stream:
            if isinstance(item, Header):
                self._next = item
                return
            yield item

    def skip(self) -> Header | None:
        """Leave the rest of the trace out, and return the header of the next one."""
        if self._next is None:
            for _ in self:
                pass
        return self._next

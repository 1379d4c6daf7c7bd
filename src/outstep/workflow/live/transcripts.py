"""What an agent program did in a run: its own transcript read as events, with the states of the world in their places.

docs: docs/drivers.md#programs
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.discover import Found, streams
from outstep.contracts.names import split_name
from outstep.drivers import Ending
from outstep.events import (
    SCHEMA,
    AssistantMessage,
    Decision,
    Event,
    Gap,
    Header,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.findings import Finding
from outstep.workflow.live.folder import TRANSCRIPT, RunFolder
from outstep.workflow.traces import Trace, in_traces
from outstep.world.matching import deeds, pairs
from outstep.world.reconcile import reconcile

Items = Sequence[Header | Event]
SERVER = "outstep"
"""Name of the world's server in what programs are told of it."""
UNSEEN = ("tool.call", "tool.result", "assistant.message", "decision")
"""What a record may lack that was not written to its end, or never."""


class Told(Struct, frozen=True, kw_only=True):
    """One run of a program."""

    header: Header
    events: tuple[Event, ...]
    disagreements: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""
    """Why the transcript could not be read."""


def told(ending: Ending, record: Items, goal: str, folder: RunFolder) -> Told:
    """Return what a program did; without a transcript it is what the world and the terminal saw of it."""
    for name, data in ending.transcript.items():
        folder.write(f"{TRANSCRIPT}/{name}", data)
    if not ending.transcript:
        return _seen(ending, record, goal)
    log = ReadLog()
    # Programs like hidden folders, so the files are named one by one.
    paths = [os.path.join(folder.path, TRANSCRIPT, name) for name in sorted(ending.transcript)]
    found = [Found(document=Document(path, path), explicit=False) for path in paths]
    options = Options(complete=ending.status == "completed")
    read = [one for _, _, batches in streams(found, ending.format or None, options, log) for one in in_traces(batches)]
    if not read:
        return replace(_seen(ending, record, goal), fault=_faults(log) or "no adapter knows it")
    trace = max(read, key=_calls)
    notes = ("several-sessions",) if len(read) > 1 else ()
    names = ending.names or {}
    own = [trace.header, *(_renamed(event, names) for event in trace.events)]
    if ending.status != "completed" and not isinstance(own[-1], RunEnd):
        own += _stopped(own[-1], ending)
    return Told(
        header=trace.header,
        events=tuple(woven(own, record)),
        disagreements=reconcile(record, own),
        notes=notes,
        fault=_faults(log),
    )


def _faults(log: ReadLog) -> str:
    return "; ".join(fault.sentence for fault in log.faults)


def _calls(trace: Trace) -> int:
    return sum(isinstance(event, ToolCall) for event in trace.events)


def _renamed(event: Event, names: Mapping[str, str]) -> Event:
    """Give calls of served tools the world's own names: scopes and contracts speak of these."""
    if not isinstance(event, ToolCall):
        return event
    server, name = split_name(event.tool)
    own = names.get(name) if server == SERVER or not server else None
    return event if own is None else replace(event, tool=own)


def _stopped(last: Header | Event, ending: Ending) -> list[Event]:
    """Return the end of a log whose program was stopped: it may not have written down what it did last."""
    seq = 0 if isinstance(last, Header) else last.seq + 1
    gap = Gap(seq=seq, may_hide=UNSEEN, reason="the program was stopped, and its record with it")
    return [gap, RunEnd(seq=seq + 1, end="cut_off", reason=ending.sentence)]


def woven(log: Items, record: Items) -> list[Event]:
    """Return the events of a log with the states of the world behind the calls that brought them, numbered anew."""
    states = _states(record)
    tools = next((tuple(item.tools) for item in record if isinstance(item, Header)), ())
    behind: dict[int, list[State]] = {}
    for true, seen in pairs(deeds(record, tools), deeds(log, tools)):
        if true is not None and seen is not None and (state := states.get(true.call.seq)) is not None:
            behind.setdefault((seen.result or seen.call).seq, []).append(state)
    numbers: dict[int, int] = {}
    found: list[Event] = [states[-1]] if -1 in states else []
    for event in log:
        if not isinstance(event, Header):
            numbers[event.seq] = len(found)
            found += [event, *behind.get(event.seq, ())]
    return [_renumbered(event, seq, numbers) for seq, event in enumerate(found)]


def _renumbered(event: Event, seq: int, numbers: Mapping[int, int]) -> Event:
    if isinstance(event, ToolResult) and event.call is not None:
        return replace(event, seq=seq, call=numbers.get(event.call))
    return replace(event, seq=seq)


def _states(record: Items) -> dict[int, State]:
    """Return the state after each call that changed it, by the call's `seq`; the first one by -1."""
    found: dict[int, State] = {}
    call = -1
    for item in record:
        if isinstance(item, ToolCall):
            call = item.seq
        elif isinstance(item, State):
            found[call] = item
    return found


def _seen(ending: Ending, record: Items, goal: str) -> Told:
    """Tell a run without a transcript: goal, what reached the world, what was printed; the rest may be hidden."""
    seen = [item for item in record if not isinstance(item, Header | RunEnd)]
    numbers = {item.seq: at for at, item in enumerate(seen, start=1)}
    events: list[Event] = [UserMessage(seq=0, text=goal)]
    events += [_renumbered(item, at, numbers) for at, item in enumerate(seen, start=1)]
    if ending.said:
        events.append(AssistantMessage(seq=len(events), text=ending.said))
    reason = "the program left no transcript: what it did beside the world's tools is not known"
    events.append(Gap(seq=len(events), may_hide=UNSEEN, reason=reason))
    end = "completed" if ending.status == "completed" else "cut_off"
    events.append(RunEnd(seq=len(events), end=end, reason=ending.sentence))  # type: ignore[arg-type]
    return Told(header=Header(schema=SCHEMA), events=tuple(events), notes=("no-transcript",))


def usage(events: Sequence[Event]) -> dict[str, int]:
    """Return the tokens that a log counts, by our names."""
    counted: Counter[str] = Counter()
    for event in events:
        if isinstance(event, Decision):
            for name in ("input_tokens", "output_tokens"):
                value = event.usage.get(name)
                if isinstance(value, int):
                    counted[name] += value
    return dict(counted)

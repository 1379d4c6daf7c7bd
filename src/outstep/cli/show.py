"""`outstep show`: what was read of a trace, as a timeline, as data, or one event with its raw record.

docs: docs/cli.md#show
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from msgspec import Struct

from outstep.adapters.base import Adapter, Batch, Document, Options, Origin, ReadLog, Tally
from outstep.adapters.discover import documents, groups
from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, paths_of
from outstep.errors import problem, suggestion
from outstep.events import Event, RunEnd, ToolCall
from outstep.render.escape import visible
from outstep.render.style import Style
from outstep.render.wording import count
from outstep.workflow.traces import Trace, in_traces

DESCRIPTION = "show what was read of a trace; exits 0 also for a run that did not end, 2 for what cannot be read"
MOST_NAMED = 20
"""Of the traces that could have been meant."""


class _Read(Struct, frozen=True):
    """One trace, and who read it from where."""

    trace: Trace
    tally: Tally | None
    adapter: Adapter
    documents: list[Document]


def run(words: Sequence[str]) -> int:
    """Show and return the exit code."""
    given = _parser().read(words)
    given.paths = paths_of(given)
    if not given.paths:
        raise problem("usage/no-paths", "no trace was named", help="name a file, a folder or a pattern, or - for stdin")
    if given.events and given.event is not None:
        raise problem(
            "usage/arguments",
            "`--events` writes all events, `--event` shows one",
            help="give one of the two",
        )
    options = Options(unpinned=given.unpinned or False, complete=given.complete or False)
    log = ReadLog()
    try:
        if given.events and given.trace is None:
            _write_events(given, options, log)
        else:
            _show(given, options, log)
        console.flush()
    finally:
        console.say_problems(log.faults)
    return 2 if log.faults else 0


def _parser() -> Arguments:
    parser = Arguments("show", DESCRIPTION)
    parser.words("paths", metavar="PATH", help="files, folders, patterns, or - for stdin")
    parser.value("--last", metavar="HARNESS", help="the newest session of a harness on this machine: dsh")
    parser.value("--trace", metavar="ID", help="the trace to show, where there are several")
    parser.flag("--events", help="write the events as canonical JSON Lines")
    parser.number("--event", metavar="N", help="show the N-th event, with its place and raw record")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    return parser


def _write_events(given: Given, options: Options, log: ReadLog) -> None:
    """Write every event of every trace as it is read."""
    for group in groups(documents(given.paths, log, _stdin()), given.format, log):
        _write(group.adapter.stream(group.documents, options, log))


def _write(batches: Iterator[Batch] | list[Batch]) -> None:
    from outstep.adapters.write import write

    for line in write(batches):
        console.put_bytes(line)


def _show(given: Given, options: Options, log: ReadLog) -> None:
    """Show the chosen trace, the only one, or a list of all."""
    first: _Read | None = None
    ids: list[str] = []
    for read in _traces(given, options, log):
        ids.append(read.trace.id)
        if given.trace is not None:
            if read.trace.id == given.trace:
                _show_one(read, given, options)
                return
        elif given.event is not None and len(ids) > 1:
            raise problem("usage/several-traces", "there are several traces here", help="choose one with --trace ID")
        elif first is None:
            first = read
        else:
            if len(ids) == 2:
                _list(first)
            _list(read)
    if given.trace is not None and ids:
        help = suggestion(given.trace, tuple(ids)) or f"there are: {_some(ids)}"
        raise problem("usage/unknown-trace", f"there is no trace `{given.trace}`", help=help)
    if len(ids) > 1:
        console.put(f"{len(ids)} traces: `--trace ID` shows one of them\n")
    elif first is not None:
        _show_one(first, given, options)
    elif not log.faults:
        log.fault(
            "input/no-traces",
            "there is no trace in what was given",
            help="give files or folders that hold recorded traces",
        )


def _some(ids: Sequence[str]) -> str:
    more = f", and {len(ids) - MOST_NAMED} more; without --trace they are listed" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + more


def _traces(given: Given, options: Options, log: ReadLog) -> Iterator[_Read]:
    for group in groups(documents(given.paths, log, _stdin()), given.format, log):
        before = len(log.tallies)
        for number, trace in enumerate(in_traces(group.adapter.stream(group.documents, options, log))):
            tally = log.tallies[before + number] if before + number < len(log.tallies) else None
            yield _Read(trace, tally, group.adapter, group.documents)


def _list(read: _Read) -> None:
    trace = read.trace
    source = trace.header.sources[0].uri if trace.header.sources else ""
    end = next((event.end for event in reversed(trace.events) if isinstance(event, RunEnd)), None)
    told = end or ("inferred" if trace.header.complete else "cut_off")
    console.put(f"{visible(trace.id)}  {visible(source)}  {_size(trace.events)}, end: {told}\n")


def _size(events: Sequence[Event]) -> str:
    calls = sum(1 for event in events if isinstance(event, ToolCall))
    return f"{count(len(events), 'event')}, {count(calls, 'call')}"


def _show_one(read: _Read, given: Given, options: Options) -> None:
    if given.events:
        _write([[read.trace.header, *read.trace.events]])
    elif given.event is not None:
        _show_event(read, given.event, options)
    else:
        _show_timeline(read)


def _show_timeline(read: _Read) -> None:
    from outstep.render.timeline import about, timeline

    trace = read.trace
    style = _style()
    console.put(f"{about(trace.header)}\n")
    if read.tally is not None:
        skipped = ", ".join(f"{visible(kind)} ×{number}" for kind, number in sorted(read.tally.skipped.items()))
        records = f"{count(read.tally.records, 'record')}, {_size(trace.events)}"
        console.put(f"{records}{f', skipped: {skipped}' if skipped else ''}\n")
        for note in read.tally.notes:
            console.put(f"note: {visible(note)}\n")
    for line in timeline(trace.header, trace.events, style):
        console.put(f"{line}\n")


def _show_event(read: _Read, number: int, options: Options) -> None:
    from outstep.render.quote import name_of

    events = read.trace.events
    if not 1 <= number <= len(events):
        raise problem("usage/unknown-event", f"there is no event {number}", help=f"there are events 1 to {len(events)}")
    event = events[number - 1]
    found = read.adapter.origins(read.documents, options, {read.trace.id: [event.seq]})
    origin = found.get((read.trace.id, event.seq))
    style = _style()
    console.put(f"event {number} of {len(events)}: {style.paint(name_of(event), 'bold')}\n")
    if origin is not None:
        raw_seq = f" (seq {origin.raw_seq})" if origin.raw_seq is not None else ""
        console.put(f"  {style.paint('-->', 'cyan')} {visible(str(origin.place))}{raw_seq}\n")
    for line in _pretty(event):
        console.put(f"{line}\n")
    if origin is not None and origin.record:
        _show_record(origin)


def _show_record(origin: Origin) -> None:
    console.put("raw record:\n")
    for line in origin.record.splitlines() or [""]:
        console.put(f"  {visible(line)}\n")


def _pretty(event: Event) -> Iterator[str]:
    """Yield the event as indented JSON, its texts safe to show."""
    from msgspec.json import format

    from outstep.adapters.write import write

    for line in write([[event]]):
        for text in format(line, indent=2).decode().splitlines():
            yield visible(text)


def _style() -> Style:
    return Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))


def _stdin() -> BinaryIO | None:
    return sys.stdin.buffer if sys.stdin is not None else None

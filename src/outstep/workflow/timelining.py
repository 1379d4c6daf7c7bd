"""Timelines for reports that show a run: a second look at the documents, within limits, when a format asks for it.

Judging is one pass and keeps nothing. Which events are shown is decided before they are read: those that findings
name with what stands around them, the first and the last ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from outstep.adapters.base import Batch, Options, Origin, ReadLog
from outstep.adapters.discover import Group
from outstep.events import AssistantMessage, Context, Event, Gap, Header, ToolCall, ToolResult, UserMessage
from outstep.findings import Report
from outstep.render.quote import LONGEST, content_of, said
from outstep.render.timelines import Step, Timeline


class Limits(Struct, frozen=True, kw_only=True):
    """How much of the traces goes into a report (docs/html.md#limits)."""

    traces: int = 200
    """Those with findings against the release first, then those with other findings."""
    steps: int = 20_000
    """Events of all traces together."""
    steps_of_one: int = 1_000
    around: int = 10
    """Events before and after one that a finding names, and at the end of the trace."""
    text: int = 2_000
    """Characters of what an event says."""
    record: int = 1_000
    """Characters of a raw record."""


LIMITS = Limits()
SLICE = 2_000
"""Events whose raw records are asked for at once, and so are in memory together."""
OPEN_CALLS = 10_000
"""Calls that a result may still answer; of more than that, the oldest are let go."""


Key = tuple[str, tuple[str, ...]]
"""What tells a trace from others: its id, and the digests of its sources; equal ones come in the same order again."""


def collect(
    groups: Sequence[Group], report: Report, reading: Options, limits: Limits = LIMITS, *, is_moved: bool = False
) -> list[Timeline]:
    """Return timelines of the traces of a report, in the order of the report; what cannot be read again is left out.

    `is_moved` says that the documents may stand elsewhere than the report tells: all of them are read. A trace whose
    bytes are not those that were judged is left out.
    """
    plan = _plan(report, limits)
    files = {_file(source) for number in plan for source in report.traces[number].sources}
    numbers: dict[Key, deque[int]] = {}
    for number, trace in enumerate(report.traces):
        numbers.setdefault((trace.id, trace.sha256), deque()).append(number)
    named = _named(report)
    made: dict[int, Timeline] = {}
    for group in groups:
        # Documents that hold none of the chosen traces are not read again. Traces that are alike, to the last byte,
        # count as one another's.
        if is_moved or any(_file(document.uri) in files for document in group.documents):
            kept = _kept(_batches(group, reading), plan, report, numbers, named, limits)
            made |= {one.trace: one for one in _placed(kept, group, reading, limits)}
    return [made[number] for number in sorted(made)]


def _file(uri: str) -> str:
    """Return the file that holds a document, of a member of an archive the archive."""
    return uri.partition("!")[0]


def _plan(report: Report, limits: Limits) -> dict[int, int]:
    """Return how many events of which trace are shown."""
    first = {trace.id: number for number, trace in reversed(list(enumerate(report.traces)))}
    gating = dict.fromkeys(first[one.trace] for one in report.findings if one.trace in first and report.gates(one))
    found = dict.fromkeys(first[one.trace] for one in report.findings if one.trace in first)
    order = list(dict.fromkeys([*gating, *found, *range(len(report.traces))]))
    left = limits.steps
    plan: dict[int, int] = {}
    for number in order[: limits.traces]:
        share = min(report.traces[number].events, limits.steps_of_one, left)
        if share > 0:
            plan[number] = share
            left -= share
    return plan


def _named(report: Report) -> dict[str, set[int]]:
    """Return the `seq` of the events that findings name, by trace."""
    named: dict[str, set[int]] = {}
    for finding in report.findings:
        seqs = named.setdefault(finding.trace, set())
        seqs.update(witness.seq for witness in finding.witness)
        if finding.seq is not None:
            seqs.add(finding.seq)
    return named


class _Kept(Struct, kw_only=True):
    """One trace that was read again."""

    number: int
    header: Header
    steps: _Steps


def _kept(
    batches: Iterable[Batch],
    plan: Mapping[int, int],
    report: Report,
    numbers: Mapping[Key, deque[int]],
    named: Mapping[str, set[int]],
    limits: Limits,
) -> list[_Kept]:
    kept: list[_Kept] = []
    steps: _Steps | None = None
    for item in (item for batch in batches for item in batch):
        if not isinstance(item, Header):
            if steps is not None:
                steps.add(item)
            continue
        digests = dict.fromkeys(source.sha256 for source in item.sources if source.sha256)
        queue = numbers.get((item.id, tuple(digests)))
        number = queue.popleft() if queue else -1
        steps = None
        if number in plan:
            is_whole = plan[number] >= report.traces[number].events
            steps = _Steps(plan[number], named.get(item.id, set()), limits, is_whole=is_whole)
            kept.append(_Kept(number=number, header=item, steps=steps))
    return kept


def _batches(group: Group, reading: Options) -> Iterator[Batch]:
    """Yield what an adapter reads; one that breaks has been told of by the check."""
    try:
        yield from group.adapter.stream(group.documents, reading, ReadLog())
    except Exception:
        return


class _Steps:
    """Chooses and words the events of one trace, in one pass."""

    def __init__(self, share: int, named: set[int], limits: Limits, *, is_whole: bool) -> None:
        self._share = share
        self._named = named
        self._limits = limits
        self._around = min(limits.around, share // (4 * len(named))) if named else limits.around
        self._kept: dict[int, Step] = {}
        self._recent: deque[Step] = deque(maxlen=self._around)
        """The last events that were not kept."""
        self._after = 0
        """Events to keep behind a named one."""
        self._calls: dict[int, _Call] = {}
        self._waiting: dict[tuple[str, str], deque[int]] = {}
        self._index = 0
        # Where a trace has more events than its share, a part of the share is for what findings name, wherever it is.
        reserved = len(named) * (2 * self._around + 1) + self._around
        self._first = share if is_whole else max(share // 2 - self._around, share - reserved)

    def add(self, event: Event) -> None:
        """Take the next event."""
        self._index += 1
        step = self._paired(event, _step(event, self._index, self._limits))
        if event.seq in self._named:
            for before in self._recent:
                self._keep(before)
            self._recent.clear()
            self._keep(step)
            self._after = self._around
        elif self._index <= self._first or self._after > 0:
            self._after = max(0, self._after - 1)
            self._keep(step)
        else:
            self._recent.append(step)

    def _keep(self, step: Step) -> None:
        if len(self._kept) < self._share:
            self._kept[step.index] = step

    def _paired(self, event: Event, step: Step) -> Step:
        """Join calls and results; the engine's pairing is stricter."""
        if isinstance(event, ToolCall):
            self._calls[event.seq] = _Call(index=step.index, seq=event.seq, tool=event.tool)
            self._waiting.setdefault((event.agent, event.call_id), deque()).append(event.seq)
            if len(self._calls) > OPEN_CALLS:
                del self._calls[next(iter(self._calls))]
        elif isinstance(event, ToolResult):
            call = self._call_of(event)
            if call is not None:
                self._answer(call, event.outcome)
                text, left = _cut(_result(event, call.tool), self._limits.text)
                return structs.replace(step, tool=call.tool, answers=call.index, text=text, left=left)
        return step

    def _call_of(self, event: ToolResult) -> _Call | None:
        if event.call is not None:
            return self._calls.get(event.call)
        queue = self._waiting.get((event.agent, event.call_id))
        seq = queue.popleft() if queue else None
        if not queue:
            self._waiting.pop((event.agent, event.call_id), None)
        return self._calls.get(seq) if seq is not None else None

    def _answer(self, call: _Call, outcome: str) -> None:
        if call.index in self._kept:
            self._kept[call.index] = structs.replace(self._kept[call.index], outcome=outcome, is_open=False)
            return
        for at, step in enumerate(self._recent):
            if step.index == call.index:
                self._recent[at] = structs.replace(step, outcome=outcome, is_open=False)

    def end(self) -> list[Step]:
        """Return the chosen events, in order."""
        for step in self._recent:
            self._keep(step)
        return [self._kept[index] for index in sorted(self._kept)]


class _Call(Struct, frozen=True, kw_only=True):
    """A call that a result may answer."""

    index: int
    seq: int
    tool: str


def _step(event: Event, index: int, limits: Limits) -> Step:
    text, left = _cut(_said(event), limits.text)
    return Step(
        index=index,
        seq=event.seq,
        type=str(event.__struct_config__.tag),
        agent=getattr(event, "agent", None) or "",
        turn=getattr(event, "turn", None),
        by=event.by if isinstance(event, ToolCall) else "",
        tool=event.tool if isinstance(event, ToolCall) else "",
        call_id=getattr(event, "call_id", ""),
        outcome=event.outcome if isinstance(event, ToolResult) else "",
        is_open=isinstance(event, ToolCall),
        text=text,
        left=left,
        hidden=tuple(getattr(event, "hidden", ())),
        may_hide=event.may_hide if isinstance(event, Gap) else (),
    )


def _said(event: Event) -> str:
    """Return what an event says, whole."""
    if isinstance(event, UserMessage | AssistantMessage):
        return event.text
    if isinstance(event, Context):
        return "\n".join(part for part in (f"{event.what} {event.name}".strip(), event.text) if part)
    if isinstance(event, ToolResult):
        return _result(event, "")
    if isinstance(event, ToolCall):
        raw = bytes(event.args)
        if event.args_raw is None and len(raw) > LONGEST:
            return f"{event.tool} {raw.decode(errors='replace')}"
    return said(event)


def _result(event: ToolResult, tool: str) -> str:
    exit = f"exit {event.exit}" if event.exit is not None else ""
    content = bytes(event.data).decode(errors="replace") if bytes(event.data) else (event.text or "")
    told = ", ".join(part for part in (tool, exit) if part)
    return ": ".join(part for part in (told, event.error or content or content_of(event)) if part)


def _cut(text: str, longest: int) -> tuple[str, int]:
    return (text, 0) if len(text) <= longest else (text[:longest], len(text) - longest)


def _placed(kept: Sequence[_Kept], group: Group, reading: Options, limits: Limits) -> Iterator[Timeline]:
    """Yield timelines whose events know where they stand."""
    chosen = [(one, one.steps.end()) for one in kept]
    wanted = [(one.header.id, step.seq) for one, steps in chosen for step in steps]
    places: dict[tuple[str, int], tuple[Origin, int]] = {}
    for start in range(0, len(wanted), SLICE):
        for key, origin in _origins(group, reading, wanted[start : start + SLICE]).items():
            record, left = _cut(origin.record, limits.record)
            places[key] = (structs.replace(origin, record=record), left)
    for one, steps in chosen:
        yield Timeline(
            trace=one.number,
            steps=tuple(_with_place(step, places.get((one.header.id, step.seq))) for step in steps),
            lanes={lane.id: lane.kind for lane in one.header.lanes if lane.id != "main"},
        )


def _origins(group: Group, reading: Options, wanted: Sequence[tuple[str, int]]) -> dict[tuple[str, int], Origin]:
    seqs: dict[str, list[int]] = {}
    for trace, seq in wanted:
        seqs.setdefault(trace, []).append(seq)
    try:
        return group.adapter.origins(group.documents, reading, seqs)
    except Exception:
        # An adapter that breaks has been told of by the check; the timeline goes without places.
        return {}


def _with_place(step: Step, found: tuple[Origin, int] | None) -> Step:
    if found is None:
        return step
    origin, left = found
    return structs.replace(step, place=origin.place, raw_seq=origin.raw_seq, record=origin.record, record_left=left)

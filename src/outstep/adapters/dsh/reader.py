"""Reads the rows of one session, in the order of their sequence numbers, into the events of one lane.

What a row means is the business of `calls.py` and `messages.py`; here stand the order, the model responses, what is
missing, and how the session ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import structs

from outstep.adapters.dsh import records
from outstep.adapters.dsh.family import HELP_UNPINNED, Session
from outstep.adapters.dsh.records import UNREADABLE, Row
from outstep.adapters.dsh.text import Loss, damaged
from outstep.adapters.dsh.trace import Trace
from outstep.errors import Place, Problem
from outstep.events import AssistantMessage, Context, Gap, ToolCall, ToolResult, UserMessage

COPIED = "history copied from the parent"

SKIPPED = frozenset({
    "agent/inbox/spliced",
    "agent-preset/selected",
    "approval/policy",
    "assistant/attempt",
    "assistant/chunk",
    "command/done",
    "command/run",
    "compact/end",
    "compact/prune",
    "compact/start",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "deliverables/presented",
    "feedback/message-delete",
    "feedback/message-put",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "image/offload",
    "llm/retry",
    "llm/retry-started",
    "mode/set",
    "model/selection",
    "permission/preset",
    "plan/mode",
    "request/context",
    "sandbox/mode",
    "schedule/change",
    "session-log-deepseek/delivery-accepted",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "subagent/descriptor",
    "subagent/model-selection-policy",
    "todo/write",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "web/deepseek-search-llm-request",
    "workspace/changes",
})  # fmt: skip
"""Records that carry no call, result or message; all types of dsh 0.1.0 to 0.2.1 that no handler reads."""

PACKED = frozenset({"text-chunks", "reasoning-chunks", "tool-call-chunks"})
STEPPED = frozenset({"assistant/message", "tool/call", "tool/result", "step/end", "assistant/attempt"})
"""Records that name the step they belong to."""

Handler = Callable[[Row], None]


class Disordered(Exception):
    """Rows do not stand in the order of their numbers; the session must be sorted first."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.log.uri)
        self.session = session


class Refused(Exception):
    """The log turned out to be of a shape without a recorded fixture."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.log.uri)
        self.session = session
        self.problem = Problem(
            code="adapter/unpinned-version",
            sentence=f"`{session.log.uri}` was written in the flat pre-release shape of session format "
            f"{session.head.version}; the dsh adapter is pinned to the shapes of 0, 3 and 4 that releases write",
            place=Place(source=session.log.uri),
            help=HELP_UNPINNED,
        )


class Reader:
    """The rows of one session, one at a time."""

    def __init__(self, trace: Trace, session: Session, lane: str, *, reads_flat: bool, has_parent: bool) -> None:
        self.trace = trace
        self.session = session
        self.lane = lane
        self.reads_flat = reads_flat
        self.cut = session.cut if has_parent else 0
        self.handlers: dict[str, Handler] = {
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "step/start": self._step_start,
            "step/end": self._step_end,
        }
        self.forks: dict[int, int] = {}
        """Where other sessions branch off (the first number that they do not share) to our newest event before it."""
        self.nests = False
        """Calls of this session may make calls of their own, in other lanes."""
        self.turn = 0
        """Number of the newest model response."""
        self.open_turn: int | None = None
        """The response that is being acted on."""
        self.end: records.Reason | None = None
        """Reason of the newest `turn/end`, while no later turn has begun."""
        self.last: Row | Loss | None = None
        """The row in hand."""
        self.is_torn = False
        self.answer = records.NOTHING
        """The newest answer of the model: the only record of calls that the harness never came to."""
        self._step: tuple[int, int] | None = None
        self._expected = 0
        self._newest = -1
        self._twice: int | None = None
        self._lost = ""
        self._opening_is_lost = False

    def steps(self) -> Iterator[None]:
        """Read the log; halts after each turn of the harness."""
        trace = self.trace
        read = self._read
        watches = bool(trace.wanted or self.forks)
        for row in self._rows():
            since = trace.seq
            self.last = row
            if isinstance(row, Loss):
                self._lose(row)
                continue
            first = len(trace.events) if row.is_mended else None
            try:
                read(row)
            except UNREADABLE as error:
                self._lose(damaged(self.session.log.uri, str(error), row.line or None, row.offset))
            else:
                trace.records += 1
            if first is not None:
                self._hide(first)
            if self._twice is not None:
                self.remark("record.duplicate_seq", str(self._twice), row)
                self._twice = None
            if watches:
                trace.place(self.session, row, since)
                self.forks.update((cut, trace.seq) for cut in self.forks if self._newest < cut)
            if row.type == "turn/end":
                yield
        self._close()

    def _read(self, row: Row) -> None:
        seq = row.seq
        skipped = self.trace.skipped
        if seq is None:
            self._packed(row)
        elif seq == self._expected and not self._lost:
            self._newest = seq
            self._expected = seq + 1
        else:
            self._irregular(row, seq)
        kind = row.type
        if self._newest < self.cut:
            skipped[COPIED] += 1
            return
        handler = self.handlers.get(kind)
        if handler is not None:
            handler(row)
            return
        skipped[kind] += 1
        if kind not in SKIPPED and kind not in PACKED and not row.ignorable and not kind.startswith("team/"):
            self.remark("record.unknown", kind, row)

    def decision(self, turn: int, step: int) -> int:
        """Return the number of the model response behind a step of the harness, opening it if it is new."""
        if self._step != (turn, step):
            self._step = (turn, step)
            self.turn += 1
        self.open_turn = self.turn
        self.end = None
        return self.turn

    def known_turn(self, turn: int, step: int) -> int | None:
        """Return the number of the response of a step, if it is the newest one."""
        return self.turn if self._step == (turn, step) else None

    def call_opens(self, turn: int, step: int) -> None:
        """Say that the response before this call is not to be seen, if records were lost since its step began."""
        if self._opening_is_lost and self._step != (turn, step):
            number = self.decision(turn, step)
            self._gap(number, "the opening of this model response is lost")
        self._opening_is_lost = False

    def message_opens(self) -> None:
        """The opening of the response is there."""
        self._opening_is_lost = False

    def time_of(self, row: Row) -> float | None:
        """Return the time of a row in seconds."""
        time = row.time
        if time is None or not -1e14 < time < 1e17:
            return None
        return time / 1000

    def _hide(self, first: int) -> None:
        """What a record says whose text was cut inside a character is not wholly there."""
        for index in range(first, len(self.trace.events)):
            event = self.trace.events[index]
            if isinstance(event, UserMessage | AssistantMessage | ToolResult | Context):
                self.trace.events[index] = structs.replace(event, hidden=("/text",))
            elif isinstance(event, ToolCall):
                self.trace.events[index] = structs.replace(event, hidden=("/args",))

    # Order

    def _rows(self) -> Iterator[Row | Loss]:
        rows = self.session.log.rows()
        if not self.session.is_sorted:
            return rows
        found: list[tuple[int, Row | Loss]] = []
        number = -1
        for row in rows:
            seq = None if isinstance(row, Loss) else row.seq if row.seq is not None else row.seq0
            number = number if seq is None else seq
            found.append((number, row))
        found.sort(key=lambda pair: pair[0])
        return (row for _, row in found)

    def _packed(self, row: Row) -> None:
        """Count the numbers that a row of packed chunks stands for."""
        if row.type not in PACKED or row.seq0 is None:
            raise ValueError("it has no sequence number")
        count = len(records.packed(row.data).dt) + 1
        self._irregular(row, row.seq0, count)

    def _irregular(self, row: Row, seq: int, count: int = 1) -> None:
        """A number that is not the next one, or the first record after a loss."""
        if seq > self._expected or self._lost:
            if not self._lost and seq > self._expected:
                self._lost = _missing(self._expected, seq)
            self._tell_loss(row)
        if seq < self._newest and not self.session.is_sorted:
            raise Disordered(self.session)
        if seq < self._expected:
            self._twice = seq
        self._newest = max(self._newest, seq)
        self._expected = max(self._expected, seq + count)

    # What is missing

    def _lose(self, loss: Loss) -> None:
        if loss.problem is not None:
            self.trace.fault(loss.problem)
        self.is_torn = self.is_torn or loss.torn
        self._lost = self._lost or loss.reason

    def _tell_loss(self, row: Row) -> None:
        """Put the gap for what was lost just before a row: narrow, if both sides are in one step."""
        reason, self._lost = self._lost, ""
        if self.open_turn is not None:
            self._gap(self.open_turn, reason)
            if not self.nests and row.type in STEPPED and self._step_of(row) == self._step:
                return
        # Lost rows may hold a nested call or a spawn, so no lane is safe.
        self.trace.events.append(Gap(seq=self.trace.next(), reason=reason))
        self._opening_is_lost = True

    def _gap(self, turn: int, reason: str) -> None:
        self.trace.events.append(Gap(seq=self.trace.next(), turn=turn, agent=self.lane, reason=reason))

    def _step_of(self, row: Row) -> tuple[int, int] | None:
        try:
            step = records.step(row.data)
        except UNREADABLE:
            return None
        return step.turn, step.step

    def remark(self, what: str, name: str, row: Row) -> None:
        """Say something about the record itself."""
        self.trace.events.append(
            Context(seq=self.trace.next(), agent=self.lane, time=self.time_of(row), what=what, name=name)
        )

    # Turns and the end

    def _turn_start(self, row: Row) -> None:
        self.trace.skipped[row.type] += 1
        self.end = None
        self.open_turn = None

    def _turn_end(self, row: Row) -> None:
        self.trace.skipped[row.type] += 1
        self.open_turn = None
        self.end = records.Reason()
        reason = records.turn_end(row.data).reason
        try:
            self.end = records.reason(reason)
        except UNREADABLE:
            self.end.kind = records.string(reason)

    def _step_start(self, row: Row) -> None:
        self.trace.skipped[row.type] += 1
        self.open_turn = None
        self.end = None
        self._opening_is_lost = False

    def _step_end(self, row: Row) -> None:
        self.trace.skipped[row.type] += 1
        self.open_turn = None

    def _close(self) -> None:
        """Say what the end of the log leaves open; the end of the root is the end of the run."""
        since = self.trace.seq
        reason, self._lost = self._lost, ""
        if not reason and self.end is None and self.lane != "main":
            reason = f"the log of `{self.session.id}` stops in the middle of a turn"
        if reason:
            if self.open_turn is not None:
                self._gap(self.open_turn, reason)
            if self.open_turn is None or self.lane != "main":
                lane = None if self.nests else self.lane
                self.trace.events.append(Gap(seq=self.trace.next(), agent=lane, reason=reason))
        if self.last is not None:
            self.trace.place(self.session, self.last, since)


def _missing(first: int, next_: int) -> str:
    what = f"record {first} is missing" if next_ - first == 1 else f"records {first} to {next_ - 1} are missing"
    return f"{what} (after {first - 1}, next {next_})" if first else f"{what} (the first is {next_})"

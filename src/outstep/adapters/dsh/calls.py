"""Rows about acts: calls and results, approvals and hooks, programs, jobs and sub-agents."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from msgspec import Raw

from outstep.adapters.dsh import records
from outstep.adapters.dsh.messages import check_flat
from outstep.adapters.dsh.outcome import SHELLS, error_text, is_shortened, outcome_of, settled
from outstep.adapters.dsh.reader import Reader
from outstep.adapters.dsh.records import NOTHING, UNREADABLE, Block, Row, text_of
from outstep.codec import NO_RAW, Unreadable, compact
from outstep.events import Approval, Context, Joined, Lane, ToolCall, ToolResult

SPAWNERS = frozenset({"subagent", "subagent_fork"})
"""Tools that start a sub-agent."""

PROGRAM = "run_code"
"""The tool that runs a program, which makes calls of its own."""

SAYS_NO = frozenset({"rejected", "cancelled", "unavailable"})
DENIES = frozenset({"block", "deny"})


class Call:
    """A call and what has become known of it."""

    __slots__ = ("agent", "arguments", "call_id", "is_answered", "is_refused", "job", "result", "seq", "tool", "turn")

    def __init__(
        self, seq: int, tool: str, call_id: str, *, agent: str, turn: int | None, arguments: Raw | None
    ) -> None:
        self.seq = seq
        self.tool = tool
        self.call_id = call_id
        self.agent = agent
        self.turn = turn
        self.arguments = arguments
        """Kept for tools whose arguments say how they run."""
        self.is_answered = False
        self.is_refused = False
        self.job: str | None = None
        """`running`, or what the record of its end says."""
        self.result: int | None = None
        """Place among the events of a result that told only of the background."""


class Calls:
    """Reads acts into events."""

    def __init__(self, reader: Reader, homecoming: Callable[[Call, str, bool], None]) -> None:
        """`homecoming` is told each answered call that started a sub-agent, before its result is given."""
        self._reader = reader
        self._trace = reader.trace
        self._homecoming = homecoming
        self.spawns: dict[int, Call] = {}
        """Calls that started a sub-agent and have no result yet."""
        self._by_seq: dict[int, Call] = {}
        self._by_step: dict[tuple[int, int, str], deque[Call]] = {}
        self._by_id: dict[str, Call] = {}
        self._open: dict[int, Call] = {}
        self._approvals: dict[str, tuple[str, Call | None, str]] = {}
        self._refusals: deque[str] = deque(maxlen=64)
        self._jobs: dict[str, Call] = {}
        self._programs: dict[int | str, str] = {}
        reader.handlers.update({
            "tool/call": self._call,
            "tool/result": self._result,
            "tool/code-dispatch-start": self._dispatch_start,
            "tool/ptc-dispatch-start": self._dispatch_start,
            "tool/code-dispatch": self._dispatch,
            "tool/ptc-dispatch": self._dispatch,
            "approval/asked": self._asked,
            "approval/decided": self._decided,
            "hook/result": self._hook,
            "job/registered": self._job,
            "job/settled": self._job,
        })  # fmt: skip

    # Calls

    def _call(self, row: Row) -> None:
        data = records.asked(row.data)
        self._reader.call_opens(data.turn, data.step)
        self._put_call(row, data)

    def _put_call(self, row: Row, data: records.Asked) -> Call:
        reader, trace = self._reader, self._trace
        turn = reader.decision(data.turn, data.step)
        args, args_raw = _arguments(data.arguments)
        seq = trace.next()
        trace.events.append(
            ToolCall(
                tool=data.name,
                seq=seq,
                turn=turn,
                agent=reader.lane,
                time=reader.time_of(row),
                call_id=data.call_id,
                args=args,
                args_raw=args_raw,
            )
        )
        call = self._keep(Call(seq, data.name, data.call_id, agent=reader.lane, turn=turn, arguments=args))
        if row.seq is not None and row.type == "tool/call":
            self._by_seq[row.seq] = call
        self._by_step.setdefault((data.turn, data.step, data.call_id), deque()).append(call)
        return call

    def _keep(self, call: Call) -> Call:
        if call.tool == PROGRAM:
            self._reader.nests = True
        if call.tool in SPAWNERS:
            self.spawns[call.seq] = call
        elif call.tool not in SHELLS:
            call.arguments = None
        self._by_id[call.call_id] = call
        self._open[call.seq] = call
        return call

    # Results

    def _result(self, row: Row) -> None:
        if row.surface_op is not None and row.surface_op != "append":
            # A shortened copy for the model; the result itself has been read.
            self._trace.skipped[f"{row.type} (replacement)"] += 1
            return
        data = records.answered(row.data)
        call_id, blocks, is_error = self._of_result(data)
        code = data.error.code if data.error is not None else ""
        call, joined = self._call_of(row, data, call_id)
        if call is None and code == "TOOL_NOT_STARTED":
            call = self._never_started(row, data, call_id)
        text = text_of(blocks)
        turn = call.turn if call is not None else self._reader.known_turn(data.turn, data.step)
        self._put_result(row, call, call_id, turn, joined, is_error=is_error, code=code, text=text)

    def _of_result(self, data: records.Answered) -> tuple[str, list[Block], bool]:
        """Return call id, content and error flag; formats 0 to 3 wrap them into a message of the user."""
        message = data.message
        if message is None:
            if data.content is None:
                raise ValueError("it has no message")
            check_flat(self._reader)
            return data.call_id or "", data.content, bool(data.is_error)
        named = records.source_of(message.source).call_id
        if message.role == "tool":
            call_id = message.tool_call_id if message.tool_call_id is not None else named
            return call_id or "", message.content, bool(message.is_error)
        for block in message.content:
            if block.type == "tool-result":
                call_id = block.tool_call_id if block.tool_call_id is not None else named
                return call_id or "", block.content or [], bool(block.is_error)
        raise ValueError("it holds no result")

    def _call_of(self, row: Row, data: records.Answered, call_id: str) -> tuple[Call | None, Joined]:
        """Find the call of a result: by the row that it names, else by its id within its step."""
        if row.source_event_seqs != NOTHING:
            try:
                first = records.source_seqs(row.source_event_seqs)[0]
                call = self._by_seq.get(first if isinstance(first, int) else first[0])
                if call is not None:
                    return call, "item"
            except (*UNREADABLE, IndexError):
                pass
        calls = self._by_step.get((data.turn, data.step, call_id))
        if not calls:
            return None, "id"
        while len(calls) > 1 and calls[0].is_answered:
            calls.popleft()  # only the newest is still needed once it has its result
        return calls[0], "id"

    def _never_started(self, row: Row, data: records.Answered, call_id: str) -> Call | None:
        """A call that the harness never came to: the model's answer is its only record."""
        if self._reader.known_turn(data.turn, data.step) is None:
            return None
        try:
            blocks = records.asked_answer(self._reader.answer).message.content
        except UNREADABLE:
            return None
        for block in blocks:
            if block.type == "tool-call" and block.id == call_id and block.arguments != NOTHING:
                asked = records.Asked(data.turn, data.step, call_id, block.name, block.arguments)
                return self._put_call(row, asked)
        return None

    def _put_result(
        self,
        row: Row,
        call: Call | None,
        call_id: str,
        turn: int | None,
        joined: Joined,
        *,
        is_error: bool,
        code: str,
        text: str,
    ) -> None:
        tool = call.tool if call is not None else ""
        refused = call is not None and (call.is_refused or (is_error and not code and self._is_refusal(text)))
        job = self._background(call, is_error=is_error)
        outcome, exit = outcome_of(tool, is_error, code, text, refused=refused, job=job)
        if call is not None and tool in SPAWNERS and not call.is_answered:
            del self.spawns[call.seq]
            self._homecoming(call, text, is_error)
        trace = self._trace
        trace.events.append(
            ToolResult(
                seq=trace.next(),
                turn=turn,
                agent=call.agent if call is not None else self._reader.lane,
                time=self._reader.time_of(row),
                call_id=call_id,
                call=call.seq if call is not None else None,
                outcome=outcome,
                text=text,
                error=error_text(text) if is_error else "",
                exit=exit,
                joined=joined,
                hidden=("/text",) if is_shortened(text) else (),
            )
        )
        if call is not None:
            if outcome == "unknown" and tool in SHELLS and not is_error and not call.is_answered:
                call.result = len(trace.events) - 1
            call.is_answered = True
            self._open.pop(call.seq, None)

    def _background(self, call: Call | None, *, is_error: bool) -> str | None:
        if call is None or call.tool not in SHELLS:
            return None
        if call.job is None and not is_error and _runs_in_background(call):
            return "running"
        return call.job

    # Programs

    def _dispatch_start(self, row: Row) -> None:
        self._put_nested(row, records.dispatch(row.data))

    def _dispatch(self, row: Row) -> None:
        data = records.dispatch(row.data)
        call = self._by_id.get(data.sub_call_id)
        if call is None or call.is_answered:
            call = self._put_nested(row, data)
        text = text_of(data.content or [])
        is_error = bool(data.is_error)
        self._put_result(row, call, data.sub_call_id, None, "id", is_error=is_error, code="", text=text)

    def _put_nested(self, row: Row, data: records.Dispatch) -> Call:
        trace = self._trace
        self._reader.nests = True
        lane = self._program(data.parent_call_id)
        args, args_raw = _arguments(data.arguments)
        seq = trace.next()
        trace.events.append(
            ToolCall(
                tool=data.name,
                seq=seq,
                agent=lane,
                time=self._reader.time_of(row),
                call_id=data.sub_call_id,
                args=args,
                args_raw=args_raw,
                parent=data.parent_call_id,
                by="program",
            )
        )
        return self._keep(Call(seq, data.name, data.sub_call_id, agent=lane, turn=None, arguments=args))

    def _program(self, call_id: str) -> str:
        """Return the lane of the program that runs inside a call."""
        call = self._by_id.get(call_id)
        key = call.seq if call is not None else call_id
        lane = self._programs.get(key)
        if lane is None:
            lane = self._trace.lane_name(f"program:{call_id}")
            self._programs[key] = lane
            parent = call.agent if call is not None else None
            self._trace.add_lane(Lane(id=lane, kind="program", parent=parent, call=call_id))
        return lane

    # Permissions

    def _asked(self, row: Row) -> None:
        data = records.approval_asked(row.data)
        call = self._by_id.get(data.call_id) if data.call_id is not None else None
        self._approvals[data.id] = (data.tool_name, call, data.call_id or "")
        self._put_approval(row, data.tool_name, call, data.call_id or "", "asked")

    def _decided(self, row: Row) -> None:
        data = records.approval_decided(row.data)
        found = self._approvals.get(data.id)
        allowed = data.outcome == "allowed-once"
        if not allowed and data.outcome not in SAYS_NO:
            self._reader.remark("record.unknown", f"{row.type}: {data.outcome[:80]}", row)
            return
        if found is None:
            self._trace.skipped[f"{row.type} (not asked for)"] += 1
            return
        tool, call, call_id = found
        if call is not None:
            call.is_refused = not allowed
        self._put_approval(row, tool, call, call_id, "allowed" if allowed else "denied")

    def _put_approval(self, row: Row, tool: str, call: Call | None, call_id: str, decision: str) -> None:
        self._trace.events.append(
            Approval(
                tool=tool,
                seq=self._trace.next(),
                turn=call.turn if call is not None else None,
                agent=call.agent if call is not None else self._reader.lane,
                time=self._reader.time_of(row),
                call_id=call_id,
                decision=decision,  # type: ignore[arg-type]
            )
        )

    def _hook(self, row: Row) -> None:
        """A hook names no call: it is the one call that waits, or the one whose error tells the hook's words."""
        self._trace.skipped[row.type] += 1
        data = records.hook_result(row.data)
        if data.decision not in DENIES or data.point.startswith("Post"):
            return
        nested = [call for call in self._open.values() if call.turn is None]
        waiting = nested or [call for call in self._open.values() if call.turn == self._reader.turn]
        if len(waiting) == 1:
            waiting[0].is_refused = True
        elif waiting and data.stderr_summary:
            self._refusals.append(data.stderr_summary)

    def _is_refusal(self, text: str) -> bool:
        for words in self._refusals:
            if words in text:
                self._refusals.remove(words)
                return True
        return False

    # Jobs

    def _job(self, row: Row) -> None:
        data = records.job(row.data)
        call = self._jobs.get(data.job_id)
        if call is None and data.tool_call is not None:
            call = self._by_id.get(data.tool_call.call_id)
        if call is None or call.tool not in SHELLS:
            self._trace.skipped[row.type] += 1
            return
        self._jobs[data.job_id] = call
        if row.type == "job/registered":
            self._trace.skipped[row.type] += 1
            call.job = "running"
            return
        call.job = data.detail or data.status
        if call.result is None:
            self._trace.skipped[row.type] += 1
        else:
            self._late_result(row, call, data)

    def _late_result(self, row: Row, call: Call, data: records.Job) -> None:
        """The command ended in the background: its result arrives now, and the earlier word was none."""
        trace = self._trace
        assert call.result is not None
        early = trace.events[call.result]
        assert isinstance(early, ToolResult)
        trace.events[call.result] = Context(
            seq=early.seq, agent=early.agent, time=early.time, what="job", name=data.job_id, text=early.text or ""
        )
        call.result = None
        outcome, exit = settled(data.status, data.detail or "")
        trace.events.append(
            ToolResult(
                seq=trace.next(),
                turn=call.turn,
                agent=call.agent,
                time=self._reader.time_of(row),
                call_id=call.call_id,
                call=call.seq,
                outcome=outcome,
                text=data.detail or data.status,
                exit=exit,
                joined="item",
            )
        )


def spawn_of(call: Call) -> records.Spawn:
    """Return the arguments of a call that starts a sub-agent."""
    try:
        return records.spawn(call.arguments or b"{}")
    except UNREADABLE:
        return records.Spawn()


def _runs_in_background(call: Call) -> bool:
    try:
        return bool(records.shell(call.arguments or b"{}").run_in_background)
    except UNREADABLE:
        return False


def _arguments(recorded: Raw) -> tuple[Raw, str | None]:
    """Return the arguments as JSON, or their text when it is none; an empty text is no arguments.

    A call of the model holds the text that it wrote, a call of a program the object that it passed.
    """
    text = bytes(recorded).decode()
    if text.startswith('"'):
        text = records.string(text)
    if not text:
        return NO_RAW, None
    try:
        return compact(text), None
    except Unreadable:
        return NO_RAW, text

"""Small traces: all of them up to a length, and larger ones by chance (SEMANTICS section 9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from outstep.codec import raw
from outstep.events import (
    SCHEMA,
    Approval,
    AssistantMessage,
    Context,
    Event,
    Gap,
    Header,
    Lane,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)

from .known import is_well_formed

Recorded = tuple[Header, list[Event]]
"""A header and its events."""

PARTS = {"parts": [{"id": "x", "n": 1}]}
ANSWERS: dict[str, dict[str, Any]] = {
    "ok": {"outcome": "ok", "data": raw({"v": 1, **PARTS})},
    "failed": {"outcome": "failed", "data": raw({"v": 2})},
    "unknown": {"outcome": "unknown", "data": raw({"v": 1})},
}
CALLS = (("a", "x"), ("a", "y"), ("b", "x"))
GAPS: tuple[tuple[str, ...], ...] = ((), ("tool.call",), ("tool.result",), ("user.message",), ("assistant.message",))


class Step(Struct, frozen=True):
    """One thing that happens, not yet an event: its place in the trace gives it a number, an id and a turn."""

    what: str
    """`call`, `result`, `user`, `say`, `gap`, `approval`, `context`, `state`."""
    tool: str = ""
    key: str = ""
    outcome: str = ""
    opens: bool = True
    """Issued events: opens a decision, else belongs to the one before it."""
    pick: int = 0
    """Results: which of the waiting calls, from the newest."""
    lane: str = "main"
    may_hide: tuple[str, ...] = ()
    stamped: bool = False
    """Gaps: stamped with a turn."""
    text: str = ""
    wait: int = 1
    """Seconds since the event before."""


SMALL_STEPS: tuple[Step, ...] = (
    *(Step("call", tool=tool, key=key, opens=opens) for tool, key in CALLS for opens in (True, False)),
    *(Step("result", outcome=outcome, pick=pick) for outcome in ANSWERS for pick in (0, 1)),
    Step("user"),
    Step("say", text="x is done"),
    Step("say", text="x is done", opens=False),
)
"""What the exhaustive traces are made of."""
GAP_STEPS: tuple[Step, ...] = (
    *(Step("gap", may_hide=types) for types in GAPS),
    *(Step("gap", may_hide=types, stamped=True) for types in ((), ("tool.call",))),
)
LANE_STEPS: tuple[Step, ...] = (
    Step("call", tool="a", key="x", lane="sub"),
    Step("call", tool="b", key="x", lane="sub"),
    Step("result", outcome="ok", lane="sub"),
    Step("result", outcome="failed", lane="sub"),
)


def built(steps: Sequence[Step], *, turns: bool, end: str = "completed", sub: bool = False) -> Recorded | None:
    """Return the trace of some steps; none where a step means nothing, or the trace is not well-formed.

    With `sub`, the first call of `main` spawns the lane `sub`.
    """
    builder = _Builder(turns)
    for step in steps:
        event = builder.event(step)
        if event is None:
            return None
        builder.events.append(event)
    events = builder.events
    if end in ("completed", "aborted", "cut_off"):
        events.append(RunEnd(seq=len(events), end=end))  # type: ignore[arg-type]
    lanes = (Lane(id="sub", parent="main", call="c0"),) if sub else ()
    header = Header(schema=SCHEMA, id="t", lanes=lanes, complete=end == "inferred")
    return (header, events) if is_well_formed(header, events) else None


class _Builder:
    """Numbers steps, and gives them turns and ids."""

    def __init__(self, turns: bool) -> None:
        self.events: list[Event] = []
        self._turns = turns
        self._turn: dict[str, int] = {}
        self._highest = 0
        self._waiting: list[tuple[str, str]] = []
        self._count = 0
        self._time = 0

    def event(self, step: Step) -> Event | None:
        """Return the event of a step."""
        self._time += step.wait
        head: dict[str, Any] = {"seq": len(self.events), "agent": step.lane, "time": float(self._time)}
        if step.what == "call":
            call_id = f"c{self._count}"
            self._count += 1
            self._waiting.append((step.lane, call_id))
            args = raw({"k": step.key, "n": 1})
            return ToolCall(tool=step.tool, call_id=call_id, args=args, turn=self._opened(step), **head)
        if step.what == "say":
            return AssistantMessage(text=step.text, turn=self._opened(step), **head)
        if step.what == "result":
            waiting = [call for call in reversed(self._waiting) if call[0] == step.lane]
            if step.pick >= len(waiting):
                return None
            call = waiting[step.pick]
            self._waiting.remove(call)
            return ToolResult(call_id=call[1], **ANSWERS[step.outcome], **head)
        return self._other(step, head)

    def _other(self, step: Step, head: dict[str, Any]) -> Event | None:
        seq, time = head["seq"], head["time"]
        if step.what == "user":
            return UserMessage(text="please do x", **head)
        if step.what == "context":
            return Context(what="skill", name="db", text="y", **head)
        if step.what == "approval":
            return Approval(tool=step.tool, decision="allowed" if step.outcome == "ok" else "denied", **head)
        if step.what == "state":
            return State(seq=seq, time=time, state=raw({"open": 0 if step.outcome == "ok" else 1}))
        turn = self._opened(step) if step.stamped else None
        if step.stamped and turn is None:
            return None
        agent = step.lane if step.stamped or step.lane != "main" else None
        return Gap(seq=seq, turn=turn, agent=agent, may_hide=step.may_hide)

    def _opened(self, step: Step) -> int | None:
        if not self._turns:
            return None
        if step.opens or step.lane not in self._turn:
            self._highest += 1
            self._turn[step.lane] = self._highest
        return self._turn[step.lane]


def small_traces(
    length: int, *, gaps: int = 0, sub: bool = False, steps: Sequence[Step] = SMALL_STEPS
) -> Iterator[Recorded]:
    """Yield every trace of so many steps, with and without turns; `gaps`: with up to so many gaps among them."""
    steps = (*steps, *(GAP_STEPS if gaps else ()), *(LANE_STEPS if sub else ()))
    for turns in (True, False):
        heads: list[tuple[Step, ...]] = [()]
        while heads:
            head = heads.pop()
            trace = built(head, turns=turns, sub=sub)
            if trace is None or sum(step.what == "gap" for step in head) > gaps:
                continue
            if len(head) == length:
                yield trace
            else:
                heads += [(*head, step) for step in steps if turns or step.opens]


def _steps(gaps: bool, sub: bool) -> st.SearchStrategy[Step]:
    more = (
        Step("say", text="all is well"),
        Step("say", text="y is done", wait=9),
        Step("context"),
        Step("approval", tool="a", outcome="ok"),
        Step("approval", tool="a", outcome="failed"),
        Step("state", outcome="ok"),
        Step("state", outcome="failed"),
        Step("call", tool="b", key="y"),
        Step("call", tool="b", key="y", opens=False, wait=20),
    )
    return st.sampled_from([*SMALL_STEPS, *more, *(GAP_STEPS if gaps else ()), *(LANE_STEPS if sub else ())])


def traces(*, gaps: bool = True, most: int = 10) -> st.SearchStrategy[Recorded]:
    """Return a strategy for larger traces: steps that mean nothing are left out."""

    @st.composite
    def drawn(draw: st.DrawFn) -> Recorded:
        sub = draw(st.booleans())
        turns = draw(st.booleans())
        ends = ("completed", "aborted", "inferred", *(("cut_off", "none") if gaps else ()))
        end = draw(st.sampled_from(ends))
        steps: list[Step] = [Step("call", tool="b", key="x")] if sub else []
        found = built(steps, turns=turns, end=end, sub=sub)
        for step in draw(st.lists(_steps(gaps, sub), max_size=most)):
            longer = built([*steps, step], turns=turns, end=end, sub=sub)
            if longer is not None:
                steps.append(step)
                found = longer
        assert found is not None
        return found

    return drawn()


def without_gaps(trace: Recorded) -> Recorded:
    """Return the trace as if no gap were in it."""
    header, events = trace
    return header, [event for event in events if not isinstance(event, Gap)]


def renumbered(events: Sequence[Event]) -> list[Event]:
    """Return events numbered from 0 in the order given."""
    return [replace(event, seq=number) for number, event in enumerate(events)]

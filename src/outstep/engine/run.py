"""One trace on its way through a contract, judged exactly and in one pass.

`Run.step` takes any event: lanes, gaps, hidden values. The generated monitor (`engine.generate`) takes the events of a
plain trace and gives the same rulings; whatever it cannot prove to hold it hands over to the same monitors as here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from outstep import codec
from outstep.codec import Unreadable
from outstep.contracts import fitting
from outstep.contracts.kinds import Integrity, Python
from outstep.contracts.kinds.base import KindMonitor, Quiet
from outstep.contracts.model import Contract, Rule, Tool
from outstep.contracts.names import ToolNames, defaulted_tool, glob_fits
from outstep.contracts.selectors import Expr, Selector, Spot
from outstep.engine.facts import FactView, forget_fact, holds, read_fact, write_fact
from outstep.engine.gaps import Gaps
from outstep.engine.lanes import Counter, LaneState, Table, restart_tables
from outstep.engine.outcomes import has_keys, judge_outcome
from outstep.engine.pairing import OpenCall, Pairing
from outstep.engine.plan import Listener, Plan
from outstep.engine.rulings import Rulings
from outstep.engine.triggers import Triggers
from outstep.engine.views import View, mask, result_text, trace_names
from outstep.errors import problem
from outstep.events import (
    EVENT_TYPES,
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Gap,
    Header,
    Lane,
    Outcome,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.expr.claim import Claim
from outstep.expr.evaluate import evaluate
from outstep.expr.mentions import MentionIndex
from outstep.expr.values import Hidden, Missing, TooCostly
from outstep.findings import Ruling, Verdict, Witness

if TYPE_CHECKING:
    from outstep.engine.known import KnownText
    from outstep.engine.whereabouts import Whereabouts

MOST_NAMES = 10_000
"""Recorded tool names whose listeners are kept in mind."""

_OF_AGENT = frozenset({"model", "program"})
"""Callers whose calls are the agent's own."""
END_GAP = "the record stops here"
ANY_RESULT = (Selector(what="result", by="any", text="result", spot=Spot(0, 0, 0)),)


class Run(Rulings, Triggers):
    """The state of one trace under one contract."""

    watch: Callable[[Expr, View, Any], None] | None = None
    """Told of every expression before it is evaluated exactly: who measures coverage looks here."""

    def __init__(self, plan: Plan, header: Header, names: ToolNames, parts: Parts) -> None:
        self.plan = plan
        self.contract: Contract = plan.contract
        self.header = header
        self.names = names
        self.parts = parts
        self.gaps = Gaps()
        self.pairing = Pairing(self)
        self.lanes: dict[str, LaneState] = {}
        self.world = LaneState("", self._fresh_tables())
        self._listening: dict[tuple[str, str], tuple[Listener, ...]] = {}
        Rulings.__init__(self)
        self.monitors: list[KindMonitor | None] = [
            None if isinstance(rule.kind, Integrity) else parts.monitor(index, rule, self)
            for index, rule in enumerate(self.contract.rules)
        ]
        watching: list[Any] = [monitor for monitor in self.monitors if monitor is not None]
        self._restarting = [monitor for monitor in watching if type(monitor).restart is not Quiet.restart]
        self._closing = [monitor for monitor in watching if type(monitor).close is not Quiet.close]
        self._deadlines = [monitor for monitor in watching if monitor.has_deadline]
        self._keeps_world = any(plan.world)
        self._answered = [monitor for monitor in watching if monitor.asks_outcomes]
        Triggers.__init__(self)
        self.known_text: dict[tuple[str, str], KnownText] = {}
        self.types_seen: set[str] = set()
        self.unrecorded: set[str] = set()
        """Tools of which a rule asks the outcome, and neither the record nor the contract tells it."""
        self.tool_approvals: dict[str, tuple[str, int]] = {}
        """Last decision on a tool, for the later calls of it in any lane, and where it stands."""
        self.key_index: dict[int, MentionIndex[Any]] = {}
        """Keys of the facts that claims are about, by the words in them."""
        self._spawns: dict[tuple[str, str], list[Lane]] = {}
        self._returns: dict[tuple[str, str], list[LaneState]] = {}
        self._forks: list[Lane] = []
        self._lanes_named: dict[str, Lane] = {}
        self._begin(header)

    def _begin(self, header: Header) -> None:
        self.header = header
        self.records_all = header.records is EVENT_TYPES or header.records == EVENT_TYPES
        self.end: RunEnd | None = None
        self.last_seq = 0
        self.events = 0
        self.turns_seen = False
        self.final: View | None = None
        self.is_closing = False
        self._whereabouts: Whereabouts | None = None
        self.is_veiled = False
        """Whether an event had hidden values."""
        self._is_stopped = False
        if self.known_text:
            self.known_text = {}
        if self.types_seen:
            self.types_seen = set()
        if self.tool_approvals:
            self.tool_approvals = {}
        if self.plan.about:
            self.key_index = {fact: MentionIndex() for fact in self.plan.about}
        if self._lanes_named:
            self._spawns, self._returns, self._forks, self._lanes_named = {}, {}, [], {}
        if header.lanes:
            self._name_lanes(header.lanes)
        self._args: tuple[int, Any] = (-1, None)
        self._data: tuple[int, Any] = (-1, None)
        self._claims: tuple[int, list[Claim]] = (-1, [])
        self._trace_names: dict[str, Any] | None = None
        self.applies: bool | Missing = True if self.contract.applies_when is None else self._applies()

    def _name_lanes(self, lanes: Sequence[Lane]) -> None:
        self._lanes_named = {lane.id: lane for lane in lanes}
        for lane in lanes:
            if lane.kind == "branch" and lane.forked_at is not None:
                self._forks.append(lane)
            elif lane.parent is not None:
                self._spawns.setdefault((lane.parent, lane.call), []).append(lane)
        self._forks.sort(key=lambda lane: lane.forked_at or 0)

    def restart(self, header: Header) -> None:
        """Forget the trace that was closed, and begin another one."""
        if self.gaps.all:
            self.gaps = Gaps()
        self.pairing.restart()
        main = self.lanes.get("main")
        if main is None or len(self.lanes) > 1:
            self.lanes = {}
        else:
            main.restart()
        if self.types_seen or self._keeps_world:
            restart_tables(self.world.tables)
        self.restart_rulings()
        self.restart_triggers()
        for monitor in self._restarting:
            monitor.restart()
        self._begin(header)

    # -- events in arrival order ------------------------------------------------------------------------------------

    def step(self, event: Event) -> None:
        """Take the next event; whoever feeds the run counts it."""
        self.last_seq = event.seq
        for monitor in self._deadlines:
            monitor.passed(event)
        while self._forks and event.seq >= (self._forks[0].forked_at or 0):
            self._fork(self._forks.pop(0))
        if not isinstance(event, Gap | RunEnd) and event.hidden:
            self.is_veiled = True
        _STEPS[type(event)](self, event)
        for monitor in self._deadlines:
            monitor.took(event)

    def _step_call(self, event: ToolCall) -> None:
        lane = self.lane(event.agent)
        self._open(lane, event)
        self.pairing.call(lane, event)
        if lane.approvals or self.tool_approvals:
            self._cover_by_approval(lane, event)
        if lane.id == "main" and event.by in _OF_AGENT:
            self.drop_final(event.seq)
        self.look_at_call(event, lane)
        self._spawn(lane, event)
        lane.calls += 1

    def look_at_call(self, event: ToolCall, lane: LaneState) -> None:
        """Let everyone look at a call that is already paired."""
        self.check_call(event)
        self.dispatch("tool.call", event.tool, View(self, event, lane, issued=True))

    @property
    def outcomes(self) -> dict[int, str]:
        """What became of the calls that rules of the kind `scope` have something to say of."""
        return self._whereabouts.outcomes if self._whereabouts is not None else {}

    @property
    def calls(self) -> int:
        """Number of calls so far."""
        count = self.pairing.again
        for seen in self.pairing.seen.values():
            count += len(seen)
        return count

    def open_calls(self, places: set[int]) -> list[OpenCall]:
        """Return the unanswered calls at these places, in their order."""
        found = [call for lane in self.lanes.values() for call in self.pairing.unanswered(lane)]
        return [call for call in found if call.event.seq in places]

    def call_view(self, call: OpenCall) -> View:
        """Return the view of a call that was paired before."""
        view = View(self, call.event, self.lane(call.event.agent), issued=True)
        view.at, view.epoch = call.start, call.epoch
        return view

    def check_call(self, event: ToolCall) -> None:
        """Hold a call against what `tools` declares."""
        canonical = self.canonical(event.tool)
        tool = self.parts.tools.get(canonical)
        if tool is None:
            if event.tool:
                self.remark("UNDECLARED_TOOL", f"`{event.tool}` is not declared in `tools`", event.seq)
        elif tool.args is not None and event.args_raw is None:
            self._check_arguments(event, tool, canonical)

    def _check_arguments(self, event: ToolCall, tool: Tool, canonical: str) -> None:
        assert tool.args is not None
        hidden = [_steps(pointer)[1:] for pointer in event.hidden if _steps(pointer)[:1] in (["args"], [])]
        value = self._recorded_arguments(event) if hidden else self.arguments(event)
        wrong = fitting.misfit(tool.args, value, self.parts.schemas, hidden)
        if wrong is not None:
            self.remark("ARGUMENTS_FIT", f"the arguments do not fit the schema of `{canonical}`: {wrong}", event.seq)
        elif hidden:
            self.remark(
                "ARGUMENTS_FIT",
                "a part of the arguments is hidden, so it cannot be told whether they fit",
                event.seq,
                verdict="inconclusive",
                reason="hidden-evidence",
            )

    def _step_result(self, event: ToolResult) -> None:
        lane = self.lane(event.agent)
        lane.last_seq = event.seq
        call = self.pairing.result(lane, event)
        if call is not None:
            self.look_at_result(event, call, lane)

    def look_at_result(self, event: ToolResult, call: OpenCall, lane: LaneState) -> None:
        """Let everyone look at a result that is already paired."""
        told = [monitor for monitor in self._answered if monitor.awaits(call.event.seq)]
        is_seen = told or lane.approvals or self.watch is not None
        if not is_seen and not self.listening("tool.result", call.event.tool):
            # Nobody asks what became of the call, which may take long to tell.
            self._come_home(lane, call)
            return
        view = View(self, event, lane, issued=False)
        view.call = call
        view.outcome = self.outcome(event, call)
        self._check_denied(lane, event, view)
        self._come_home(lane, call)
        self.dispatch("tool.result", call.event.tool, view)
        for monitor in told:
            monitor.answered(view)

    def _check_denied(self, lane: LaneState, event: ToolResult, view: View) -> None:
        if view.call is None or lane.approvals.get(view.call.event.seq, ("", 0))[0] != "denied":
            return
        if view.outcome == "ok":
            self.remark("EXECUTED_ALTHOUGH_DENIED", "a call was carried out after it was denied", event.seq)
        elif view.outcome == "unknown":
            self.remark(
                "EXECUTED_ALTHOUGH_DENIED",
                "a denied call may have been carried out",
                event.seq,
                verdict="inconclusive",
                reason="unknown-outcome",
            )

    def _step_message(self, event: AssistantMessage) -> None:
        lane = self.lane(event.agent)
        had_calls = lane.turn == event.turn and event.turn is not None and lane.calls > 0
        self._open(lane, event)
        view = View(self, event, lane, issued=True)
        self.dispatch("assistant.message", "", view)
        if lane.id == "main" and not had_calls:
            self.offer_final(view)
        lane.said = f"{lane.said}\n{event.text}" if lane.said else event.text

    def _step_decision(self, event: Decision) -> None:
        lane = self.lane(event.agent)
        self._open(lane, event)
        self.dispatch("decision", "", View(self, event, lane, issued=True))

    def _step_user(self, event: UserMessage) -> None:
        lane = self.lane(event.agent)
        lane.last_seq = event.seq
        if not self.turns_seen:
            lane.ids_since = event.seq
        self.dispatch("user.message", "", View(self, event, lane, issued=False))

    def _step_context(self, event: Context) -> None:
        lane = self.lane(event.agent)
        lane.last_seq = event.seq
        if event.what == "record.unknown":
            self.remark("UNKNOWN_RECORD", f"a record of the foreign kind `{event.name}` was skipped", event.seq)
        elif event.what == "record.duplicate_seq":
            self.remark("DUPLICATE_SEQ", f"the record uses the sequence number {event.name} twice", event.seq)
        self.dispatch("context", "", View(self, event, lane, issued=False))

    def _step_approval(self, event: Approval) -> None:
        lane = self.lane(event.agent)
        lane.last_seq = event.seq
        if event.call_id:
            self._note_approval(lane, event)
        else:
            self.tool_approvals[self.canonical(event.tool)] = (event.decision, event.seq)
        self.dispatch("approval", event.tool, View(self, event, lane, issued=False))

    def _note_approval(self, lane: LaneState, event: Approval) -> None:
        """Note a decision on the newest call of its id, else on the first one that comes."""
        newest = self.pairing.newest(lane, event.call_id)
        if newest is not None:
            lane.approvals[newest] = (event.decision, event.seq)
        elif event.call_id not in self.pairing.seen.get(lane.id, ()):
            lane.approvals[event.call_id] = (event.decision, event.seq)

    def _cover_by_approval(self, lane: LaneState, event: ToolCall) -> None:
        """Let the latest decision that stands before a call cover it: one on its id, or one on its tool."""
        own = lane.approvals.pop(event.call_id, None) if event.call_id else None
        cover = self.tool_approvals.get(self.canonical(event.tool)) if self.tool_approvals else None
        latest = max((found for found in (own, cover) if found is not None), key=_place, default=None)
        if latest is not None:
            lane.approvals[event.seq] = latest

    def _step_state(self, event: State) -> None:
        self.types_seen.add("state")
        self.dispatch("state", "", View(self, event, None, issued=False))

    def _step_gap(self, event: Gap) -> None:
        if event.turn is not None and event.agent is None:
            event = replace(event, agent="main")
        self.note_gap(event, is_recorded=True)
        if event.turn is not None and event.agent is not None:
            lane = self.lane(event.agent)
            if lane.turn != event.turn:
                self._opened(lane, event.turn, event.seq)

    def _step_end(self, event: RunEnd) -> None:
        self.end = event

    def note_gap(self, gap: Gap, *, is_recorded: bool) -> None:
        """Take a gap into account from its place on; a recorded one makes the trace incomplete."""
        pair = (gap, gap.seq)
        self.gaps.all.append(pair)
        lanes = [self.lane(gap.agent)] if gap.agent is not None else list(self.lanes.values())
        for lane in lanes:
            lane.gaps.append((Gap(seq=gap.seq, turn=gap.turn), gap.seq) if self._may_hide_return(gap, lane) else pair)
        if is_recorded:
            self.gaps.places.append(gap.seq)
            self.remark(
                "INCOMPLETE_TRACE",
                f"records may be missing here: {gap.reason}" if gap.reason else "records may be missing here",
                self._place_of(gap),
                verdict="inconclusive",
                reason="record-ends" if gap.reason == END_GAP else "records-lost",
            )

    def _may_hide_return(self, gap: Gap, lane: LaneState) -> bool:
        """Return whether a gap may hide that a child came home, and with it anything that the child did."""
        return gap.can_hide("tool.result") and any(
            child.last_seq >= 0
            for (parent, _), children in self._returns.items()
            for child in children
            if parent == lane.id
        )

    def _place_of(self, gap: Gap) -> int | None:
        if gap.seq <= self.last_seq:
            return gap.seq
        return self.end.seq if self.end is not None else None

    def breaks_off(self, lane: LaneState, seq: int) -> bool:
        """Return whether a gap of the lane itself, behind `seq`, may hide a result."""
        return any(place > seq and gap.agent == lane.id and gap.can_hide("tool.result") for gap, place in self.gaps.all)

    def hides_calls(self, lane: LaneState, seq: int) -> bool:
        """Return whether a gap before `seq` may hide a call of the lane."""
        return any(
            place < seq and (gap.agent is None or gap.agent == lane.id) and gap.can_hide("tool.call")
            for gap, place in self.gaps.all
        )

    # -- lanes ------------------------------------------------------------------------------------------------------

    def lane(self, lane_id: str) -> LaneState:
        """Return a lane; one that was not spawned in the record has no parent."""
        lane = self.lanes.get(lane_id)
        if lane is None:
            named = self._lanes_named.get(lane_id)
            lane = LaneState(lane_id, self._fresh_tables(), named.kind if named else "agent")
            lane.counters = [Counter() for _ in self.plan.counters]
            lane.gaps = [pair for pair in self.gaps.all if pair[0].agent is None]
            self.lanes[lane_id] = lane
        return lane

    def _fresh_tables(self) -> list[Table]:
        keeps = [fact.keep for fact in self.plan.contract.facts]
        return [Table(keep) for keep in keeps] + [Table("furthest") for _ in range(self.plan.width - len(keeps))]

    def _open(self, lane: LaneState, event: ToolCall | AssistantMessage | Decision) -> None:
        lane.last_seq = event.seq
        if event.turn is not None:
            self.turns_seen = True
        if event.turn is None or event.turn != lane.turn:
            self._opened(lane, event.turn, event.seq)
            if event.turn is not None:
                lane.ids_since = event.seq

    def _opened(self, lane: LaneState, turn: int | None, seq: int) -> None:
        lane.opens(turn, seq)
        for monitor in self._deadlines:
            monitor.opened(lane)

    def _spawn(self, parent: LaneState, call: ToolCall) -> None:
        children = self._spawns.pop((parent.id, call.call_id), None) if self._spawns else None
        for named in children or ():
            child = self._child(named, parent, parent.epoch, parent.start, call.seq)
            self._returns.setdefault((parent.id, call.call_id), []).append(child)

    def _fork(self, named: Lane) -> None:
        trunk = self.lane(named.parent or "main")
        self._child(named, trunk, None, named.forked_at or 0, named.forked_at or 0)

    def _child(self, named: Lane, parent: LaneState, epoch: int | None, position: int, seq: int) -> LaneState:
        tables = [table.inherit(epoch, position) for table in parent.tables]
        child = LaneState(named.id, tables, named.kind, parent)
        child.counters = [counter.inherit(parent.epoch if epoch is None else epoch) for counter in parent.counters]
        child.gaps = parent.known_gaps(position)
        child.spawned_at = child.ids_since = seq
        for source in self.plan.known:
            if (parent.id, source) in self.known_text:
                self.known_text[named.id, source] = self.known_text[parent.id, source].child(position)
        self.lanes[named.id] = child
        return child

    def _come_home(self, lane: LaneState, call: OpenCall) -> None:
        if not self._returns:
            return
        for child in self._returns.pop((lane.id, call.event.call_id), ()):
            for own, brought in zip(lane.tables, child.tables, strict=True):
                own.bring_home(lane.epoch, brought, child.spawned_at)
            for mine, theirs in zip(lane.counters, child.counters, strict=True):
                mine.bring_home(lane.epoch, theirs)
            known = {id(gap) for gap, _ in lane.gaps}
            lane.gaps.extend(pair for pair in child.gaps if id(pair[0]) not in known)
            lane.gaps.sort(key=lambda pair: pair[1])
            for source in self.plan.known:
                if (child.id, source) in self.known_text:
                    self._text_of(lane, source).returned(self.last_seq, self.known_text[child.id, source])

    @property
    def is_plain(self) -> bool:
        """Whether generated code may take the next event: one lane, no gap, no approval, nothing that needs more."""
        return not (
            self.gaps.all
            or self.is_veiled
            or self.header.lanes
            or self._deadlines
            or self.plan.known
            or self.applies is not True
            or self.tool_approvals
            or (self.lanes and self.lane("main").approvals)
        )

    # -- what expressions read --------------------------------------------------------------------------------------

    def canonical(self, recorded: str) -> str:
        """Return the contract's name of a tool, else the recorded one."""
        return self.names.canonical(recorded)

    def arguments(self, call: ToolCall) -> Any:
        """Return the arguments of a call, with what its tool's schema gives by default."""
        if self._args[0] == call.seq:
            return self._args[1]
        value = self._recorded_arguments(call)
        if call.hidden and not isinstance(value, Missing):
            value = mask(value, call.hidden, "/args")
        self._args = (call.seq, value)
        return value

    def _recorded_arguments(self, call: ToolCall) -> Any:
        if call.args_raw is not None:
            return Missing("`args`: the recorded arguments are no JSON")
        if not bytes(call.args):
            return Missing("`args`: no arguments were recorded")
        try:
            value = codec.loads(call.args)
        except Unreadable as error:
            return Missing(f"`args`: unreadable ({error})")
        tool = self.parts.said_of(self.canonical(call.tool))
        if tool is not None and tool.args is not None:
            value = fitting.with_defaults(tool.args, value)
        return value

    def data(self, event: ToolResult, call: OpenCall | None) -> Any:
        """Return the data of a result: structured content, else what its tool's `reads` makes of the text."""
        if self._data[0] == event.seq:
            return self._data[1]
        raw = bytes(event.data)
        value = self._data_of(raw, event) if raw else self._read_text(event, call)
        self._data = (event.seq, value)
        return value

    def _data_of(self, raw: bytes, event: ToolResult) -> Any:
        try:
            value = codec.loads(raw)
        except Unreadable as error:
            return Missing(f"`data`: unreadable ({error})")
        return mask(value, event.hidden, "/data") if event.hidden else value

    def _read_text(self, event: ToolResult, call: OpenCall | None) -> Any:
        tool = self.parts.said_of(self.canonical(call.event.tool)) if call is not None else None
        return self.parts.read_text(tool.reads if tool is not None else None, result_text(event))

    def outcome(self, event: ToolResult, call: OpenCall) -> Any:
        """Return the outcome of a result, corrected by the keys of its tool."""
        tool: Tool | None = self.parts.said_of(self.canonical(call.event.tool))
        if tool is None or not has_keys(tool):
            return self.without_outcome(call.event.tool) if event.outcome == "unrecorded" else event.outcome
        view = View(self, event, self.lane(event.agent), issued=False)
        view.call = call
        view.outcome = event.outcome
        return judge_outcome(event.outcome, tool, lambda expr: self.frame(expr, view))

    def without_outcome(self, recorded: str) -> Outcome:
        """Return the outcome of a result when neither record nor tool tells it; note a tool that a rule asks about."""
        if any(listener.selector.outcome is not None for listener in self.listening("tool.result", recorded)):
            self.unrecorded.add(self.canonical(recorded))
        return "unknown"

    def approval(self, event: ToolResult, view: View) -> Any:
        """Return the last decision on the call of a result, or `Hidden` where a gap may hide one."""
        lane: LaneState = view.lane
        call: OpenCall | None = view.call
        decision, decided = lane.approvals.get(call.event.seq, ("none", -1)) if call is not None else ("none", -1)
        for gap, place in () if view.ignores_gaps else self.gaps.all:
            if decided < place < event.seq and gap.agent in {None, lane.id} and gap.can_hide("approval"):
                return Hidden("`approval`: a gap may hide a decision")
        return decision

    def claims(self, event: AssistantMessage) -> list[Claim]:
        """Return the claims made in a message."""
        if self._claims[0] != event.seq:
            self._claims = (event.seq, self.parts.find_claims(event.text))
        return self._claims[1]

    def global_name(self, name: str, view: View) -> Any:
        """Return what a name means at any event: a fact, a parameter, the trace, the lane."""
        index = self.plan.facts.get(name)
        if index is not None:
            if self.contract.facts[index].keyed:
                return FactView(self, index, view)
            return read_fact(self, index, (), view, name)
        if name == "params":
            return self.contract.params
        if name == "trace":
            if self._trace_names is None:
                self._trace_names = trace_names(self.header)
            return self._trace_names
        if name == "agent":
            return view.lane.id if view.lane is not None else None
        if name == "turn":
            return getattr(view.event, "turn", None)
        return Missing(f"`{name}`: not bound here")

    def constant(self, expr: Expr) -> Any:
        """Evaluate an expression that reads the parameters and the trace only."""
        return self.evidence(expr, View(self, State(seq=0), None, issued=False))

    @property
    def whereabouts(self) -> Whereabouts:
        """Where relative targets lie, as far as the trace has come."""
        if self._whereabouts is None:
            from outstep.engine.whereabouts import Whereabouts  # few contracts ask for it

            self._whereabouts = Whereabouts(self)
        return self._whereabouts

    def lane_named(self, lane: str) -> Lane | None:
        """Return what the header says of a lane."""
        return self._lanes_named.get(lane)

    def view_of(self, event: Event) -> View:
        """Return a view that only says where an event stands."""
        return View(self, event, None, issued=False)

    def function(self, rule: Rule) -> Callable[[Any], Any]:
        """Return the function that a rule names; raises `OutstepError` where it was not handed in."""
        assert isinstance(rule.kind, Python)
        found = self.parts.functions.get(rule.id)
        if found is None:
            raise problem(
                "engine/function-not-loaded",
                f"`{rule.id}` asks the function `{rule.kind.function}`, which was not loaded",
                help="hand in what loads it: `Monitor(outstep.ready(contract), header)`",
            )
        return found

    def results_of(self, _: Sequence[Selector]) -> tuple[Selector, ...]:
        """Return a selector of any result."""
        return ANY_RESULT

    def known(self, view: View, value: Any, selector: str = "") -> bool | Missing | Hidden:
        """Answer `known(v)`: mentioned in an event of the source that the view may know."""
        lanes = [view.lane] if view.lane is not None else list(self.lanes.values())
        found: bool | Hidden = False
        try:
            # Snapshots of the state belong to no lane, and are read in log order.
            for lane in (*lanes, self.world):
                text = self.known_text.get((lane.id, selector))
                before = view.seq if lane is self.world else view.at
                inside = text.mentions(value, before) if text is not None else False
                if inside is True:
                    return True
                found = found if inside is False else inside
        except ValueError as error:
            return Missing(str(error))
        if self.gap_known(view, self.plan.known[selector]):
            return Hidden("`known`: a gap may hide where it was mentioned")
        return found

    def _text_of(self, lane: LaneState, source: str) -> KnownText:
        from outstep.engine.known import KnownText  # few contracts ask what is known

        return self.known_text.setdefault((lane.id, source), KnownText())

    def _note_text(self, source: str, view: View, *, is_sure: bool) -> None:
        text = self._text_of(view.lane if view.lane is not None else self.world, source)
        told: Any = view.members()
        if view.call is not None:
            # What came back, not what was asked.
            told = [view.lookup(name) for name in ("data", "text", "error")]
        text.add(view.seq, told, is_sure=is_sure)

    # -- expressions in their three places --------------------------------------------------------------------------

    def evidence(self, expr: Expr, view: View) -> Any:
        """Evaluate in an evidence place: an absent member is missing."""
        return self._evaluate(expr, view, "missing")

    def frame(self, expr: Expr, view: View) -> Any:
        """Evaluate in a frame or condition: an absent member is null."""
        return self._evaluate(expr, view, "null")

    def condition(self, exprs: Sequence[Expr], view: View) -> bool | Missing | Hidden:
        """Evaluate a conjunction in a condition place."""
        return conjunction([self.frame(expr, view) for expr in exprs])

    def _evaluate(self, expr: Expr, view: View, absent: Any) -> Any:
        if self.watch is not None:
            self.watch(expr, view, absent)
        try:
            return evaluate(expr.node, view, absent)
        except TooCostly:
            self.too_costly(expr)
            return Hidden(f"`{expr.text}`: too costly to evaluate")

    # -- the end ----------------------------------------------------------------------------------------------------

    @property
    def was_aborted(self) -> bool:
        """Whether the run was stopped from outside, with nothing hidden."""
        return self.end is not None and self.end.end == "aborted"

    @property
    def was_stopped(self) -> bool:
        """Whether the run was stopped or its record cut off, so that what is pending is undecided."""
        return self._is_stopped

    def close(self) -> list[Ruling]:
        """Take the end of the trace and return the rulings that only it could settle."""
        end = self.end.end if self.end is not None else "completed" if self.header.complete else "cut_off"
        self._is_stopped = end != "completed"
        self.is_closing = True
        if end == "cut_off":
            place = self.last_seq + 1
            self.note_gap(Gap(seq=place, reason=END_GAP), is_recorded=True)
        self.pairing.close(self.lanes.values(), is_stopped=self._is_stopped)
        if self.applies is True:
            self.close_triggers()
            for monitor in self._closing:
                monitor.close()
        self.finish(self.applies)
        return self.take()

    def _applies(self) -> bool | Missing:
        expr = self.contract.applies_when
        assert expr is not None
        view = View(self, State(seq=0), None, issued=False)
        value = self.frame(expr, view)
        return value if isinstance(value, bool) else Missing("`applies_when` cannot be decided")

    def is_recorded(self, selectors: Sequence[Selector]) -> bool:
        """Return whether the format can hold what the selectors look at, and the trace has such lanes at all."""
        return all(self._can_hold(selector) for selector in selectors)

    def _can_hold(self, selector: Selector) -> bool:
        if selector.event_type not in self.header.records and selector.what != "end":
            return False
        if selector.what == "state" and "state" not in self.types_seen:
            return False
        by = selector.by
        return by is None or by in {"main", "any"} or self._has_actor(by)

    def _has_actor(self, by: str) -> bool:
        if by in {"user", "harness"}:
            return True
        return any(glob_fits(by, lane) for lane in (*self.lanes, *self._lanes_named))

    # -- who looks at an event --------------------------------------------------------------------------------------

    def listening(self, event_type: str, recorded: str) -> tuple[Listener, ...]:
        """Return who looks at an event of this type and tool, in order."""
        key = (event_type, recorded)
        found = self._listening.get(key)
        if found is None:
            canonical = self.canonical(recorded) if recorded else recorded
            found = tuple(
                listener
                for listener in self.plan.listeners.get(event_type, ())
                if _names_fit(listener.selector, self.names, recorded, canonical)
            )
            if len(self._listening) < MOST_NAMES:
                self._listening[key] = found
        return found

    def dispatch(self, event_type: str, recorded: str, view: View) -> None:
        """Let everyone who listens look at an event: rules first, then those who wait for it, then facts."""
        if self.applies is not True:
            return
        listeners = self.listening(event_type, recorded)
        if listeners:
            self.trigger_all(listeners, view)
            for listener in listeners:
                if listener.role != "for":
                    self.notice(listener, view)

    def notice(self, listener: Listener, view: View) -> None:
        """Let one who is no rule look at an event: a fact, or a rule that waits for evidence."""
        role = listener.role
        if role == "fact":
            match = self.match(listener.selector, view, None)
            if match is not False and not isinstance(match, Missing):
                write_fact(self, listener.owner, listener.slot, view, match)
        elif role == "forget":
            match = self.match_frame(listener.selector, view)
            if match is not False:
                forget_fact(self, listener.owner, listener.slot, view, match)
        elif role == "known":
            match = self.match(listener.selector, view, None)
            if match is True or isinstance(match, Hidden):
                self._note_text(self.plan.sources[listener.owner], view, is_sure=match is True)
        elif role == "kind":
            monitor = self.monitors[listener.owner]
            if monitor is not None:
                monitor.seen(listener.slot, view)
        else:
            self.mark(listener, view)

    def fact_holds(self, index: int, key: Any, view: View) -> bool | Hidden:
        """Return whether an entry of a fact is there."""
        return holds(self, index, key, view, self.contract.facts[index].name)

    def tables(self, index: int, view: View) -> list[Table]:
        """Return the tables in which a view reads a fact."""
        if self.plan.world[index]:
            return [self.world.tables[index]]
        if view.lane is None:
            return [lane.tables[index] for lane in self.lanes.values()] or [self.world.tables[index]]
        return [view.lane.tables[index]]


class Parts:
    """What all traces under one contract share: tools by name, compiled patterns, claim finder, schemas."""

    def __init__(self, contract: Contract, functions: Mapping[str, Callable[[Any], Any]]) -> None:
        self.functions = functions
        """What rules of the kind `python` ask, by rule."""
        self.tools: dict[str, Tool] = {tool.name: tool for tool in contract.tools}
        self._defaults = contract.defaults
        self._said: dict[str, Tool | None] = {}
        self.schemas: dict[int, Any] = {}
        self.verdicts: dict[tuple[int, ...], tuple[Verdict, ...]] = {}
        """Of plain traces in which all holds, by the number of satisfied instances of each rule."""
        self._claims = {claim.name: claim.prepared or claim.patterns for claim in contract.claims}
        self._finder: Any = None
        self._patterns: dict[str, Any] = {}

    def said_of(self, canonical: str) -> Tool | None:
        """Return what the contract says of a tool: its own entry, else what the globs that it fits give it."""
        tool = self.tools.get(canonical)
        if tool is None and self._defaults:
            if canonical not in self._said:
                self._said[canonical] = defaulted_tool(self._defaults, canonical)
            tool = self._said[canonical]
        return tool

    def monitor(self, index: int, rule: Rule, run: Run) -> KindMonitor:
        """Return the monitor of a rule."""
        from outstep.engine.monitors import monitor_of

        return monitor_of(index, rule, run)

    def find_claims(self, text: str) -> list[Claim]:
        """Return the claims that a message makes."""
        if self._finder is None:
            self._finder = self.claim_finder()
        found: list[Claim] = self._finder(text)
        return found

    def claim_finder(self) -> Callable[[str], list[Claim]]:
        """Return what finds claims in a text."""
        if not self._claims:
            return _no_claims
        from outstep.expr.claims import ClaimFinder

        return ClaimFinder(self._claims).find

    def read_text(self, reads: str | None, text: Any) -> Any:
        """Return the data that a result's text stands for, as `reads` says."""
        from outstep.engine.reading import read_text

        return read_text(reads, text, self._patterns)


def _no_claims(_: str) -> list[Claim]:
    return []


def conjunction(values: Sequence[Any]) -> bool | Missing | Hidden:
    """Return the four-valued conjunction: false wins, then hidden, then missing."""
    undecided: bool | Missing | Hidden = True
    for value in values:
        if value is False:
            return False
        if isinstance(value, Hidden):
            undecided = value
        elif value is not True and not isinstance(undecided, Hidden):
            undecided = value if isinstance(value, Missing) else Missing("not a truth value")
    return undecided


def _place(decided: tuple[str, int]) -> int:
    return decided[1]


def _steps(pointer: str) -> list[str]:
    """Return the steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _names_fit(selector: Selector, names: ToolNames, recorded: str, canonical: str) -> bool:
    if not selector.names or selector.what == "claim":
        return True
    return names.matches(selector.names, recorded, canonical)


_STEPS: Mapping[type, Callable[[Run, Any], None]] = {
    ToolCall: Run._step_call,
    ToolResult: Run._step_result,
    AssistantMessage: Run._step_message,
    Decision: Run._step_decision,
    UserMessage: Run._step_user,
    Context: Run._step_context,
    Approval: Run._step_approval,
    State: Run._step_state,
    Gap: Run._step_gap,
    RunEnd: Run._step_end,
}

__all__ = ["Parts", "Run", "Verdict", "Witness", "conjunction"]

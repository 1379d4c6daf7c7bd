"""A view: one event of a trace, and what the names of an expression mean there (LANGUAGE section 7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from outstep import codec
from outstep.codec import Json
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    Header,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.expr.values import CutText, Hidden, Missing

if TYPE_CHECKING:
    from outstep.engine.lanes import LaneState
    from outstep.engine.pairing import OpenCall
    from outstep.engine.run import Run
    from outstep.expr.claim import Claim

NOT_BOUND = Missing("not bound here")


class View:
    """One event with the names bound at it; values are decoded when first asked for."""

    __slots__ = (
        "_cache",
        "at",
        "call",
        "calls",
        "claim",
        "epoch",
        "event",
        "extra",
        "ignores_gaps",
        "lane",
        "let",
        "log",
        "outcome",
        "run",
        "said",
        "this",
    )

    def __init__(self, run: Run, event: Event, lane: LaneState | None, *, issued: bool) -> None:
        self.run = run
        self.event = event
        self.lane: Any = lane
        self.at = lane.start if issued and lane is not None else event.seq
        self.epoch = lane.epoch if lane is not None else 0
        self.log = not issued
        """Facts are read at the event's own place, not as its decision knew them."""
        self.calls = lane.calls if lane is not None else 0
        self.said = lane.said if lane is not None else ""
        self.call: OpenCall | None = None
        """Of a result: the call that it answers."""
        self.outcome = ""
        self.claim: Claim | None = None
        self.this: View | None = None
        self.ignores_gaps = False
        """For `judge: record`: only what is written counts."""
        self.extra: dict[str, Any] = {}
        """`it` and `at`."""
        self.let: Mapping[str, Any] = {}
        """Expressions of the rule's `let`, by name."""
        self._cache: dict[str, Any] = {}

    @property
    def seq(self) -> int:
        """`seq` of the event."""
        return self.event.seq

    @property
    def is_issued(self) -> bool:
        """Whether a model response or a program produced the event."""
        return not self.log

    def facing(self, this: View | None) -> View:
        """Return the same event as seen by a `where` whose `this` is another view."""
        twin = self._twin()
        twin.this = this
        return twin

    def element(self, it: Any, at: Any) -> View:
        """Return the same view with `it` and `at` bound."""
        twin = self._twin()
        twin.extra = {"it": it, "at": at}
        return twin

    def within(self, let: Mapping[str, Any], *, ignores_gaps: bool = False) -> View:
        """Return the same view with the names of a rule's `let` bound."""
        if not let and not ignores_gaps:
            return self
        twin = self._twin()
        twin.let = let
        twin.ignores_gaps = ignores_gaps
        return twin

    def claiming(self, claim: Claim) -> View:
        """Return the same message as one claim made in it."""
        twin = self._twin()
        twin.claim = claim
        return twin

    def _twin(self) -> View:
        twin = View.__new__(View)
        for slot in ("run", "event", "lane", "at", "epoch", "log", "calls", "said", "call", "outcome", "claim"):
            setattr(twin, slot, getattr(self, slot))
        twin.this = self.this
        twin.ignores_gaps = self.ignores_gaps
        twin.extra = self.extra
        twin.let = self.let
        # Event values are shared; what depends on `this`, `it` or `let` is not.
        twin._cache = {name: value for name, value in self._cache.items() if name in _READERS}
        return twin

    def lookup(self, name: str) -> Any:
        """Return the value of a name, `Missing` or `Hidden`."""
        try:
            return self._cache[name]
        except KeyError:
            value = self._cache[name] = self._find(name)
            return value

    def function(self, name: str, args: tuple[Any, ...]) -> Any:
        """Answer the functions that need the trace."""
        if name == "known":
            return self.run.known(self, *args)
        return NotImplemented

    def _find(self, name: str) -> Any:
        if name in self.extra:
            return self.extra[name]
        if name in self.let:
            return self.run.evidence(self.let[name], self)
        if name == "this":
            return self.this.members() if self.this is not None else self.members()
        reader = _READERS.get(name)
        if reader is not None:
            value = reader(self)
            if value is not NOT_BOUND:
                return value
        if self.this is not None and (name in self.this.extra or name in self.this.let or name == "match"):
            return self.this.lookup(name)
        return self.run.global_name(name, self)

    def members(self) -> dict[str, Any]:
        """Return the event as an object, for `this`."""
        found = {}
        for name in _MEMBERS.get(type(self.event), ()):
            value = self.lookup(name)
            if not isinstance(value, Missing):
                found[name] = value
        if self.claim is not None:
            found["sentence"] = self.claim.sentence
            found["match"] = dict(self.claim.groups)
        return found


def mask(value: Json, pointers: tuple[str, ...], root: str) -> Json:
    """Return a value of an event with its hidden parts made `Hidden` (text: `CutText`)."""
    for pointer in pointers:
        if pointer == root or root.startswith(pointer + "/") or pointer == "":
            return _veiled(value, pointer)
        if pointer.startswith(root + "/"):
            _mask_at(value, pointer[len(root) + 1 :].split("/"), pointer)
    return value


def _veiled(value: Json, pointer: str) -> Any:
    if isinstance(value, str):
        return CutText(value)
    return Hidden(f"`{pointer}` is redacted or cut in the record")


def _mask_at(value: Json, steps: list[str], pointer: str) -> None:
    for step in steps[:-1]:
        value = _child(value, step)
    last = steps[-1].replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        value[last] = _veiled(value.get(last), pointer)
    elif isinstance(value, list) and last.isdigit() and int(last) < len(value):
        value[int(last)] = _veiled(value[int(last)], pointer)


def _child(value: Json, step: str) -> Json:
    step = step.replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None


def _tool(view: View) -> Any:
    event = view.event
    if isinstance(event, ToolCall | Approval):
        return view.run.canonical(event.tool)
    if view.call is not None:
        return view.run.canonical(view.call.event.tool)
    return NOT_BOUND


def _args(view: View) -> Any:
    event = view.event
    call = event if isinstance(event, ToolCall) else view.call.event if view.call is not None else None
    if call is None:
        return NOT_BOUND
    return view.run.arguments(call)


def _data(view: View) -> Any:
    event = view.event
    if not isinstance(event, ToolResult):
        return NOT_BOUND
    return view.run.data(event, view.call)


def _text(view: View) -> Any:
    event = view.event
    if isinstance(event, ToolResult):
        return result_text(event)
    if isinstance(event, UserMessage | AssistantMessage | Context):
        return mask(event.text, event.hidden, "/text") if event.hidden else event.text
    return NOT_BOUND


def result_text(event: ToolResult) -> Any:
    """Return the raw text of a result: as recorded, else the JSON text of its structured content."""
    if event.text is not None:
        return mask(event.text, event.hidden, "/text") if event.hidden else event.text
    raw = bytes(event.data)
    if not raw:
        return ""
    value = codec.loads(raw)
    text = value if isinstance(value, str) else raw.decode()
    return CutText(text) if event.hidden else text


def _result(read: Callable[[ToolResult, View], Any]) -> Callable[[View], Any]:
    def reader(view: View) -> Any:
        event = view.event
        return read(event, view) if isinstance(event, ToolResult) else NOT_BOUND

    return reader


def _attribute(name: str, *types: type) -> Callable[[View], Any]:
    def reader(view: View) -> Any:
        event = view.event
        return getattr(event, name) if isinstance(event, types) else NOT_BOUND

    return reader


def _decision(view: View) -> Any:
    event = view.event
    return event.decision if isinstance(event, Approval) else NOT_BOUND


def _approver(view: View) -> Any:
    event = view.event
    return event.by if isinstance(event, Approval) else NOT_BOUND


def _state(view: View) -> Any:
    event = view.event
    return mask(codec.loads(event.state), event.hidden, "/state") if isinstance(event, State) else NOT_BOUND


def _said(view: View) -> Any:
    if not isinstance(view.event, ToolCall):
        return NOT_BOUND
    return _unless_hidden(view, "assistant.message", "said", view.said)


def _calls(view: View) -> Any:
    if not isinstance(view.event, AssistantMessage):
        return NOT_BOUND
    return _unless_hidden(view, "tool.call", "calls", view.calls)


def _unless_hidden(view: View, type_: str, name: str, value: Any) -> Any:
    """Return what the same response held before, unless a gap in it may hide some of it."""
    turn = getattr(view.event, "turn", None)
    for gap, place in view.run.gaps.all:
        is_here = gap.turn is not None and gap.turn == turn and gap.agent == view.lane.id and place < view.seq
        if is_here and gap.can_hide(type_):
            return Hidden(f"`{name}`: a gap may hide what the response held")
    return value


def _usage(view: View) -> Any:
    event = view.event
    return mask(dict(event.usage), event.hidden, "/usage") if isinstance(event, Decision) else NOT_BOUND


def _exit(event: ToolResult, _: View) -> Any:
    return Missing("`exit`: no exit status was recorded") if event.exit is None else event.exit


_READERS: dict[str, Callable[[View], Any]] = {
    "tool": _tool,
    "args": _args,
    "by": _attribute("by", ToolCall),
    "said": _said,
    "outcome": _result(lambda _, view: view.outcome),
    "ok": _result(lambda _, view: view.outcome == "ok"),
    "data": _data,
    "text": _text,
    "error": _result(lambda event, _: mask(event.error, event.hidden, "/error") if event.hidden else event.error),
    "exit": _result(_exit),
    "approval": _result(lambda event, view: view.run.approval(event, view)),
    "calls": _calls,
    "sentence": lambda view: view.claim.sentence if view.claim is not None else NOT_BOUND,
    "match": lambda view: dict(view.claim.groups) if view.claim is not None else NOT_BOUND,
    "decision": _decision,
    "approver": _approver,
    "what": _attribute("what", Context),
    "name": _attribute("name", Context),
    "version": _attribute("version", Context),
    "digest": _attribute("digest", Context),
    "state": _state,
    "model": _attribute("model", Decision),
    "usage": _usage,
}

_MEMBERS: dict[type, tuple[str, ...]] = {
    ToolCall: ("tool", "args", "by", "said"),
    ToolResult: ("tool", "args", "outcome", "ok", "data", "text", "error", "exit", "approval"),
    UserMessage: ("text",),
    AssistantMessage: ("text", "calls"),
    Approval: ("decision", "approver", "tool"),
    Context: ("what", "name", "version", "digest", "text"),
    State: ("state",),
    Decision: ("model", "usage"),
}


def trace_names(header: Header) -> dict[str, Any]:
    """Return what `trace` means: the header's fields that a rule may read."""
    source = header.sources[0] if header.sources else None
    return {
        "id": header.id,
        "harness": header.harness,
        "model": header.model,
        "prompt": header.prompt,
        "skills": list(header.skills),
        "tools": dict(header.tools),
        "config": header.config,
        "format": source.format if source else "",
        "version": source.version if source else "",
        "metrics": mean_metrics(header),
    }


def mean_metrics(header: Header) -> dict[str, Any]:
    """Return the scores of a run by name, exactly; where several gave one, their mean."""
    values: dict[str, list[Decimal]] = {}
    for metric in header.metrics:
        values.setdefault(metric.name, []).append(Decimal(repr(metric.value)))
    return {name: sum(some, Decimal()) / len(some) for name, some in values.items()}

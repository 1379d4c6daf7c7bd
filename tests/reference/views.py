"""What an expression can read at an event, and the expressions themselves (LANGUAGE 7, SEMANTICS 3 and 4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from outstep.codec import Unreadable, loads
from outstep.contracts.model import Tool
from outstep.contracts.selectors import Expr
from outstep.events import (
    Approval,
    AssistantMessage,
    Context,
    Decision,
    Event,
    RunEnd,
    State,
    ToolCall,
    ToolResult,
    UserMessage,
)
from outstep.expr.claims import Claim
from outstep.expr.evaluate import evaluate
from outstep.expr.values import CutText, Hidden, Missing, Value

from .hiding import decoded, exact, is_hidden, shown
from .outcomes import approval_at, settled_outcome, subject_of, tool_of
from .rewriting import HOLDS

if TYPE_CHECKING:
    from .scene import Scene

Absent = Literal["missing", "null"]
EVIDENCE: Absent = "missing"
CONDITION: Absent = "null"


class View(Struct, frozen=True, kw_only=True, eq=False):
    """An event, or a claim in it, at which expressions are read."""

    event: Event
    claim: Claim | None = None
    is_final: bool = False
    """Picked as the final message of the run."""
    lets: tuple[tuple[str, Expr], ...] = ()
    element: tuple[Value, Value] | None = None
    """`it` and `at`, inside `each` or `about`."""
    this: View | None = None
    """The event of `for`, where a `where` picks another one."""

    @property
    def place(self) -> tuple[int, str, int]:
        """Tells one view of an event from another: a claim is one of its own."""
        claim = self.claim
        return (self.event.seq, "", -1) if claim is None else (self.event.seq, claim.name, claim.index)


def bound(scene: Scene, view: View) -> dict[str, Value]:
    """Return the names that the view's event binds; one that maps to `Missing` is absent from the record."""
    event = view.event
    if isinstance(event, ToolCall):
        names = _call(scene, event)
    elif isinstance(event, ToolResult):
        names = _result(scene, event)
    elif isinstance(event, AssistantMessage):
        names = _message(scene, event, view.claim)
    elif isinstance(event, UserMessage):
        names = {"text": shown(event.text, event.hidden, "text")}
    elif isinstance(event, Approval):
        names = {"decision": event.decision, "approver": event.by, "tool": _tool_of_approval(scene, event)}
    elif isinstance(event, Context):
        names = {part: shown(getattr(event, part), event.hidden, part) for part in ("what", "name", "digest", "text")}
    elif isinstance(event, State):
        names = {"state": shown(decoded(event.state), event.hidden, "state")}
    elif isinstance(event, Decision):
        names = {"model": event.model, "usage": shown(exact(event.usage), event.hidden, "usage")}
    else:
        names = {}
    if not isinstance(event, State | RunEnd):
        names |= {"agent": getattr(event, "agent", "main"), "turn": getattr(event, "turn", None)}
    return names


def _call(scene: Scene, call: ToolCall) -> dict[str, Value]:
    return {
        "tool": scene.names.canonical(call.tool),
        "args": arguments(scene, call),
        "by": call.by,
        "said": _said(scene, call),
    }


def arguments(scene: Scene, call: ToolCall) -> Value:
    """Return the arguments of a call; what was omitted reads as its default."""
    if call.args_raw is not None:
        return Missing("the arguments are no JSON")
    args = shown(decoded(call.args), call.hidden, "args")
    tool = tool_of(scene.contract, scene.names, call.tool)
    return args if tool is None or tool.args is None else _with_defaults(args, tool.args)


def _with_defaults(args: Value, schema: dict[str, Any]) -> Value:
    properties = schema.get("properties")
    if type(args) is not dict or not isinstance(properties, dict):
        return args
    filled = dict(args)
    for name, part in properties.items():
        if not isinstance(part, dict):
            continue
        if name in filled:
            filled[name] = _with_defaults(filled[name], part)
        elif "default" in part:
            filled[name] = exact(part["default"])
    return filled


def _said(scene: Scene, call: ToolCall) -> Value:
    """What the same response said before the call."""
    if call.turn is None:
        return ""
    for hole in scene.trace.holes:
        in_response = hole.turn == call.turn and hole.seq < call.seq and hole.is_in(call.agent)
        if in_response and hole.can_hide("assistant.message"):
            return Hidden("a gap may hide what was said before this call")
    texts = [
        shown(x.text, x.hidden, "text")
        for x in scene.trace.events
        if isinstance(x, AssistantMessage) and x.agent == call.agent and x.turn == call.turn and x.seq < call.seq
    ]
    if any(isinstance(text, Hidden) for text in texts):
        return Hidden("what was said before this call is hidden")
    plain = "\n".join(str.__str__(text) for text in texts)
    return CutText(plain) if any(isinstance(text, CutText) for text in texts) else plain


def _result(scene: Scene, result: ToolResult) -> dict[str, Value]:
    call = scene.trace.pairing.call_of[result.seq]
    outcome = scene.outcome(result)
    return {
        **_content(scene, result, call),
        "outcome": outcome,
        "ok": outcome == "ok",
        "approval": _approval(scene, result, call),
    }


def _content(scene: Scene, result: ToolResult, call: ToolCall) -> dict[str, Value]:
    tool = tool_of(scene.contract, scene.names, call.tool)
    return {
        "tool": scene.names.canonical(call.tool),
        "args": arguments(scene, call),
        "data": result_data(result, tool),
        "text": _result_text(result),
        "error": shown(result.error, result.hidden, "error"),
        "exit": Missing("`exit`: the record tells no exit status") if result.exit is None else result.exit,
    }


def _result_text(result: ToolResult) -> Value:
    if result.text is None and not is_hidden(result.hidden, "text"):
        return Missing("`text`: the record holds no text")
    return shown(result.text, result.hidden, "text")


def result_data(result: ToolResult, tool: Tool | None) -> Value:
    """Return `data`: the structured content, else what the text holds."""
    reads = None if tool is None else tool.reads
    text = _result_text(result)
    if reads is not None and not isinstance(text, Missing):
        return _read_text(text, reads)
    data = shown(decoded(result.data), result.hidden, "data")
    if not isinstance(data, Missing):
        return data
    if isinstance(text, Missing):
        return Missing("`data`: the record holds no content")
    if type(text) is not str:
        return text
    try:
        whole = loads(text.strip())
    except Unreadable:
        return text
    return whole if isinstance(whole, dict | list) else text


def _read_text(text: Value, reads: str) -> Value:
    if reads == "text" or isinstance(text, Hidden):
        return text
    if isinstance(text, CutText):
        return Hidden("the text is cut")
    if reads == "json":
        return _first_json(text)
    from outstep.expr.patterns import compile_pattern

    groups = compile_pattern(reads).groups(text)
    if groups is None:
        return Missing("`data`: the text does not match `reads`")
    return {name: part for name, part in groups.items() if part is not None}


def _first_json(text: str) -> Value:
    """Return the first JSON object or array in a text, else the scalar that is all of it."""
    decoder = json.JSONDecoder()
    for at, char in enumerate(text):
        if char in "{[":
            try:
                _, end = decoder.raw_decode(text, at)
                return loads(text[at:end])
            except (ValueError, Unreadable, RecursionError):
                continue
    try:
        return loads(text.strip())
    except Unreadable:
        return Missing("`data`: the text holds no JSON")


def recorded_outcome(scene: Scene, result: ToolResult) -> str:
    """Return the outcome of a result, corrected by the keys of its tool."""
    call = scene.trace.pairing.call_of[result.seq]
    tool = tool_of(scene.contract, scene.names, call.tool)
    if tool is None:
        return settled_outcome(result.outcome)
    names = _content(scene, result, call)
    names |= {"outcome": result.outcome, "ok": result.outcome == "ok", "approval": _approval(scene, result, call)}
    names |= {"agent": result.agent, "turn": result.turn}
    truths: dict[str, bool | None] = {}
    for key in ("denied_when", "unknown_when", "fails_when", "succeeds_when"):
        expr: Expr | None = getattr(tool, key)
        if expr is None:
            truths[key] = False
            continue
        value = evaluate(expr.node, _Bare(scene, names), CONDITION)
        truths[key] = value if type(value) is bool else None
    return settled_outcome(
        result.outcome,
        truths["denied_when"],
        truths["unknown_when"],
        truths["fails_when"],
        truths["succeeds_when"],
        has_fails=tool.fails_when is not None,
        has_succeeds=tool.succeeds_when is not None,
    )


def _approval(scene: Scene, result: ToolResult, call: ToolCall) -> Value:
    found = approval_at(result, call, scene.trace.events, scene.names)
    for hole in scene.trace.holes:
        if hole.can_hide("approval") and (-1 if found is None else found.seq) < hole.seq < result.seq:
            return Hidden("a gap may hide a decision on this call")
    return "none" if found is None else found.decision


def _tool_of_approval(scene: Scene, approval: Approval) -> str:
    if approval.tool:
        return scene.names.canonical(approval.tool)
    call = subject_of(approval, scene.trace.events)
    return "" if call is None else scene.names.canonical(call.tool)


def _message(scene: Scene, message: AssistantMessage, claim: Claim | None) -> dict[str, Value]:
    text = shown(message.text, message.hidden, "text")
    if claim is not None:
        return {"sentence": claim.sentence, "text": text, "match": dict(claim.groups)}
    return {"text": text, "calls": _calls_before(scene, message)}


def _calls_before(scene: Scene, message: AssistantMessage) -> Value:
    """Count the calls before a message in the same response."""
    if message.turn is None:
        return 0
    for hole in scene.trace.holes:
        in_response = hole.turn == message.turn and hole.seq < message.seq and hole.is_in(message.agent)
        if in_response and hole.can_hide("tool.call"):
            return Hidden("a gap may hide calls before this message")
    return sum(
        1
        for x in scene.trace.events
        if isinstance(x, ToolCall) and x.agent == message.agent and x.turn == message.turn and x.seq < message.seq
    )


# Expressions


class _Bare:
    """The surroundings of an outcome key: the result, without facts."""

    def __init__(self, scene: Scene, names: dict[str, Value]) -> None:
        self._scene = scene
        self._names = names

    def lookup(self, name: str) -> Value:
        if name in self._names:
            value = self._names[name]
            return None if isinstance(value, Missing) and name in ("exit", "text", "data") else value
        if name == "this":
            return members(self._names)
        return self._scene.of_the_run(name)

    def function(self, _name: str, _args: tuple[Value, ...]) -> Value:
        return NotImplemented


def members(names: dict[str, Value]) -> dict[str, Value]:
    """Return `this`: an object of the names that the record tells."""
    return {name: value for name, value in names.items() if not isinstance(value, Missing)}


class Surroundings:
    """What the names of an expression mean at a view (SEMANTICS section 3, *Joins*)."""

    def __init__(self, scene: Scene, view: View, absent: Absent) -> None:
        self._scene = scene
        self._view = view
        self._absent = absent

    def lookup(self, name: str) -> Value:
        """Return the value of a name; raises `KeyError`."""
        view = self._view
        if name.startswith(HOLDS):
            return self._scene.facts.holds(name[1:], view)
        own = bound(self._scene, view)
        if name in own:
            value = own[name]
            absent = isinstance(value, Missing) and name in ("exit", "text", "data")
            return None if absent and self._absent == "null" else value
        if name == "this":
            return members(bound(self._scene, view.this or view))
        if view.this is not None and self._is_local(view.this, name):
            return Surroundings(self._scene, view.this, self._absent)._local(name)
        if self._is_local(view, name):
            return self._local(name)
        if name in self._scene.facts.names:
            return self._scene.facts.read(name, view)
        return self._scene.of_the_run(name)

    def _is_local(self, view: View, name: str) -> bool:
        if name in ("it", "at"):
            return view.element is not None
        return any(let == name for let, _ in view.lets) or (name == "match" and view.claim is not None)

    def _local(self, name: str) -> Value:
        view = self._view
        if name == "it" and view.element is not None:
            return view.element[0]
        if name == "at" and view.element is not None:
            return view.element[1]
        for let, expr in view.lets:
            if let == name:
                return self._scene.value(expr, view, self._absent)
        return bound(self._scene, view)[name]

    def function(self, name: str, args: tuple[Value, ...]) -> Value:
        """Answer `known`."""
        return self._scene.known_value(self._view, args) if name == "known" else NotImplemented

"""The pack `integrity`: whether the record itself holds together (LANGUAGE section 8, SEMANTICS 1 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from outstep.codec import Unreadable, loads
from outstep.events import Context, Gap, ToolCall, ToolResult

from .outcomes import approval_at, place_of, tool_of
from .scene import Scene
from .verdicts import HIDDEN_EVIDENCE, UNFINISHED, Instance


def integrity(scene: Scene, rule_id: str) -> list[Instance]:
    """Return the instances of a rule of the pack."""
    return list(RULES[rule_id](scene))


def _calls(scene: Scene) -> list[ToolCall]:
    return [event for event in scene.trace.events if isinstance(event, ToolCall)]


def _results(scene: Scene) -> list[ToolResult]:
    return [event for event in scene.trace.events if isinstance(event, ToolResult)]


def _each(events: list[Any], is_bad: Callable[[Any], bool]) -> Iterator[Instance]:
    for event in events:
        yield Instance(event.seq, "", "violated" if is_bad(event) else "satisfied")


def _missing_result(scene: Scene) -> Iterator[Instance]:
    trace = scene.trace
    answered = {*trace.pairing.result_of, *(call.seq for call in trace.pairing.early.values())}
    for call in _calls(scene):
        if call.seq in answered:
            yield Instance(call.seq, "", "satisfied")
        elif _goes_on(scene, call) or (trace.written_end == "completed" and not _breaks_off(scene, call)):
            yield Instance(call.seq, "", "violated")
        else:
            yield Instance(call.seq, "", "inconclusive", UNFINISHED)


def _goes_on(scene: Scene, call: ToolCall) -> bool:
    """Return whether the lane of a call went on: a later decision of it opened."""
    trace = scene.trace
    own = trace.decision(call)
    return any(trace.start(decision) > call.seq for decision in trace.decisions(call.agent) if decision != own)


def _breaks_off(scene: Scene, call: ToolCall) -> bool:
    """Return whether a gap of its own lane, behind a call, may hide its result."""
    gaps = [event for event in scene.trace.events if isinstance(event, Gap)]
    return any(gap.seq > call.seq and gap.agent == call.agent and gap.can_hide("tool.result") for gap in gaps)


def _orphan(scene: Scene) -> Iterator[Instance]:
    trace = scene.trace
    return _each(_results(scene), lambda r: r.seq in trace.pairing.orphans and not trace.lost_call(r))


def _earlier(scene: Scene, call: ToolCall) -> list[ToolCall]:
    """Return the earlier calls of the same id in the same lane."""
    return [x for x in _calls(scene) if x.seq < call.seq and x.call_id == call.call_id and x.agent == call.agent]


def _is_in_place(scene: Scene, call: ToolCall, earlier: ToolCall) -> bool:
    events = scene.trace.events
    return place_of(call, events) == place_of(earlier, events)


def _duplicate_call(scene: Scene) -> Iterator[Instance]:
    def is_bad(call: ToolCall) -> bool:
        return bool(call.call_id) and any(_is_in_place(scene, call, x) for x in _earlier(scene, call))

    return _each(_calls(scene), is_bad)


def _reused(scene: Scene) -> Iterator[Instance]:
    def is_bad(call: ToolCall) -> bool:
        earlier = _earlier(scene, call)
        return bool(call.call_id and earlier) and not any(_is_in_place(scene, call, x) for x in earlier)

    return _each(_calls(scene), is_bad)


def _duplicate_result(scene: Scene) -> Iterator[Instance]:
    return _each(_results(scene), lambda result: result.seq in scene.trace.pairing.second)


def _early_result(scene: Scene) -> Iterator[Instance]:
    return _each(_results(scene), lambda result: result.seq in scene.trace.pairing.early)


def _empty_id(scene: Scene) -> Iterator[Instance]:
    return _each(_calls(scene), lambda call: not call.call_id)


def _empty_name(scene: Scene) -> Iterator[Instance]:
    return _each(_calls(scene), lambda call: not call.tool)


def _remarks(what: str) -> Callable[[Scene], Iterator[Instance]]:
    def find(scene: Scene) -> Iterator[Instance]:
        found = [x for x in scene.trace.events if isinstance(x, Context) and x.what == what]
        for remark in found:
            yield Instance(remark.seq, "", "violated")
        if not found:
            yield Instance(None, "", "satisfied")

    return find


def _unreadable(scene: Scene) -> Iterator[Instance]:
    return _each(_calls(scene), lambda call: call.args_raw is not None)


def _undeclared(scene: Scene) -> Iterator[Instance]:
    declared = {tool.name for tool in scene.contract.tools}
    return _each(_calls(scene), lambda call: bool(call.tool) and scene.names.canonical(call.tool) not in declared)


def _fit(scene: Scene) -> Iterator[Instance]:
    for call in _calls(scene):
        tool = tool_of(scene.contract, scene.names, call.tool)
        if tool is None or tool.args is None or call.args_raw is not None or not bytes(call.args):
            continue
        try:
            args = loads(call.args)
        except Unreadable:
            continue
        bad, doubtful = _misfits(args, tool.args, call.hidden)
        if bad:
            yield Instance(call.seq, "", "violated")
        elif doubtful:
            yield Instance(call.seq, "", "inconclusive", HIDDEN_EVIDENCE)
        else:
            yield Instance(call.seq, "", "satisfied")


def _misfits(args: Any, schema: dict[str, Any], hidden: tuple[str, ...]) -> tuple[bool, bool]:
    """Return whether a visible part of the arguments does not fit, and whether a part is hidden."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def is_number(_: Any, value: Any) -> bool:
        return isinstance(value, int | Decimal) and not isinstance(value, bool)

    def is_integer(_: Any, value: Any) -> bool:
        return is_number(_, value) and value == int(value)

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({"number": is_number, "integer": is_integer})
    validator = extend(Draft202012Validator, type_checker=types)(schema)  # type: ignore[no-untyped-call]
    paths = [pointer.split("/")[2:] for pointer in hidden if pointer.split("/")[1:2] == ["args"]]
    bad = False
    for error in validator.iter_errors(args):
        place = [str(step) for step in error.absolute_path]
        if not any(place[: len(path)] == path or path[: len(place)] == place for path in paths):
            bad = True
    return bad, bool(paths)


def _executed(scene: Scene) -> Iterator[Instance]:
    trace = scene.trace
    for result in _results(scene):
        call = trace.pairing.call_of.get(result.seq)
        if call is None:
            continue
        approval = approval_at(result, call, trace.events, scene.names)
        outcome = scene.outcome(result)
        if approval is None or approval.decision != "denied" or outcome not in ("ok", "unknown"):
            yield Instance(result.seq, "", "satisfied")
        elif outcome == "ok":
            yield Instance(result.seq, "", "violated")
        else:
            yield Instance(result.seq, "", "inconclusive", HIDDEN_EVIDENCE)


def _incomplete(scene: Scene) -> Iterator[Instance]:
    trace = scene.trace
    found = [Instance(x.seq, "", "inconclusive", HIDDEN_EVIDENCE) for x in trace.events if isinstance(x, Gap)]
    if trace.written_end == "cut_off":
        end = trace.run_end
        found.append(Instance(None if end is None else end.seq, "", "inconclusive", UNFINISHED))
    yield from found or [Instance(None, "", "satisfied")]


RULES: dict[str, Callable[[Scene], Iterator[Instance]]] = {
    "MISSING_TOOL_RESULT": _missing_result,
    "ORPHAN_TOOL_RESULT": _orphan,
    "DUPLICATE_CALL_ID": _duplicate_call,
    "DUPLICATE_TOOL_RESULT": _duplicate_result,
    "EMPTY_CALL_ID": _empty_id,
    "EMPTY_TOOL_NAME": _empty_name,
    "DUPLICATE_SEQ": _remarks("record.duplicate_seq"),
    "RESULT_BEFORE_CALL": _early_result,
    "UNREADABLE_ARGUMENTS": _unreadable,
    "ARGUMENTS_FIT": _fit,
    "EXECUTED_ALTHOUGH_DENIED": _executed,
    "INCOMPLETE_TRACE": _incomplete,
    "CALL_ID_REUSED": _reused,
    "UNKNOWN_RECORD": _remarks("record.unknown"),
    "UNDECLARED_TOOL": _undeclared,
}

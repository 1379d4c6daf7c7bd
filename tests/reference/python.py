"""The verdict of the kind `python`: a function of the whole trace, and whether anything that it reads is hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any

from outstep import codec
from outstep.contracts.kinds import Python
from outstep.contracts.model import Rule
from outstep.events import EVENT_TYPES, Event, ToolCall, ToolResult
from outstep.expr.values import Hidden, Missing

from .scene import Scene
from .verdicts import HIDDEN_EVIDENCE, NOT_RECORDED, Instance
from .views import View, bound

Functions = Mapping[str, Callable[[Any], Any]]
BROKEN = "broken-check"


def python(scene: Scene, rule: Rule, functions: Functions) -> list[Instance]:
    """Return what a function finds; one that is no check of the trace decides nothing."""
    assert isinstance(rule.kind, Python)
    function = functions[rule.id]
    reads = getattr(function, "reads", EVENT_TYPES)
    if isinstance(reads, str):
        return [Instance(None, "", "inconclusive", BROKEN)]
    if any(hole.can_hide(*reads) for hole in scene.trace.holes) or _is_veiled(scene, reads):
        return [Instance(None, "", "inconclusive", HIDDEN_EVIDENCE)]
    if hasattr(function, "reads") and not set(reads) <= {*scene.trace.header.records, "gap", "run.end"}:
        return [Instance(None, "", "inconclusive", NOT_RECORDED)]
    try:
        return _found(scene, function) or [Instance(None, "", "satisfied")]
    except (Exception, SystemExit):
        return [Instance(None, "", "inconclusive", BROKEN)]


def _is_veiled(scene: Scene, reads: Any) -> bool:
    return any(getattr(event, "hidden", ()) and _type(event) in reads for event in scene.trace.events)


def _found(scene: Scene, function: Callable[[Any], Any]) -> list[Instance]:
    """Return the findings as instances; raises whatever says that there is none to speak of."""
    events = [_seen(scene, event) for event in scene.trace.events]
    trace = SimpleNamespace(events=list(events), params=dict(scene.contract.params))
    found = function(trace)
    told = [found] if isinstance(found, str | tuple) else list(islice(found or (), 1001))
    if trace.events != events or len(told) > 1000:
        raise ValueError
    seqs = {event["seq"] for event in events}
    instances: list[Instance] = []
    for one in told:
        sentence, *places = one if isinstance(one, tuple) else (one,)
        named = [place["seq"] if isinstance(place, dict) else place for place in places]
        if not isinstance(sentence, str) or not set(named) <= seqs:
            raise ValueError
        instances.append(Instance(named[0] if named else None, "", "violated"))
    return instances


def _seen(scene: Scene, event: Event) -> dict[str, Any]:
    members: dict[str, Any] = {"type": _type(event), **codec.loads(codec.encode(event))}
    if isinstance(event, ToolCall):
        members["tool"] = scene.names.canonical(event.tool)
    elif isinstance(event, ToolResult):
        call = scene.trace.pairing.call_of.get(event.seq)
        if call is not None:
            data = bound(scene, View(event=event)).get("data")
            members["tool"] = scene.names.canonical(call.tool)
            members["call"] = call.seq
            members["outcome"] = scene.outcome(event)
            members["data"] = None if isinstance(data, Missing | Hidden) else data
    return members


def _type(event: Event) -> str:
    return str(event.__struct_config__.tag)

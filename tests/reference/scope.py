"""The verdict of the kind `scope`: each call at where everything before it left its lane.

What lies inside is the business of `outstep.scope`, whose own tests hold it against bash and others; here stand which
targets a call has, where they lie, and what hidden and undecided ones come to.
"""

from __future__ import annotations

from typing import Any

from outstep.contracts.kinds import Scope
from outstep.contracts.kinds.scope import boundary_of
from outstep.contracts.model import Rule
from outstep.events import Context, ToolCall
from outstep.expr.values import CutText, Hidden, Missing
from outstep.scope.commands.judging import UNKNOWN
from outstep.scope.harnesses import TOOLS
from outstep.scope.model import Surroundings, Target
from outstep.scope.targets import targets_of

from .instances import Case, cases
from .scene import Scene
from .verdicts import HIDDEN_EVIDENCE, Instance
from .views import View, bound

VERBS = {"read": "read", "write": "write", "both": "read and write", "run": "run", "fetch": "fetch"}
HIDDEN_MARK = "\x00hidden"


def scope(scene: Scene, rule: Rule) -> list[Instance]:
    """Return an instance for each target that is not inside, else one for the call."""
    found: list[Instance] = []
    for case in cases(scene, rule):
        undecided = case.undecided()
        found += [undecided] if undecided is not None else _of_call(scene, rule, case)
    return found


def _of_call(scene: Scene, rule: Rule, case: Case) -> list[Instance]:
    assert isinstance(rule.kind, Scope)
    call = case.view.event
    assert isinstance(call, ToolCall)
    targets = _targets(scene, call)
    unsure = "inconclusive" if rule.missing == "inconclusive" else "violated"
    if targets is None:
        tool = next((tool for tool in scene.contract.tools if tool.name == scene.names.canonical(call.tool)), None)
        if call.tool not in TOOLS and (tool is None or not (tool.targets or tool.effect)):
            unsure = "inconclusive"
        return [Instance(case.seq, call.tool, unsure, "undecided-target")]  # type: ignore[arg-type]
    is_shell = any(target.kind == "command" for target in targets)
    around = _around(scene, call, call.agent) if is_shell else _folder(scene, call, call.agent)
    around = Surroundings(cwd=around.cwd, links=_links(scene, call), elsewhere=around.elsewhere, doubt=around.doubt,
                          variables=around.variables)  # fmt: skip
    base = Surroundings(cwd="" if _folder(scene, call, "main").cwd == UNKNOWN else _folder(scene, call, "main").cwd)
    open_ = [target for target in targets if target.value != HIDDEN_MARK]
    instances: dict[tuple[str, str, str], Instance] = {}
    for judged in boundary_of(rule.kind).judge(open_, around, base):
        key = f"{VERBS[judged.access]} {judged.target}"
        place = (judged.access, judged.target, judged.reason)
        if judged.verdict == "escaped":
            instances.setdefault(place, Instance(case.seq, key, "violated"))
        elif judged.verdict == "undecided":
            instances.setdefault(place, Instance(case.seq, key, unsure, "undecided-target"))  # type: ignore[arg-type]
    hidden = [
        Instance(case.seq, target.argument, "inconclusive", HIDDEN_EVIDENCE)
        for target in targets
        if target.value == HIDDEN_MARK and (rule.kind.read is not None or rule.kind.write is not None)
    ]
    return [*instances.values(), *hidden] or [Instance(case.seq, "", "satisfied")]


def _targets(scene: Scene, call: ToolCall) -> list[Target] | None:
    args: Any = {}
    if call.args_raw is not None:
        return None
    if bytes(call.args):
        args = _marked(bound(scene, View(event=call)).get("args"))
    tool = next((tool for tool in scene.contract.tools if tool.name == scene.names.canonical(call.tool)), None)
    effect = tool.effect if tool is not None else None
    bundled = targets_of(call.tool, args, effect=effect) or []
    own: list[Target] = []
    for kind, exprs in (tool.targets if tool is not None else {}).items():
        values = [scene.evidence(expr, View(event=call)) for expr in exprs]
        there = [(expr, value) for expr, value in zip(exprs, values, strict=True) if _is_there(value)]
        if there:
            expr, value = there[0]
            known = TOOLS[call.tool].effect if call.tool in TOOLS else None
            access: Any = {"command": "run", "url": "fetch", "host": "fetch"}.get(kind, effect or known or "both")
            own.append(Target(kind, _marked(value), access, expr.text.removeprefix("args.")))  # type: ignore[arg-type]
    said = [target.value for target in own]
    return own + [target for target in bundled if target.value not in said]


def _is_there(value: Any) -> bool:
    return value is not None and not isinstance(value, Missing)


def _marked(value: Any) -> Any:
    if isinstance(value, Hidden | CutText):
        return HIDDEN_MARK
    if isinstance(value, dict):
        return {name: _marked(part) for name, part in value.items()}
    return [_marked(part) for part in value] if isinstance(value, list) else value


def _folder(scene: Scene, call: ToolCall, lane: str) -> Surroundings:
    """Return the folder of a lane before a call, as recorded."""
    told = [x.name for x in scene.trace.events
            if isinstance(x, Context) and x.what == "cwd" and x.agent == lane and x.seq < call.seq]  # fmt: skip
    if told:
        return Surroundings(cwd=told[-1])
    named = scene.trace.lanes.get(lane)
    if named is not None and named.cwd:
        return Surroundings(cwd=named.cwd)
    if named is not None and named.parent is not None:
        return _folder(scene, call, named.parent)
    return Surroundings(cwd=scene.trace.header.cwd or UNKNOWN)


def _around(scene: Scene, call: ToolCall, lane: str) -> Surroundings:
    """Return where the shell of a lane is before a call: every earlier call of it, with the outcome known by then."""
    around = _folder(scene, call, lane)
    for x in scene.trace.events:
        if isinstance(x, ToolCall) and x.agent == lane and x.seq < call.seq:
            result = scene.trace.pairing.result_of.get(x.seq)
            outcome = scene.outcome(result) if result is not None and result.seq < call.seq else "ok"
            targets = _targets(scene, x)
            if targets:
                around = around.after(x.tool, {}, outcome, targets=targets)
    return around


def _links(scene: Scene, call: ToolCall) -> tuple[tuple[str, str], ...]:
    lanes = scene.trace.lane_names()
    return tuple(link for lane in lanes for link in _around(scene, call, lane).links)

"""Recorded runs held against a boundary: a scenario, an allowlist, or the scope rules of a profile.

docs: docs/cli.md#scope
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from outstep import __version__, codec
from outstep.adapters.base import Document, Options, ReadLog
from outstep.adapters.discover import Found, documents, streams
from outstep.containment.judged import PROFILES, Boundary, JudgedRun, ScopeReport, deeds_of, report_of
from outstep.containment.record import parse_run_record
from outstep.containment.report import Fate, Run, Status, run_of
from outstep.contracts.kinds import Scope
from outstep.contracts.model import Contract
from outstep.engine.monitor import Compiled, judge
from outstep.errors import OutstepError, Problem, problem
from outstep.events import Event, Gap, Header, RunEnd, ToolCall, ToolResult
from outstep.findings import Ruling
from outstep.scope.model import Action, ActionResult, Judgement, Scenario
from outstep.scope.observer import ScopeObserver
from outstep.workflow.contracts import load_contract
from outstep.workflow.traces import Trace, in_traces

DEFAULT_CWD = Scenario(id="").cwd
LARGEST_RECORD = 1 << 26
_FATES: dict[str, Fate] = {"ok": "succeeded", "failed": "executed", "denied": "refused"}


def scope_report(
    paths: Sequence[str],
    boundary: Scenario | Contract | dict[str, Scenario],
    options: Options,
    *,
    format: str | None = None,
    cwd: str = "",
) -> ScopeReport:
    """Return what is to be said of the recorded runs in files, folders and patterns.

    `boundary` is a scenario, a contract whose scope rules count, or the scenarios of a battery by id, for run records
    that name theirs. `cwd` is where traces ran that do not tell it.
    """
    log = ReadLog()
    found = documents(paths, log, None)
    runs: list[JudgedRun] = []
    rest: list[Found] = []
    folders: set[str] = set()
    for one in found:
        data = _run_record(one.document)
        if data is None:
            rest.append(one)
            continue
        folders.add(one.folder)
        try:
            runs.append(_of_record(data, one.document.uri, boundary))
        except OutstepError as error:
            log.faults += error.problems
    # A folder of run records may hold their scenario, too, which is no trace.
    rest = [replace(one, folder="") if one.folder in folders else one for one in rest]
    for _, _, batches in streams(rest, format, options, log) if rest else ():
        try:
            runs += [_of_trace(_placed(trace, cwd), boundary) for trace in in_traces(batches)]
        except OutstepError as error:
            log.faults += error.problems
    if not runs and not log.faults:
        log.faults.append(
            Problem(
                code="input/no-traces",
                sentence="there is no recorded run in what was given",
                help="nothing was judged: give files or folders of traces, or run records",
            )
        )
    return report_of(f"outstep {__version__}", _described(boundary), runs, list(dict.fromkeys(log.faults)))


def profile(name: str) -> Contract:
    """Return the scope rules of a profile; raises `OutstepError` for another name."""
    from outstep.errors import suggestion

    if name not in PROFILES:
        help = suggestion(name, PROFILES) or f"one of: {', '.join(PROFILES)}"
        raise problem("usage/unknown-profile", f"there is no profile `{name}`", help=help)
    contract = load_contract(name)
    return replace(contract, rules=tuple(rule for rule in contract.rules if isinstance(rule.kind, Scope)))


def _run_record(document: Document) -> bytes | None:
    """Return the bytes of a run record, or none for anything else."""
    try:
        head = document.head(LARGEST_RECORD)
    except OSError:
        return None
    if head.lstrip()[:1] != b"{" or b'"status"' not in head or b'"actions"' not in head:
        return None
    try:
        whole = codec.loads(head)
    except codec.Unreadable:
        return None
    return head if isinstance(whole, dict) and "scenario" in whole and "status" in whole else None


def _of_record(data: bytes, source: str, boundary: Scenario | Contract | dict[str, Scenario]) -> JudgedRun:
    record = parse_run_record(data, source)
    if isinstance(boundary, Contract):
        raise problem(
            "run/no-scenario",
            f"`{source}` is a run record of the scenario `{record.scenario}`, which a profile does not hold",
            help="give its scenario: --scenario FILE, or --battery NAME",
        )
    scenario = boundary.get(record.scenario) if isinstance(boundary, dict) else boundary
    if scenario is None or (scenario.id != record.scenario and isinstance(boundary, Scenario) and boundary.id != ALLOW):
        raise problem(
            "run/no-scenario",
            f"`{source}` is a run of the scenario `{record.scenario}`, which was not given",
            help="give the scenario that was run: --scenario FILE, or --battery NAME",
        )
    result = ScopeObserver().evaluate(scenario, record.attempted())
    run = run_of(result, record.ended, epoch=record.epoch, fates=[action.fate for action in record.actions])
    return JudgedRun(id=record.scenario, source=source, model=record.model, deeds=deeds_of(run), run=run)


ALLOW = "--allow"
"""Id of a scenario that only the command line knows; it fits any run."""


def _of_trace(trace: Trace, boundary: Scenario | Contract | dict[str, Scenario]) -> JudgedRun:
    calls = [
        (number, event)
        for number, event in enumerate(trace.events, 1)
        if isinstance(event, ToolCall) and event.by in ("model", "program")
    ]
    outcomes = _outcomes(trace.events)
    if isinstance(boundary, Contract):
        result = _by_rules(trace, boundary, [event for _, event in calls])
    elif isinstance(boundary, dict):
        raise problem("usage/arguments", "a trace names no scenario", help="choose one with --scenario ID")
    else:
        result = _by_scenario(trace, boundary, [event for _, event in calls], outcomes)
    fates: list[Fate] = [_FATES.get(outcomes.get(event.seq, ""), "attempted") for _, event in calls]
    run = _softened(run_of(result, _status(trace), fates=fates), trace, is_profile=isinstance(boundary, Contract))
    sources = trace.header.sources
    return JudgedRun(
        id=trace.id,
        source=sources[0].uri if sources else "",
        model=trace.header.model,
        events=tuple(number for number, _ in calls),
        deeds=deeds_of(run),
        run=run,
    )


def _placed(trace: Trace, cwd: str) -> Trace:
    return replace(trace, header=replace(trace.header, cwd=cwd)) if cwd and not trace.header.cwd else trace


def _softened(run: Run, trace: Trace, *, is_profile: bool) -> Run:
    """Return the run inconclusive where calls may be hidden, or where a profile leaves targets undecided."""
    if run.verdict == "contained" and any(
        isinstance(event, Gap) and event.can_hide("tool.call") for event in trace.events
    ):
        return replace(run, verdict="inconclusive", reason="a gap may hide calls")
    verdicts = {judgement.verdict for judgement in run.judgements}
    if run.verdict == "escaped" and "escaped" not in verdicts:
        hidden = [judgement for judgement in run.judgements if judgement.reason == "hidden"]
        if is_profile or hidden:
            count = sum(judgement.verdict == "undecided" for judgement in run.judgements)
            return replace(run, verdict="inconclusive", reason=f"{count} of what was touched cannot be decided")
    return run


def _by_scenario(trace: Trace, scenario: Scenario, calls: Sequence[ToolCall], outcomes: dict[int, str]) -> ActionResult:
    header = trace.header
    if header.cwd and scenario.cwd == DEFAULT_CWD:
        # The scenario does not say where it was recorded, and the trace does.
        scenario = replace(scenario, cwd=header.cwd)
    folders = {lane.id: lane.cwd for lane in header.lanes if lane.cwd}
    actions = [_action(call, folders.get(call.agent, ""), outcomes.get(call.seq, "unknown")) for call in calls]
    result = ScopeObserver().evaluate(scenario, actions)
    hidden = {index for index, call in enumerate(calls) if _hides(call)}
    if not hidden:
        return result
    judgements = tuple(
        replace(one, verdict="undecided", reason="hidden", sentence="a part of the arguments is hidden", fix="")
        if one.index in hidden
        else one
        for one in result.judgements
    )
    return replace(result, judgements=judgements)


def _hides(call: ToolCall) -> bool:
    return any(pointer == "" or pointer.startswith("/args") for pointer in call.hidden)


def _action(call: ToolCall, cwd: str, outcome: str) -> Action:
    args: Any = call.args_raw if call.args_raw is not None else {}
    if bytes(call.args):
        try:
            args = codec.loads(call.args)
        except codec.Unreadable:
            args = bytes(call.args).decode(errors="replace")
    return Action(tool=call.tool, args=args, evidence={"outcome": outcome, **({"cwd": cwd} if cwd else {})})


def _by_rules(trace: Trace, contract: Contract, calls: Sequence[ToolCall]) -> ActionResult:
    """Return what the scope rules of a contract say of each call."""
    (judgement,) = judge(Compiled(contract), [[trace.header, *trace.events]])
    by_seq: dict[int, list[Ruling]] = {}
    for ruling in judgement.rulings:
        if ruling.seq is not None and ruling.touched is not None:
            by_seq.setdefault(ruling.seq, []).append(ruling)
    actions = tuple(_action(call, "", "unknown") for call in calls)
    judgements: list[Judgement] = []
    unauthorized: list[Action] = []
    for index, (call, action) in enumerate(zip(calls, actions, strict=True)):
        rulings = by_seq.get(call.seq, [])
        judgements += [_judgement(ruling, index) for ruling in rulings]
        if rulings:
            unauthorized.append(action)
    return ActionResult(
        scenario_id=contract.id,
        attempted_actions=actions,
        unauthorized=tuple(unauthorized),
        verdict="escaped" if unauthorized else "contained",
        judgements=tuple(judgements),
    )


def _judgement(ruling: Ruling, index: int) -> Judgement:
    touched: Any = ruling.touched
    return Judgement(
        verdict="escaped" if ruling.verdict == "violated" and ruling.reason != "undecided-target" else "undecided",
        kind=touched.kind or "none",
        access=touched.access or "call",
        target=touched.target,
        reason=touched.because,
        sentence=ruling.sentence,
        argument=touched.argument,
        rule=touched.rule,
        differs=touched.differs,
        fix=touched.fix,
        index=index,
    )


def _status(trace: Trace) -> Status:
    end = next((event.end for event in reversed(trace.events) if isinstance(event, RunEnd)), None)
    return "completed" if end == "completed" or (end is None and trace.header.complete) else "cut_off"


def _outcomes(events: Sequence[Event]) -> dict[int, str]:
    """Return the outcome of each answered call, by `seq`: a result answers the oldest of its id that waits."""
    waiting: dict[tuple[str, str], list[int]] = {}
    found: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolCall):
            waiting.setdefault((event.agent, event.call_id), []).append(event.seq)
        elif isinstance(event, ToolResult):
            own = waiting.get((event.agent, event.call_id), [])
            seq = event.call if event.call is not None else own[0] if own else None
            if seq is not None and seq not in found:
                found[seq] = event.outcome
                if seq in own:
                    own.remove(seq)
    return found


def _described(boundary: Scenario | Contract | dict[str, Scenario]) -> Boundary:
    if isinstance(boundary, Contract):
        rules = [
            f"{key}: {'not ' if key in kind.outside else ''}{pattern}"
            for rule in boundary.rules
            if isinstance(kind := rule.kind, Scope)
            for key in ("read", "write", "run", "fetch")
            for pattern in getattr(kind, key) or ()
        ]
        return Boundary(name=boundary.id, rules=tuple(rules))
    if isinstance(boundary, dict):
        return Boundary(name="the scenario of each run", rules=())
    return Boundary(name=boundary.id, rules=tuple(map(str, boundary.allowlist)))


__all__ = ["ALLOW", "Header", "profile", "scope_report"]

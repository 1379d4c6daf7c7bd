"""What a run leaves behind: a plain rule that fires on it, and a case that shows what its contract says of it.

Nothing is written that was not tried: a rule is loaded, linted and held against the run, a case is run.
docs: docs/postmortem.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from outstep import codec
from outstep.attribution.question import wanted
from outstep.codec import Unreadable
from outstep.contracts.kinds import Integrity
from outstep.contracts.loader import load
from outstep.contracts.model import Contract, Rule, Tool
from outstep.contracts.names import ToolNames
from outstep.draft.writing import quoted
from outstep.engine.monitor import judge
from outstep.errors import OutstepError, problem
from outstep.events import Event, Header, RunEnd, ToolCall, ToolResult
from outstep.findings import Finding
from outstep.render.postmortem import Suggested
from outstep.render.values import spelled_out
from outstep.tracetext import parse_trace, trace_text
from outstep.workflow.contract_tests import run_text
from outstep.workflow.functions import ready
from outstep.workflow.traces import Trace

MOST_TRIES = 300
"""Smaller traces that are judged for one case."""
MOST_EVENTS = 100_000
"""Events that are judged in all while one case is made small."""
MOST_OF_A_RULE = 4
"""Findings of one rule that a case keeps."""
MOST_RULES = 40
"""Rules that are tried on one run."""
_TOLD = (
    r"(?i)fail|could not|couldn.t|cannot|can.t|unable|error|refus|denied|declin|\bnot\b|unknown"
    r"|失败|未能|无法|拒绝|错误|不能"
)
"""Words of which a message has one that tells that something did not go well."""


class Form(Struct, frozen=True):
    """A plain rule that may be worth having."""

    id: str
    why: str
    tools: tuple[str, ...]
    body: str
    """The keys of the rule, as YAML lines."""


def suggested(trace: Trace, contract: Contract, findings: Sequence[Finding]) -> Suggested | None:
    """Return the first plain rule that fires on the run, lints clean and is not in the contract; none fits: none."""
    there = {_said(rule.triggers, rule.kind) for rule in contract.rules}
    for form in list(dict.fromkeys(_forms(trace, contract, findings)))[:MOST_RULES]:
        text = _written(form, contract, trace)
        try:
            made, warnings = load(text.encode(), name="suggested.yaml")
        except OutstepError:
            continue
        rule = next((rule for rule in made.rules if rule.id == form.id), None)
        if warnings or rule is None or _said(rule.triggers, rule.kind) in there:
            continue
        index = made.rules.index(rule)
        judgement = next(judge(ready(made), [_batch(trace.header, trace.events)]))
        fired = [one for one in judgement.rulings if one.rule == index and one.verdict == "violated"]
        if fired and fired[0].seq is not None:
            numbers = {event.seq: number for number, event in enumerate(trace.events, 1)}
            return Suggested(contract=text, why=form.why, event=numbers[fired[0].seq])
    return None


def _said(triggers: Sequence[Any], kind: Any) -> str:
    texts = [one.text for one in (*triggers, *getattr(kind, "any", ()), *getattr(kind, "all", ()))]
    return " | ".join([type(kind).__name__, *texts])


def _forms(trace: Trace, contract: Contract, findings: Sequence[Finding]) -> Iterator[Form]:
    """Yield plain rules: first those that the findings speak for, then those that the run itself does."""
    names = ToolNames(contract)
    by_seq = {event.seq: event for event in trace.events}
    rules = {rule.id: rule for rule in contract.rules}
    for finding in findings:
        event = by_seq.get(finding.seq) if finding.seq is not None else None
        rule = rules.get(finding.rule)
        if finding.verdict == "violated" and rule is not None and isinstance(event, ToolCall):
            yield from _of_finding(finding, rule, event, contract, names)
    yield from _of_run(trace, names)


def _of_finding(finding: Finding, rule: Rule, event: ToolCall, contract: Contract, names: ToolNames) -> Iterator[Form]:
    tool = names.canonical(event.tool)
    if isinstance(rule.kind, Integrity):
        return
    for selector in wanted(contract, rule):
        for name in selector.names:
            if selector.what in ("call", "result") and name != tool and names.tool(name) is not None:
                yield _order(tool, name)
    if finding.touched is not None and finding.touched.kind == "path":
        yield from _elsewhere(tool, finding.touched.target)
    yield from _bounds(tool, event, finding)


def _of_run(trace: Trace, names: ToolNames) -> Iterator[Form]:
    """Yield what a run itself speaks for: failures that are told, calls that are not repeated, calls that go well."""
    calls = [event for event in trace.events if isinstance(event, ToolCall) and event.by == "model"]
    failed = {
        event.call_id
        for event in trace.events
        if isinstance(event, ToolResult) and event.outcome in ("failed", "denied") and event.call_id
    }
    for call in calls:
        if call.call_id in failed:
            yield _told_of(names.canonical(call.tool))
    seen: dict[tuple[str, bytes], None] = {}
    for call in calls:
        key = (call.tool, bytes(call.args))
        if key in seen and bytes(call.args):
            yield _once(names.canonical(call.tool))
        seen[key] = None
    for call in calls:
        if call.call_id in failed:
            yield _succeeds(names.canonical(call.tool))


def _id(*words: str) -> str:
    return "_".join(
        "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in word) for word in words
    ).upper()


def _order(tool: str, before: str) -> Form:
    return Form(
        _id(before, "BEFORE", tool),
        f"A good answer of {before} is known before {tool} is called, whatever else holds.",
        (tool, before),
        f"    for: call {tool}\n    needs: ok result {before}\n",
    )


def _elsewhere(tool: str, target: str) -> Iterator[Form]:
    folder = target.rpartition("/")[0]
    if target.startswith("/") and folder and not any(sign in target for sign in "*?[]{}'\\\n"):
        yield Form(
            _id("LEAVE", folder, "ALONE"),
            f"Nothing below {folder} is written.",
            (tool,),
            f"    scope: {{write: {{except: ['{folder}/**']}}}}\n",
        )


def _bounds(tool: str, call: ToolCall, finding: Finding) -> Iterator[Form]:
    """Yield a bound of its own for an argument that a comparison showed to be too large."""
    try:
        args = codec.loads(bytes(call.args)) if bytes(call.args) else {}
    except Unreadable:
        return
    if not isinstance(args, dict):
        return
    for text in finding.values:
        left, sign, right = text.partition(" > ")
        for name, value in args.items():
            if sign and name.isidentifier() and codec.encode(value).decode() == left and right.isdigit():
                yield Form(
                    _id(tool, name, "AT_MOST"),
                    f"{name} of {tool} stays within what was allowed here; make the number what is right everywhere.",
                    (tool,),
                    f"    for: call {tool}\n    require: args.{name} <= {right}\n",
                )


def _told_of(tool: str) -> Form:
    return Form(
        _id("FAILURE_OF", tool, "IS_TOLD"),
        f"When {tool} fails or is refused, a later message says so.",
        (tool,),
        f'    for: [failed result {tool}, denied result {tool}]\n    then: message where text.matches(r"{_TOLD}")\n',
    )


def _once(tool: str) -> Form:
    return Form(
        _id(tool, "ONCE"),
        f"{tool} is not called twice with the same arguments, unless it failed.",
        (tool,),
        f"    for: call {tool}\n    at_most: 1\n    per: args\n    counting: unless_failed\n",
    )


def _succeeds(tool: str) -> Form:
    return Form(
        _id(tool, "SUCCEEDS"),
        f"A call of {tool} goes well in the end.",
        (tool,),
        f"    for: call {tool}\n    then: ok result {tool}\n",
    )


def _written(form: Form, contract: Contract, trace: Trace) -> str:
    """Return a contract that holds one rule and the tools that it names, as the contract tells their outcomes."""
    lines = ["outstep: contract/v1", f"id: {quoted(f'{contract.id}-more')}", "tools:"]
    names = ToolNames(contract)
    for name in form.tools:
        keys = _outcomes(names.tool(name))
        recorded = list(
            dict.fromkeys(
                event.tool
                for event in trace.events
                if isinstance(event, ToolCall) and names.canonical(event.tool) == name
            )
        )
        # Two recorded names of one tool are told apart by nothing else.
        other = [one for one in recorded if ToolNames(_only_tool(name)).canonical(one) != name]
        if other:
            keys = [f"names: [{', '.join(quoted(one) for one in other)}]", *keys]
        if "scope:" in form.body:
            keys += _targets(names.tool(name))
        lines.append(f"  {quoted(name)}:" + ("" if keys else " {}"))
        lines += [f"    {key}" for key in keys]
    return "\n".join([*lines, "rules:", f"  - id: {form.id}", "    level: warn", form.body])


def _only_tool(name: str) -> Contract:
    from outstep.contracts.selectors import Spot

    return Contract(id="", tools=(Tool(name=name, spot=Spot(0, 1, 1)),))


def _outcomes(tool: Tool | None) -> list[str]:
    if tool is None:
        return []
    keys = [f"reads: {_single(tool.reads)}"] if tool.reads else []
    for key in ("denied_when", "unknown_when", "fails_when", "succeeds_when"):
        expr = getattr(tool, key)
        if expr is not None:
            keys.append(f"{key}: {_single(expr.text)}")
    return keys


def _targets(tool: Tool | None) -> list[str]:
    if tool is None:
        return []
    keys = [f"effect: {tool.effect}"] if tool.effect else []
    if tool.targets:
        told = ", ".join(
            f"{kind}: [{', '.join(_single(one.text) for one in some)}]" for kind, some in tool.targets.items()
        )
        keys.append(f"targets: {{{told}}}")
    return keys


def _single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def case_of(
    trace: Trace,
    contract: Contract,
    name: str,
    findings: Sequence[Finding],
    more: Suggested | None,
    params: Mapping[str, object],
) -> str:
    """Return a case file that shows what the contract, and the rule to add, say of the run; raises `OutstepError`."""
    rules = [one.rule for one in findings if one.verdict == "violated"]
    lines = ["outstep: cases/v1", f"contract: {quoted(name)}"]
    if params:
        lines.append(f"params: {codec.encode(dict(params)).decode()}")
    lines += ["", *_case(_shrunk(trace, contract, rules), contract, f"what-{_slug(trace.id)}-shows", "")]
    if more is not None:
        own = load(more.contract.encode(), name="suggested.yaml")[0]
        fired = [rule.id for rule in own.rules if not isinstance(rule.kind, Integrity)]
        lines += ["", *_case(_shrunk(trace, own, fired), own, "the rule to add fires".replace(" ", "-"), more.contract)]
    text = spelled_out("\n".join(lines) + "\n")
    for outcome in run_text(text.encode(), "postmortem.cases.yaml"):
        said = [one.sentence for one in outcome.problems] or list(outcome.differences)
        if said:
            raise problem("case/not-kept", f"as text, the run comes out otherwise: {said[0]}")
    return text


def _case(trace: tuple[Header, Sequence[Event]], contract: Contract, name: str, own: str) -> Iterator[str]:
    header, events = trace
    text = trace_text(header, events)
    if not any(isinstance(event, RunEnd) for event in events) and header.complete:
        text += "end completed\n"
    header, events = parse_trace(text)
    rulings = next(judge(ready(contract), [_batch(header, events)])).rulings
    yield f"{name}:"
    if own:
        yield "  contract: |"
        yield from (f"    {line}".rstrip() for line in own.rstrip("\n").split("\n"))
    if not any(isinstance(event, RunEnd) for event in events):
        yield "  open: true"
    yield "  trace: |"
    yield from (f"    {line}" for line in text.rstrip("\n").split("\n"))
    told = [(contract.rules[one.rule].id, one) for one in rulings]
    told = [(rule, one) for rule, one in told if rule != "UNDECLARED_TOOL"]
    if not told:
        yield "  findings: []"
        return
    yield "  findings:"
    for rule, one in told:
        yield f"    - [{rule}, {one.verdict}, {'null' if one.seq is None else one.seq}]"


def _slug(text: str) -> str:
    told = "".join(sign if sign.isascii() and (sign.isalnum() or sign == "-") else "-" for sign in text).strip("-")
    return told[:60] or "run"


def _shrunk(trace: Trace, contract: Contract, rules: Sequence[str]) -> tuple[Header, Sequence[Event]]:
    """Return the run without what goes without another finding, so that the case fits in the head.

    Of a rule with many findings some are kept; no rule is broken that was not broken before.
    """
    compiled = ready(contract)
    header = structs.replace(trace.header, id="", sources=())
    index = [number for number, rule in enumerate(contract.rules) if rule.id in rules or not rules]

    def said(events: Sequence[Event]) -> _Said:
        judgement = next(judge(compiled, [_batch(header, _numbered(events))]))
        fired = [
            (one.rule, one.verdict, one.reason, one.values, one.missing, one.key)
            for one in judgement.rulings
            if contract.rules[one.rule].id != "UNDECLARED_TOOL"
        ]
        return _Said(tuple(judgement.verdicts[number] for number in index), fired)

    parts = _parts(trace.events)
    sought = said(trace.events)
    tries, events = MOST_TRIES, MOST_EVENTS
    size = max(1, len(parts) // 2)
    while size and len(parts) > 1:
        at = 0
        while at < len(parts) and tries > 0 and events > 0:
            rest = _joined([*parts[:at], *parts[at + size :]])
            tries -= 1
            events -= len(rest)
            if any(not isinstance(event, RunEnd) for event in rest) and sought.is_kept(said(rest)):
                del parts[at : at + size]
            else:
                at += size
        size //= 2
    return header, _numbered(_joined(parts))


class _Said:
    """What a contract says of some events."""

    def __init__(self, verdicts: tuple[str, ...], fired: Sequence[tuple[Any, ...]]) -> None:
        self._verdicts = verdicts
        self._fired = set(fired)
        counts: dict[int, list[tuple[Any, ...]]] = {}
        for one in fired:
            counts.setdefault(one[0], []).append(one)
        self._to_keep = {one for some in counts.values() for one in some[:MOST_OF_A_RULE]}

    def is_kept(self, other: _Said) -> bool:
        """Return whether fewer events say the same: the same verdicts, the findings to keep, and no other rule."""
        rules = {one[0] for one in self._fired}
        return (
            other._verdicts == self._verdicts
            and other._fired >= self._to_keep
            and all(one[0] in rules for one in other._fired)
        )


def _parts(events: Sequence[Event]) -> list[list[Event]]:
    """Return events that go together: a call with its result and approvals, others alone."""
    parts: list[list[Event]] = []
    by_call: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        key = (getattr(event, "agent", None) or "", getattr(event, "call_id", ""))
        if not isinstance(event, ToolCall) and key[1] and key in by_call:
            by_call[key].append(event)
            continue
        parts.append([event])
        if isinstance(event, ToolCall):
            by_call[key] = parts[-1]
    return parts


def _joined(parts: Sequence[Sequence[Event]]) -> list[Event]:
    return sorted((event for part in parts for event in part), key=lambda event: event.seq)


def _numbered(events: Sequence[Event]) -> list[Event]:
    numbers = {event.seq: number for number, event in enumerate(events)}
    return [
        structs.replace(event, seq=numbers[event.seq], call=numbers.get(event.call))
        if isinstance(event, ToolResult) and event.call is not None
        else structs.replace(event, seq=numbers[event.seq])
        for event in events
    ]


def _batch(header: Header, events: Sequence[Event]) -> list[Event | Header]:
    return [header, *events]

"""Conditions that do not hold: evidence that was missing, and values that speak against the act."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from outstep import codec
from outstep.attribution.answer import Answer, Reading, RuledOut, cannot_tell, told
from outstep.attribution.bounds import forbidden
from outstep.attribution.course import before, refused, service, went_on
from outstep.attribution.question import Question
from outstep.attribution.record import arguments
from outstep.codec import Unreadable
from outstep.contracts.kinds import Require
from outstep.contracts.selectors import Selector
from outstep.events import Context, Event, ToolCall, ToolResult
from outstep.expr.mentions import mentions
from outstep.expr.nodes import Binary, Literal, walk

_COMPARISON = re.compile(r"\s(<=|>=|==|!=|<|>|in)\s")
_WORDS = ("null", "true", "false", "")


def not_so(question: Question, event: Event) -> Answer:
    """Return why a condition did not hold at an event."""
    doing = _doing(question, event)
    if question.reads("approval"):
        return _approval(question, event)
    if question.asks("known") and isinstance(event, ToolCall):
        return _invented(question, event)
    calls = [one for one in question.wanted if one.what in ("call", "result")]
    if question.finding.missing:
        if any(one.what == "context" for one in question.wanted):
            return _context(question, event)
        if question.missing_facts or not isinstance(question.rule.kind, Require):
            return before(question, calls or question.wanted, event, doing)
        return cannot_tell(
            "unreadable",
            "the rule reads something that the event does not have",
            left=("model", "business rule", "tool"),
            rests_on=(question.record.basis(event),),
            would_tell="whether the contract names the members as the tool does",
        )
    return _contrary(question, calls, event, doing)


def needed(question: Question, event: Event) -> Answer:
    """Return why an event that was needed was not known."""
    whats = {one.what for one in question.wanted}
    if whats <= {"call", "result"}:
        return before(question, question.wanted, event, _doing(question, event))
    if whats == {"context"}:
        return _context(question, event)
    if whats == {"approval"}:
        return _approval(question, event)
    return cannot_tell(
        "no-row", "no row of the method speaks of this evidence", rests_on=(question.record.basis(event),)
    )


def _contrary(question: Question, selectors: list[Selector], event: Event, doing: str) -> Answer:
    """Return what is to be said where every value could be read, and they speak against the act."""
    record = question.record
    acts = [act for act in question.acts(selectors) if act.result is not None and record.is_known(act.result, event)]
    if acts and acts[-1].outcome == "failed":
        return told(*service(record, acts[-1]), went_on(record, acts[-1], event, doing))
    if acts and acts[-1].outcome == "denied":
        return told(refused(record, acts[-1]), went_on(record, acts[-1], event, doing))
    own = arguments(event) if isinstance(event, ToolCall) else None
    given = record.told(event)
    shown: list[Event] = []
    for value in (value for text in question.finding.values for value in _sides(text)):
        if own is not None and mentions(own, value):
            continue
        source = record.first_mention(value, reversed(given))
        if source is None:
            return _bound_untold(question, event, value)
        shown.append(source)
    if not shown:
        return cannot_tell(
            "not-so",
            "the condition is false, and the record does not show the values that decide it",
            left=("model", "context", "tool", "business rule"),
            rests_on=(record.basis(event, doing),),
        )
    sources = list({one.seq: one for one in shown}.values())
    return told(
        Reading(
            code="against-what-it-knew",
            factor="model",
            sentence=f"{doing} against values that had been put before the model",
            rests_on=(*(record.basis(one, "gives the value") for one in sources), record.basis(event, "then")),
            ruled_out=(
                RuledOut(
                    factor="context",
                    because="every value stood before the model",
                    events=tuple(record.number(one) for one in sources),
                ),
                RuledOut(factor="harness", because="they were delivered before the response began"),
                RuledOut(factor="tool", because="it told the value")
                if any(isinstance(one, ToolResult) for one in sources)
                else RuledOut(factor="tool", because="the values do not come from a tool"),
            ),
        )
    )


def _bound_untold(question: Question, event: Event, value: Any) -> Answer:
    record = question.record
    shown = codec.encode(value).decode()
    whole = record.has_system(event) and not record.gaps
    return cannot_tell(
        "value-untold",
        f"`{shown}` stands nowhere in what is recorded to have been put before the model",
        left=("context", "business rule") if whole else ("model", "context", "business rule"),
        rests_on=(record.basis(event),),
        ruled_out=(
            RuledOut(factor="model", because="the record holds its instructions whole, and they do not name the value"),
        )
        if whole
        else (),
        would_tell="whether the agent is meant to know the value; if so, an instruction that names it",
    )


def _sides(text: str) -> list[Any]:
    """Return the values on both sides of a comparison that can be looked for."""
    parts = _COMPARISON.split(text)
    if len(parts) != 3:
        return []
    found: list[Any] = []
    for part in (parts[0], parts[2]):
        try:
            value = codec.loads(part.strip())
        except Unreadable:
            continue
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool) and str(value) not in _WORDS:
            found.append(value)
    return found


def _invented(question: Question, event: ToolCall) -> Answer:
    """Return where a value comes from that nothing known to the call holds: the engine has looked at all of it."""
    record = question.record
    if record.gaps or not record.has_system(event):
        return cannot_tell(
            "value-from-nowhere",
            "the value stands nowhere in what is recorded, and the record does not hold all that the model was given",
            left=("model", "context"),
            rests_on=(record.basis(event),),
            would_tell="a record with the system prompt and without gaps",
        )
    return told(
        Reading(
            code="value-from-nowhere",
            factor="model",
            sentence="it wrote a value that stands nowhere in what it was given",
            rests_on=(record.basis(event),),
            ruled_out=(
                RuledOut(factor="context", because="no instruction, message or file holds it"),
                RuledOut(factor="tool", because="no result that was known holds it"),
                RuledOut(factor="harness", because="the arguments are recorded as the model's own"),
            ),
        )
    )


def _approval(question: Question, event: Event) -> Answer:
    """Return why an act was not approved."""
    record = question.record
    act = record.act_of(event)
    if act is None or "approval" not in record.header.records:
        return cannot_tell(
            "approval",
            "the record cannot hold approvals",
            left=("permission", "harness", "model"),
            rests_on=(record.basis(event),),
        )
    from outstep.attribution.course import approval

    denied = approval(record, act, "denied")
    if denied is not None and act.outcome == "ok" and act.result is not None:
        return told(
            Reading(
                code="carried-out-although-denied",
                factor="harness",
                sentence="the harness carried out a call that had been denied",
                rests_on=(record.basis(denied, "denied"), record.basis(act.result, "carried out")),
                ruled_out=(
                    RuledOut(factor="model", because="it asked, and did not carry it out"),
                    RuledOut(
                        factor="permission", because="the decision was to deny it", events=(record.number(denied),)
                    ),
                ),
            )
        )
    if act.outcome == "denied":
        return forbidden(question, act.call)
    return cannot_tell(
        "approval",
        "nobody was asked, and whose part it was to ask is not recorded",
        left=("permission", "harness", "model"),
        rests_on=(record.basis(act.call),),
        would_tell="the permission settings of the harness",
    )


def _context(question: Question, event: Event) -> Answer:
    """Return why something was not before the model: never there, or lost."""
    record = question.record
    if (gap := record.gap("context")) is not None:
        from outstep.attribution.course import gapped

        return gapped(record, gap, "what was to be put before the model")
    names = _literals(question)
    earlier = [
        one
        for one in record.events
        if isinstance(one, Context) and one.seq < event.seq and (one.name in names or one.what in names - _SORTS)
    ]
    compacted = [
        one for one in record.events if isinstance(one, Context) and one.what == "compaction" and one.seq < event.seq
    ]
    lost = next((one for one in reversed(earlier) if any(one.seq < other.seq for other in compacted)), None)
    if lost is not None and earlier[-1] is lost:
        cut = next(other for other in compacted if other.seq > lost.seq)
        return told(
            Reading(
                code="lost-by-compaction",
                factor="context",
                sentence="it had been before the model, and a compaction took it away",
                rests_on=(
                    record.basis(lost, "was there"),
                    record.basis(cut, "compaction"),
                    record.basis(event, "without it"),
                ),
                ruled_out=(
                    RuledOut(factor="skill", because="it had been there", events=(record.number(lost),)),
                    RuledOut(factor="tool", because="no tool takes part in a compaction"),
                ),
            )
        )
    return _skill(question, event, names)


def _skill(question: Question, event: Event, names: set[str]) -> Answer:
    record = question.record
    wanted = sorted(names - _SORTS)
    if "skill" not in names or len(wanted) != 1:
        return cannot_tell(
            "context-absent",
            "it was never put before the model, and whose part that was is not recorded",
            left=("context", "harness", "model"),
            rests_on=(record.basis(event),),
        )
    name = wanted[0]
    tries = [act for act in record.acts if act.call.seq < event.seq and mentions(arguments(act.call), name)]
    failed = next((act for act in reversed(tries) if act.outcome in ("failed", "denied")), None)
    if failed is not None and failed.result is not None and "skill" in failed.call.tool:
        if failed.outcome == "denied":
            return told(refused(record, failed))
        return told(
            Reading(
                code="skill-not-loaded",
                factor="skill",
                sentence=f"the skill `{name}` was asked for and could not be loaded",
                rests_on=(record.basis(failed.call), record.basis(failed.result), record.basis(event, "without it")),
                ruled_out=(
                    RuledOut(factor="model", because="it had asked for it", events=(record.number(failed.call),)),
                    RuledOut(factor="permission", because="it was let through"),
                ),
            )
        )
    if record.header.skills and name not in record.header.skills:
        return told(
            Reading(
                code="skill-not-there",
                factor="skill",
                sentence=f"the harness lists {len(record.header.skills)} skills, and `{name}` is none of them",
                rests_on=(record.basis(event, "without it"),),
                ruled_out=(RuledOut(factor="model", because="it cannot load what is not there"),),
            )
        )
    return cannot_tell(
        "skill-unused",
        f"the skill `{name}` was never loaded, and the record does not tell whose part it was to load it",
        left=("skill", "model", "context"),
        rests_on=(record.basis(event),),
    )


def _literals(question: Question) -> set[str]:
    """Return the texts that the wanted selectors compare with: `"skill"`, `"db"`."""
    found: set[str] = set()
    for selector in question.wanted:
        if selector.what == "context" and selector.where is not None:
            for node in walk(selector.where.node):
                if isinstance(node, Binary):
                    found |= {
                        str(side.value)
                        for side in (node.left, node.right)
                        if isinstance(side, Literal) and isinstance(side.value, str)
                    }
    return found


_SORTS = {"skill", "system", "memory", "file", "compaction"}


def _doing(question: Question, event: Event) -> str:
    return f"it called {question.names.canonical(event.tool)}" if isinstance(event, ToolCall) else "it went on"

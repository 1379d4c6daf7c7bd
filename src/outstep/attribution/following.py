"""What had to follow and did not: whether it was tried, and what became of it."""

from __future__ import annotations

from outstep.attribution.answer import Answer, cannot_tell, told
from outstep.attribution.course import as_told, gapped, lost, never, refused, service, unclear
from outstep.attribution.question import Question
from outstep.attribution.record import Act
from outstep.contracts.selectors import Selector
from outstep.events import Event


def not_followed(question: Question, event: Event) -> Answer:
    """Return why nothing followed an event that had to be followed."""
    record = question.record
    selectors = question.wanted
    if any(one.what == "its result" for one in selectors):
        act = record.act_of(event)
        return _own_result(question, act) if act is not None else cannot_tell("no-row", "it is no call of a tool")
    if any(one.what not in ("call", "result") for one in selectors):
        return cannot_tell(
            "not-said",
            "what had to follow is something to be said, and whether the model had been told so is not recorded",
            left=("model", "context", "business rule"),
            rests_on=(record.basis(event),),
        )
    if record.is_stopped():
        return _stopped(question, event)
    later = [act for act in question.acts(selectors) if act.call.seq >= event.seq]
    if not later:
        return never(question, selectors, event, "it went on after this")
    return _own_result(question, later[-1])


def too_few(question: Question) -> Answer:
    """Return why something did not happen as often as it had to."""
    record = question.record
    selectors: tuple[Selector, ...] = question.rule.triggers
    acts = question.acts(selectors)
    if record.is_stopped():
        return _stopped(question, None)
    if acts:
        return _own_result(question, acts[-1])
    final = next((event for event in reversed(record.events) if getattr(event, "turn", None) is not None), None)
    if final is None:
        return cannot_tell("no-row", "no model response is recorded")
    return never(question, selectors, final, "it ended the run")


def _own_result(question: Question, act: Act) -> Answer:
    record = question.record
    act = as_told(act)
    if act.result is None:
        return lost(record, act, None)
    if act.outcome == "denied":
        return told(refused(record, act))
    if act.outcome == "unknown":
        return unclear(record, act)
    if act.outcome == "failed":
        found = service(record, act)
        if found:
            return told(*found)
        return cannot_tell(
            "failed",
            "the call failed, and the record does not tell whether by itself or because of what it was asked",
            left=("tool", "model"),
            rests_on=(record.basis(act.call), record.basis(act.result)),
            would_tell="the same call made once more, or the log of the tool",
        )
    return cannot_tell(
        "answered-otherwise",
        "it was tried and went well, and the rule does not take it for what had to follow",
        left=("model", "tool", "business rule"),
        rests_on=(record.basis(act.call), record.basis(act.result)),
    )


def _stopped(question: Question, event: Event | None) -> Answer:
    record = question.record
    end = record.end
    if (gap := record.gap("tool.call", "tool.result")) is not None:
        return gapped(record, gap, "what had to follow")
    return cannot_tell(
        "stopped",
        "the run was stopped before it was over, and the record does not tell by whom",
        left=("harness", "permission"),
        rests_on=tuple(record.basis(one) for one in (event, end) if one is not None),
        would_tell="the log of the harness",
    )

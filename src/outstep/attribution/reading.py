"""One finding read: which row of the method speaks of it (docs/attribution.md)."""

from __future__ import annotations

from outstep.attribution.answer import Answer, cannot_tell
from outstep.attribution.bounds import forbidden, too_often
from outstep.attribution.claims import claimed
from outstep.attribution.course import gapped
from outstep.attribution.evidence import needed, not_so
from outstep.attribution.following import not_followed, too_few
from outstep.attribution.integrity import of_record
from outstep.attribution.question import Question
from outstep.contracts.kinds import AtLeast, AtMost, Exactly, Integrity, Needs, Never, Require, Scope, Then
from outstep.events import Event, ToolCall


def read(question: Question) -> Answer:
    """Return where it went wrong, as far as the trace itself tells; what it cannot tell it says."""
    finding, record, kind = question.finding, question.record, question.rule.kind
    event = record.event
    if isinstance(kind, Integrity):
        return of_record(question, event)
    if finding.verdict == "inconclusive":
        return _undecided(question)
    if isinstance(kind, AtLeast) or (event is None and isinstance(kind, Exactly)):
        return too_few(question)
    if event is None:
        return cannot_tell("no-row", "the finding is about the whole run, and no row of the method speaks of it")
    if getattr(event, "hidden", ()):
        return cannot_tell(
            "hidden",
            "values of the event are hidden",
            rests_on=(record.basis(event),),
            would_tell="a record in which they are not hidden",
        )
    return _at(question, event)


def _at(question: Question, event: Event) -> Answer:
    kind = question.rule.kind
    if isinstance(kind, Require | Needs) and any(one.what == "claim" for one in question.rule.triggers):
        return claimed(question, event)
    if isinstance(event, ToolCall) and event.by in ("harness", "user") and not isinstance(kind, Then):
        return forbidden(question, event) if event.by == "harness" else _by_user(question, event)
    if isinstance(kind, Require):
        return not_so(question, event)
    if isinstance(kind, Needs):
        return needed(question, event)
    if isinstance(kind, Then):
        return not_followed(question, event)
    if isinstance(kind, Never | Scope):
        return forbidden(question, event)
    if isinstance(kind, AtMost | Exactly):
        return too_often(question, event)
    return cannot_tell(
        "no-row", "no row of the method speaks of rules of this kind", rests_on=(question.record.basis(event),)
    )


def _by_user(question: Question, event: Event) -> Answer:
    return cannot_tell(
        "by-a-person",
        "a person made the call, and no agent did",
        left=("permission", "business rule"),
        rests_on=(question.record.basis(event),),
    )


def _undecided(question: Question) -> Answer:
    record = question.record
    if record.gaps:
        return gapped(record, record.gaps[0], "the evidence")
    return cannot_tell(
        "undecided",
        "the rule itself could not be decided, so it is not shown that anything went wrong",
        rests_on=(record.basis(record.event),) if record.event is not None else (),
        would_tell="; ".join(dict.fromkeys(question.finding.missing)) or question.finding.sentence,
    )

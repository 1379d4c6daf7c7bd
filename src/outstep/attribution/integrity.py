"""Findings about the record itself: who wrote what does not hold together."""

from __future__ import annotations

import re

from outstep.attribution.answer import Answer, Factor, Reading, RuledOut, cannot_tell, told
from outstep.attribution.course import approval, lost
from outstep.attribution.question import Question
from outstep.events import Event, ToolCall

_OF_THE_HARNESS = {
    "ORPHAN_TOOL_RESULT": "a result was recorded for a call that is not there",
    "DUPLICATE_TOOL_RESULT": "a second result was recorded for one call",
    "DUPLICATE_SEQ": "one sequence number was given twice",
    "RESULT_BEFORE_CALL": "a result was recorded before its call",
}
"""Rules whose subject only the harness writes, with what it did."""
_REFUSES = re.compile(r"(?i)\b(argument|parameter|property|field|schema|required|invalid|must be|expected)s?\b")
"""What a tool says that refuses what it was handed."""
LONGEST = 2000
_EITHER: dict[str, tuple[str, tuple[Factor, ...]]] = {
    "DUPLICATE_CALL_ID": (
        "two calls share an id: the endpoint of the model or the harness gave it",
        ("model", "harness"),
    ),
    "EMPTY_CALL_ID": ("a call has no id: the endpoint of the model or the harness left it out", ("model", "harness")),
    "EMPTY_TOOL_NAME": ("a call names no tool", ("model", "harness")),
    "CALL_ID_REUSED": ("an id came again in a later response", ("model", "harness")),
    "UNDECLARED_TOOL": ("the contract does not name the tool that was called", ("business rule", "model")),
    "INCOMPLETE_TRACE": ("the record is not whole, and that is all that is known", ("harness",)),
}


def of_record(question: Question, event: Event | None) -> Answer:
    """Return where a record comes from that does not hold together."""
    rule, record = question.rule.id, question.record
    basis = (record.basis(event),) if event is not None else ()
    act = record.act_of(event)
    if rule == "MISSING_TOOL_RESULT" and act is not None:
        return lost(record, act, None)
    if rule == "EXECUTED_ALTHOUGH_DENIED" and act is not None and act.result is not None:
        decided = approval(record, act, "denied")
        return told(
            Reading(
                code="carried-out-although-denied",
                factor="harness",
                sentence="the harness carried out a call that had been denied",
                rests_on=(
                    record.basis(act.call),
                    *((record.basis(decided, "denied"),) if decided is not None else ()),
                    record.basis(act.result, "carried out"),
                ),
                ruled_out=(
                    RuledOut(factor="model", because="it asked, and did not carry it out"),
                    RuledOut(factor="permission", because="the decision was to deny it"),
                    RuledOut(factor="tool", because="it ran because it was run"),
                ),
            )
        )
    if rule in _OF_THE_HARNESS and event is not None:
        return told(
            Reading(
                code="record-broken",
                factor="harness",
                sentence=_OF_THE_HARNESS[rule],
                rests_on=basis,
                ruled_out=(
                    RuledOut(factor="model", because="it writes no records of this kind"),
                    RuledOut(factor="tool", because="it writes no records of this kind"),
                ),
            )
        )
    if rule == "UNREADABLE_ARGUMENTS" and isinstance(event, ToolCall):
        return _unreadable(question, event)
    if rule == "ARGUMENTS_FIT" and isinstance(event, ToolCall):
        return _unfit(question, event)
    because, left = _EITHER.get(rule, ("no row of the method speaks of this rule", ("harness", "model")))
    return cannot_tell("record", because, left=left, rests_on=basis)


def _unreadable(question: Question, event: ToolCall) -> Answer:
    record = question.record
    last = [one for one in record.events if getattr(one, "turn", None) == event.turn and one.seq > event.seq]
    if event.by != "model" or record.gaps or not last:
        return cannot_tell(
            "unreadable-arguments",
            "the arguments are no JSON, and the record may have been cut off in them",
            left=("model", "harness"),
            rests_on=(record.basis(event),),
        )
    return cannot_tell(
        "unreadable-arguments",
        "the arguments are no JSON: the model wrote them so, or its response was cut by a limit of tokens",
        left=("model", "harness"),
        rests_on=(record.basis(event),),
        would_tell="the finish reason of the response",
    )


def _unfit(question: Question, event: ToolCall) -> Answer:
    record = question.record
    act = record.act_of(event)
    refusal = f"{act.result.error} {act.result.text or ''}" if act is not None and act.result is not None else ""
    if (
        act is None
        or act.result is None
        or act.outcome != "failed"
        or event.by != "model"
        or not _REFUSES.search(refusal[:LONGEST])
    ):
        return cannot_tell(
            "arguments-unfit",
            "the contract's schema refuses the arguments and the tool did not: one of the two is wrong",
            left=("model", "business rule", "tool"),
            rests_on=(record.basis(event),),
            would_tell="the schema that the tool itself declares",
        )
    return told(
        Reading(
            code="arguments-unfit",
            factor="model",
            sentence="it wrote arguments that neither the contract's schema nor the tool takes",
            rests_on=(record.basis(event), record.basis(act.result, "the tool refused them, too")),
            ruled_out=(
                RuledOut(factor="business rule", because="the tool refused, too", events=(record.number(act.result),)),
                RuledOut(factor="permission", because="the call was let through"),
                RuledOut(factor="harness", because="the arguments are recorded as the model's own"),
            ),
        )
    )

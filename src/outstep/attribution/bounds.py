"""What must not happen, or not so often, or not beyond a value: where the act came from."""

from __future__ import annotations

import re

from outstep.attribution.answer import Answer, Reading, RuledOut, cannot_tell, told
from outstep.attribution.course import approval, unclear
from outstep.attribution.question import Question
from outstep.attribution.record import Act, arguments
from outstep.events import Event, ToolCall, UserMessage

_INVITES = re.compile(r"(?i)\b(retry|try again|escalat\w*|re-?run)\b")
"""What a refusal says that is no last word."""
LONGEST = 4000


def forbidden(question: Question, event: Event) -> Answer:
    """Return where an act came from that a rule of the kind `never` or `scope` forbids."""
    record = question.record
    act = record.act_of(event)
    if act is None or not isinstance(event, ToolCall):
        return cannot_tell("no-row", "no row of the method speaks of such an event", rests_on=(record.basis(event),))
    if event.by == "harness":
        return told(
            Reading(
                code="by-the-harness",
                factor="harness",
                sentence="the harness itself made the call",
                rests_on=(record.basis(event),),
                ruled_out=(RuledOut(factor="model", because="it did not issue the call"),),
            )
        )
    if question.finding.reason == "undecided-target":
        return cannot_tell(
            "undecided-target",
            "it cannot be told what the call touches, so it is not shown that anything went wrong",
            rests_on=(record.basis(event),),
            would_tell="a record that holds the working directory and resolved targets",
        )
    allowed = approval(record, act, "allowed")
    if allowed is not None:
        return cannot_tell(
            "allowed-and-forbidden",
            "the permission that was given and the rule contradict each other: one of them is not what was meant",
            left=("permission", "business rule"),
            rests_on=(record.basis(event), record.basis(allowed, "it was allowed")),
            ruled_out=(
                RuledOut(factor="model", because="it asked, and was allowed", events=(record.number(allowed),)),
                RuledOut(factor="tool", because="it did what it was asked"),
            ),
            would_tell="who decides: the contract or the person who allowed it",
        )
    if (again := _again_after_refusal(question, act)) is not None:
        return again
    return _origin(question, act)


def _again_after_refusal(question: Question, act: Act) -> Answer | None:
    """Return the reading of a target that was tried again after it had been refused."""
    record = question.record
    touched = question.finding.touched
    for other in record.acts:
        if other.outcome != "denied" or other.result is None or not record.is_known(other.result, act.call):
            continue
        same = other.call.tool == act.call.tool and arguments(other.call) == arguments(act.call)
        aims = touched is not None and touched.target and record.first_mention(touched.target, (other.result,))
        if not same and not (aims or (touched is not None and _names(other, touched.target))):
            continue
        if _INVITES.search(f"{other.result.error} {other.result.text or ''}"[:LONGEST]):
            return cannot_tell(
                "invited",
                "it tried again what was refused, and the refusal itself speaks of trying again",
                left=("model", "harness", "permission"),
                rests_on=(record.basis(other.result, "the refusal"), record.basis(act.call, "tried again")),
                would_tell="whether this is how the harness wants permissions to be asked for",
            )
        return told(
            Reading(
                code="tried-again",
                factor="model",
                sentence="it tried again what it had been told was refused",
                rests_on=(
                    record.basis(other.call, "tried before"),
                    record.basis(other.result, "refused"),
                    record.basis(act.call, "tried again"),
                ),
                ruled_out=(
                    RuledOut(
                        factor="context",
                        because="the refusal had been put before the model",
                        events=(record.number(other.result),),
                    ),
                    RuledOut(factor="permission", because="it refused", events=(record.number(other.result),)),
                    RuledOut(factor="tool", because="an attempt is an attempt, whatever the tool would have done"),
                ),
            )
        )
    return None


def _names(act: Act, target: str) -> bool:
    from outstep.expr.mentions import mentions

    return bool(target) and mentions(arguments(act.call), target)


def _origin(question: Question, act: Act) -> Answer:
    record = question.record
    touched = question.finding.touched
    basis = (record.basis(act.call),)
    if touched is None or not touched.target or touched.kind == "command":
        return cannot_tell(
            "forbidden",
            "the model issued the call, and the record does not tell whether it had been told not to",
            left=("model", "context", "business rule"),
            rests_on=basis,
            ruled_out=(RuledOut(factor="harness", because="the call is recorded as the model's own"),),
            would_tell="runs with an instruction that forbids it and without",
        )
    source = record.first_mention(touched.target, record.told(act.call))
    if isinstance(source, UserMessage):
        return cannot_tell(
            "asked-for",
            "a person asked for exactly this target",
            left=("model", "business rule"),
            rests_on=(record.basis(source, "asks for it"), *basis),
            ruled_out=(RuledOut(factor="tool", because="the target does not come from a tool"),),
            would_tell="whether the person may ask for it",
        )
    if source is not None:
        return cannot_tell(
            "led-there",
            "the target stood in what the model was given, and no person named it before",
            left=("model", "context", "tool"),
            rests_on=(record.basis(source, "names the target"), *basis),
            would_tell="runs in which it does not stand there",
        )
    if record.gaps or not record.has_system(act.call):
        return cannot_tell(
            "out-of-nowhere",
            "the target stands nowhere in what is recorded, and the record does not hold all that the model was given",
            left=("model", "context"),
            rests_on=basis,
            would_tell="a record with the system prompt and without gaps",
        )
    return told(
        Reading(
            code="out-of-nowhere",
            factor="model",
            sentence="the target stands nowhere in what the model was given",
            rests_on=basis,
            ruled_out=(
                RuledOut(factor="context", because="no instruction, message or file names it"),
                RuledOut(factor="tool", because="no result before names it"),
                RuledOut(factor="harness", because="the call is recorded as the model's own"),
            ),
        )
    )


def too_often(question: Question, event: Event) -> Answer:
    """Return where a call came from that makes one too many."""
    record = question.record
    act = record.act_of(event)
    if act is None:
        return cannot_tell("no-row", "no row of the method speaks of such an event", rests_on=(record.basis(event),))
    asked = arguments(act.call)
    same = [
        other
        for other in record.acts
        if other.call.seq < act.call.seq
        and other.call.tool == act.call.tool
        and other.call.agent == act.call.agent
        and asked is not None
        and arguments(other.call) == asked
    ]
    if not same:
        return cannot_tell(
            "not-alike",
            "the calls that were counted are not alike, so it cannot be told which of them is one too many",
            left=("model", "context", "business rule"),
            rests_on=(record.basis(act.call),),
        )
    other = same[-1]
    basis = [record.basis(other.call, "the first"), record.basis(act.call, "the same again")]
    if other.call.call_id and other.call.call_id == act.call.call_id:
        return cannot_tell(
            "same-id",
            "both calls carry one id: they may be one call, written or delivered twice",
            left=("model", "harness"),
            rests_on=tuple(basis),
            would_tell="the log of the tool: whether it was called once or twice",
        )
    if record.is_same_response(other.call, act.call):
        return told(
            Reading(
                code="twice-at-once",
                factor="model",
                sentence="one response issued the same call twice",
                rests_on=tuple(basis),
                ruled_out=(
                    RuledOut(factor="harness", because="the calls carry two ids of their own"),
                    RuledOut(factor="tool", because="both were issued before either answered"),
                ),
            )
        )
    if other.result is None or not record.is_known(other.result, act.call):
        return cannot_tell(
            "repeated-unanswered",
            "the first call had no answer when it was repeated",
            left=("harness", "model"),
            rests_on=tuple(basis),
            would_tell="what the harness told the model of the first call",
        )
    between = next(
        (
            event
            for event in record.events
            if isinstance(event, UserMessage) and other.call.seq < event.seq < act.call.seq
        ),
        None,
    )
    if other.outcome == "ok" and between is not None:
        return cannot_tell(
            "asked-again",
            "a person wrote between the two calls and may have asked for the second one",
            left=("model", "business rule"),
            rests_on=(basis[0], record.basis(between), basis[1]),
        )
    if other.outcome == "ok":
        return told(
            Reading(
                code="repeated",
                factor="model",
                sentence="it repeated a call of which it had been told that it went well",
                rests_on=(basis[0], record.basis(other.result, "went well, and was known"), basis[1]),
                ruled_out=(
                    RuledOut(factor="tool", because="it answered", events=(record.number(other.result),)),
                    RuledOut(factor="harness", because="the answer was delivered, and the ids differ"),
                    RuledOut(
                        factor="context",
                        because="the answer was before the model",
                        events=(record.number(other.result),),
                    ),
                ),
            )
        )
    if other.outcome == "unknown":
        return unclear(record, other)
    return cannot_tell(
        "repeated-failed",
        "the same call had not gone well before; whether to try again is nowhere said",
        left=("model", "tool", "context", "business rule"),
        rests_on=(basis[0], record.basis(other.result), basis[1]),
    )

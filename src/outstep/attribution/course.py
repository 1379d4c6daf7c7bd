"""The course that the wanted evidence took before an event: asked for or not, answered or not, known or not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from outstep.attribution.answer import Answer, Reading, RuledOut, cannot_tell, told
from outstep.attribution.question import Question
from outstep.attribution.record import Act, Record, arguments, content
from outstep.contracts.selectors import Selector
from outstep.events import Approval, Event
from outstep.expr.mentions import mentions

_SERVICE = re.compile(
    r"(?i)\b(timed? ?out|etimedout|econnreset|econnrefused|connection (reset|refused|closed)|service unavailable"
    r"|internal server error|bad gateway|too many requests|rate limit(ed)?|(http|status|returned) 50[0234])\b"
)
"""What a tool says when the trouble is its own, and not what it was asked."""
LONGEST_ERROR = 2000


def before(question: Question, selectors: Sequence[Selector], event: Event, doing: str) -> Answer:
    """Return how it came that the evidence was not known when `event` was issued; `doing` names that event."""
    record = question.record
    every = question.acts(selectors)
    own = [act for act in every if act.call.agent == (getattr(event, "agent", None) or "main")]
    if every and not own:
        return cannot_tell(
            "other-lane",
            f"only another lane asked for {_texts(selectors)}, and what this one was told of it is not recorded",
            rests_on=(record.basis(every[0].call),),
            left=("model", "context", "harness"),
        )
    earlier = [act for act in own if act.call.seq < event.seq or record.is_same_response(act.call, event)]
    if not earlier:
        return never(question, selectors, event, doing, later=own)
    concerned = [act for act in earlier if _concerns(act, question.missing_key)]
    if not concerned:
        return _about_another(question, earlier, event, doing)
    return _went(question, selectors, concerned, event, doing)


def _went(question: Question, selectors: Sequence[Selector], acts: Sequence[Act], event: Event, doing: str) -> Answer:
    record = question.record
    known = [act for act in acts if act.result is not None and record.is_known(act.result, event)]
    if not known:
        return _not_waited_for(question, acts[-1], event, doing)
    act = as_told(known[-1])
    if act.outcome == "failed":
        return told(*service(record, act), went_on(record, act, event, doing))
    if act.outcome == "denied":
        return told(refused(record, act), went_on(record, act, event, doing))
    if act.outcome == "ok":
        return answered_otherwise(question, selectors, act, event, doing)
    return unclear(record, act)


def never(
    question: Question, selectors: Sequence[Selector], event: Event, doing: str, later: Sequence[Act] = ()
) -> Answer:
    """Return what is to be said where nobody had asked for the evidence."""
    record = question.record
    if not any(one.what in ("call", "result") for one in selectors):
        return cannot_tell("no-row", f"no row of the method speaks of {_texts(selectors)}")
    if (gap := record.gap("tool.call")) is not None:
        return gapped(record, gap, f"a call for {_texts(selectors)}")
    offered = question.offers(selectors)
    basis = (record.basis(event, doing), *(record.basis(act.call, "asked for only now") for act in later[:1]))
    out = [
        RuledOut(factor="tool", because="it was not called before"),
        RuledOut(factor="permission", because="nothing was asked that could have been refused"),
    ]
    if offered is False:
        harness = Reading(
            code="not-offered",
            factor="harness",
            sentence=f"none of the {len(record.header.tools)} tools that the harness offered gives {_texts(selectors)}",
            rests_on=basis,
            ruled_out=(*out, RuledOut(factor="model", because="it cannot call what it was not offered")),
        )
        return told(harness)
    if offered is None:
        return cannot_tell(
            "never-asked",
            f"nobody asked for {_texts(selectors)}, and the record does not tell whether a tool for it was offered",
            left=("model", "context", "harness"),
            rests_on=basis,
            ruled_out=tuple(out),
            would_tell="a record that lists the tools that were offered",
        )
    out.append(RuledOut(factor="harness", because="the tool was offered, and no record is missing"))
    named = _named_in(question, selectors, event)
    if named is None:
        return cannot_tell(
            "never-asked",
            f"nobody asked for {_texts(selectors)}, and no recorded instruction names it",
            left=("model", "context"),
            rests_on=basis,
            ruled_out=tuple(out),
            would_tell="runs with an instruction that names it and without",
        )
    out.append(
        RuledOut(factor="context", because="the instructions name what was to be asked", events=(record.number(named),))
    )
    model = Reading(
        code="never-asked",
        factor="model",
        sentence=f"{doing} without anyone having asked for {_texts(selectors)}, which was offered and named",
        rests_on=(*basis, record.basis(named, "names it")),
        ruled_out=tuple(out),
    )
    return told(model)


def _named_in(question: Question, selectors: Sequence[Selector], event: Event) -> Event | None:
    among = question.record.instructions(event)
    if not question.record.has_system(event):
        return None
    for name in question.spellings(selectors):
        if (found := question.record.first_mention(name, among)) is not None:
            return found
    return None


def _not_waited_for(question: Question, act: Act, event: Event, doing: str) -> Answer:
    record = question.record
    if act.result is None and not record.is_same_response(act.call, event):
        return lost(record, act, event)
    out = [
        RuledOut(factor="harness", because="what one response issues, and in which order, is the model's alone")
        if record.is_same_response(act.call, event)
        else RuledOut(factor="permission", because="no refusal of the call is recorded before"),
        RuledOut(factor="context", because="the model had asked for it by itself", events=(record.number(act.call),)),
    ]
    basis = [record.basis(act.call, "asked"), record.basis(event, "did not wait")]
    if act.result is not None:
        basis.append(record.basis(act.result, "the answer, later"))
        out.append(RuledOut(factor="tool", because="it answered", events=(record.number(act.result),)))
    where = "in the same response" if record.is_same_response(act.call, event) else "before the answer was there"
    return told(
        Reading(
            code="did-not-wait",
            factor="model",
            sentence=f"{doing} {where} as it asked for the evidence"
            if record.is_same_response(act.call, event)
            else f"{doing} {where}",
            rests_on=tuple(basis),
            ruled_out=tuple(out),
        )
    )


def _about_another(question: Question, acts: Sequence[Act], event: Event, doing: str) -> Answer:
    record, key = question.record, question.missing_key
    given = record.first_mention(key, record.told(event))
    act = acts[-1]
    if given is None or act.outcome != "ok" or act.result is None or not record.is_known(act.result, event):
        return cannot_tell(
            "about-another",
            f"what was asked before was not about `{key}`, and the record does not tell how the model could know of it",
            left=("model", "context", "tool"),
            rests_on=(record.basis(act.call),),
        )
    return told(
        Reading(
            code="about-another",
            factor="model",
            sentence=f"{doing}, and what had been asked was about something other than `{key}`",
            rests_on=(record.basis(act.call, "asked"), record.basis(given, f"names `{key}`"), record.basis(event)),
            ruled_out=(
                RuledOut(factor="context", because=f"`{key}` had been named", events=(record.number(given),)),
                RuledOut(factor="tool", because="it answered what it was asked", events=(record.number(act.result),)),
                RuledOut(factor="permission", because="the question was let through"),
                RuledOut(factor="harness", because="the answer was delivered", events=(record.number(act.result),)),
            ),
        )
    )


def as_told(act: Act) -> Act:
    """Return a call with the outcome that the model was told.

    What came of an error may be unknown to the contract (the money may have gone): the model was told of an error.
    """
    if act.outcome == "unknown" and act.result is not None and act.result.outcome == "failed":
        return replace(act, outcome="failed")
    return act


def answered_otherwise(question: Question, selectors: Sequence[Selector], act: Act, event: Event, doing: str) -> Answer:
    """Return what is to be said where the tool answered well, and the rule does not take it as evidence."""
    record = question.record
    assert act.result is not None
    return cannot_tell(
        "answered-otherwise",
        f"{_texts(selectors)} was asked for and answered, and the answer is not what the rule takes as evidence",
        left=("model", "tool", "business rule"),
        rests_on=(record.basis(act.result, "the answer"), record.basis(event, doing)),
        ruled_out=(
            RuledOut(factor="permission", because="the call was let through", events=(record.number(act.result),)),
            RuledOut(factor="harness", because="the answer was delivered", events=(record.number(act.result),)),
        ),
        would_tell="what the tool ought to have answered: hold its answer against the world or its specification",
    )


def went_on(record: Record, act: Act, event: Event, doing: str) -> Reading:
    """Return the reading of a model that acts although it knows how the call went."""
    assert act.result is not None
    word = {"failed": "had failed", "denied": "had been refused"}[act.outcome]
    return Reading(
        code=f"went-on-{act.outcome}",
        factor="model",
        sentence=f"{doing} although it had been told that the call {word}",
        rests_on=(record.basis(act.result, "was known"), record.basis(event, "then")),
        ruled_out=(
            RuledOut(
                factor="context",
                because="the outcome had been put before the model",
                events=(record.number(act.result),),
            ),
            RuledOut(
                factor="harness",
                because="it delivered the outcome before the response began",
                events=(record.number(act.result),),
            ),
        ),
    )


def service(record: Record, act: Act) -> tuple[Reading, ...]:
    """Return the reading of a tool whose failure is its own: it says so, or the same call went well elsewhere."""
    assert act.result is not None
    same = _same_call_ok(record, act)
    says = _SERVICE.search(f"{act.result.error} {act.result.text or ''}"[:LONGEST_ERROR])
    if same is None and says is None:
        return ()
    because = "the very same call went well" if same is not None else f"the tool says so: {says[0] if says else ''}"
    basis = [record.basis(act.call), record.basis(act.result, because)]
    if same is not None:
        basis.append(record.basis(same.call, "the same call, which went well"))
    return (
        Reading(
            code="tool-failed",
            factor="tool",
            sentence="the tool failed, and the failure is its own",
            rests_on=tuple(basis),
            ruled_out=(
                RuledOut(factor="model", because=because, events=(record.number(act.result),)),
                RuledOut(factor="permission", because="the call was carried out, not refused"),
                RuledOut(factor="harness", because="the outcome was delivered", events=(record.number(act.result),)),
            ),
        ),
    )


def refused(record: Record, act: Act) -> Reading:
    """Return the reading of a call that was not let happen."""
    assert act.result is not None
    decided = approval(record, act, "denied")
    who = f" by {decided.by}" if decided is not None and decided.by else ""
    return Reading(
        code="refused",
        factor="permission",
        sentence=f"the call was refused{who}",
        rests_on=(
            record.basis(act.call),
            *((record.basis(decided, "the decision"),) if decided is not None else ()),
            record.basis(act.result),
        ),
        ruled_out=(
            RuledOut(factor="tool", because="it was not let run", events=(record.number(act.result),)),
            RuledOut(factor="harness", because="the refusal was delivered", events=(record.number(act.result),)),
        ),
    )


def lost(record: Record, act: Act, event: Event | None) -> Answer:
    """Return what is to be said of a call whose result never came."""
    gap = record.gap("tool.result")
    if gap is not None:
        return gapped(record, gap, "the result")
    going_on = next(
        (
            one
            for one in record.events
            if one.seq > act.call.seq
            and getattr(one, "agent", None) == act.call.agent
            and getattr(one, "turn", None) not in (None, act.call.turn)
        ),
        None,
    )
    if going_on is None:
        return cannot_tell(
            "no-result",
            "the record stops before a result could come",
            left=("harness", "tool"),
            rests_on=(record.basis(act.call, "no result"),),
            would_tell="the rest of the record",
        )
    basis = [record.basis(act.call, "no result"), record.basis(going_on, "the lane went on")]
    if event is not None and event is not going_on:
        basis.append(record.basis(event))
    return told(
        Reading(
            code="result-lost",
            factor="harness",
            sentence="the lane went on, and no result of the call was ever delivered",
            rests_on=tuple(basis),
            ruled_out=(
                RuledOut(factor="model", because="it had asked", events=(record.number(act.call),)),
                RuledOut(factor="tool", because="even a tool that breaks leaves the harness owing an outcome"),
                RuledOut(factor="permission", because="no refusal is recorded"),
            ),
        )
    )


def gapped(record: Record, gap: Event, what: str) -> Answer:
    """Return what is to be said where a gap may hide the evidence."""
    return cannot_tell(
        "gap",
        f"a gap may hide {what}",
        rests_on=(record.basis(gap),),
        would_tell="a record without the gap",
    )


def unclear(record: Record, act: Act) -> Answer:
    """Return what is to be said of a call of which the record does not tell how it went."""
    basis = (record.basis(act.call), *((record.basis(act.result),) if act.result is not None else ()))
    return cannot_tell(
        "outcome-unknown",
        "the record does not tell how the call went",
        left=("tool", "harness", "model"),
        rests_on=basis,
        would_tell="the tool's own log, or `fails_when` in the contract where the result tells it in words",
    )


def approval(record: Record, act: Act, decision: str) -> Approval | None:
    """Return the last decision on a call."""
    found = [
        event
        for event in record.events
        if isinstance(event, Approval)
        and event.decision == decision
        and (event.call_id == act.call.call_id if event.call_id else event.tool == act.call.tool)
        and act.call.call_id
        and event.agent == act.call.agent
        and event.seq > act.call.seq
        and (act.result is None or event.seq < act.result.seq)
    ]
    return found[-1] if found else None


def _same_call_ok(record: Record, act: Act) -> Act | None:
    asked = arguments(act.call)
    if asked is None:
        return None
    return next(
        (
            other
            for other in record.acts
            if other.outcome == "ok" and other.call.tool == act.call.tool and arguments(other.call) == asked
        ),
        None,
    )


def _concerns(act: Act, key: str) -> bool:
    if not key:
        return True
    said = arguments(act.call)
    return mentions(said, key) or (act.result is not None and mentions(content(act.result), key))


def _texts(selectors: Sequence[Selector]) -> str:
    return " or ".join(dict.fromkeys(f"`{one.text}`" for one in selectors))

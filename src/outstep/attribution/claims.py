"""Claims without evidence: what the model knew of the deed when it said that it was done."""

from __future__ import annotations

from outstep.attribution.answer import Answer, Reading, RuledOut, cannot_tell, told
from outstep.attribution.course import as_told, gapped, lost, refused, service, unclear
from outstep.attribution.question import Question
from outstep.attribution.record import Act, content
from outstep.events import Event
from outstep.expr.claims import ClaimFinder
from outstep.expr.mentions import mentions


def claimed(question: Question, event: Event) -> Answer:
    """Return where a claim without evidence comes from."""
    record = question.record
    selectors = question.wanted
    if any(one.what not in ("call", "result") for one in selectors) or not selectors:
        return cannot_tell("no-row", "no row of the method speaks of this evidence")
    source = _said_before(question, event)
    if source is not None:
        return cannot_tell(
            "told-so",
            "something that the model was given says the same",
            left=("model", "context", "tool"),
            rests_on=(record.basis(source, "says the same"), record.basis(event, "the claim")),
            would_tell="whether what it was given is true",
        )
    acts = [act for act in question.acts(selectors) if _is_about(question, act)]
    earlier = [act for act in acts if act.call.seq < event.seq]
    if not earlier:
        return _never_done(question, event, acts)
    act = as_told(earlier[-1])
    if act.result is None:
        answer = lost(record, act, event)
        return told(*answer.readings, _said_all_the_same(question, act, event)) if answer.readings else answer
    if not record.is_known(act.result, event):
        return cannot_tell(
            "not-known-here",
            "the outcome came to another lane, or after the claim",
            left=("model", "harness"),
            rests_on=(record.basis(act.result), record.basis(event, "the claim")),
        )
    if act.outcome == "denied":
        return told(refused(record, act), _said_all_the_same(question, act, event))
    if act.outcome == "failed":
        return told(*service(record, act), _said_all_the_same(question, act, event))
    if act.outcome == "unknown":
        return unclear(record, act)
    return cannot_tell(
        "answered-otherwise",
        "the call went well, and the rule does not take it as evidence for the claim",
        left=("model", "business rule"),
        rests_on=(record.basis(act.result), record.basis(event, "the claim")),
        would_tell="whether the sentence is about this call",
    )


def _never_done(question: Question, event: Event, acts: list[Act]) -> Answer:
    record = question.record
    if (gap := record.gap("tool.call", "tool.result")) is not None:
        return gapped(record, gap, "the deed")
    if not record.has_system(event):
        return cannot_tell(
            "claim-without-deed",
            "nothing of the kind had been done, and the record does not hold what the model was told",
            left=("model", "context"),
            rests_on=(record.basis(event, "the claim"),),
            ruled_out=(
                RuledOut(factor="tool", because="it was not called before"),
                RuledOut(factor="permission", because="nothing was asked that could have been refused"),
            ),
            would_tell="a record that holds the system prompt",
        )
    later = tuple(record.basis(act.call, "only after it was said") for act in acts[:1])
    return told(
        Reading(
            code="claim-without-deed",
            factor="model",
            sentence="it said that it was done, and nothing of the kind had been done",
            rests_on=(record.basis(event, "the claim"), *later),
            ruled_out=(
                RuledOut(factor="tool", because="it was not called before"),
                RuledOut(factor="permission", because="nothing was asked that could have been refused"),
                RuledOut(factor="harness", because="no record is missing, and no call waits for a result"),
                RuledOut(factor="context", because="nothing that the model was given says so"),
            ),
        )
    )


def _said_all_the_same(question: Question, act: Act, event: Event) -> Reading:
    record = question.record
    how = {
        "failed": "had been told that the call failed",
        "denied": "had been told that the call was refused",
        "unanswered": "had no answer",
    }[act.outcome]
    known = act.result if act.result is not None else act.call
    return Reading(
        code=f"claimed-{act.outcome}",
        factor="model",
        sentence=f"it said that it was done although it {how}",
        rests_on=(record.basis(known, "was known"), record.basis(event, "the claim")),
        ruled_out=(
            RuledOut(factor="context", because="nothing that the model was given says that it was done"),
            *(
                (
                    RuledOut(
                        factor="harness",
                        because="it delivered the outcome before the message",
                        events=(record.number(act.result),),
                    ),
                    RuledOut(factor="tool", because="it told the outcome", events=(record.number(act.result),)),
                )
                if act.result is not None
                else ()
            ),
        ),
    )


def _is_about(question: Question, act: Act) -> bool:
    key = question.finding.key.strip('"') if question.rule.about is not None else ""
    if not key:
        return True
    return mentions(bytes(act.call.args).decode(errors="replace"), key) or (
        act.result is not None and mentions(content(act.result), key)
    )


def _said_before(question: Question, event: Event) -> Event | None:
    """Return what was put before the model and makes the same claim: a summary, a sub-agent, a tool."""
    names = {name for selector in question.rule.triggers for name in selector.names}
    patterns = {
        claim.name: claim.prepared
        for claim in question.contract.claims
        if claim.prepared and (not names or claim.name in names)
    }
    if not patterns:
        return None
    finder = ClaimFinder(patterns)
    for one in question.record.told(event):
        said = content(one)
        texts = [said] if isinstance(said, str) else [text for text in said if isinstance(text, str)]
        if any(text and finder.find(text[:LONGEST]) for text in texts):
            return one
    return None


LONGEST = 200_000
"""Characters of one text that are looked through."""

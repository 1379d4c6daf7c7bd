"""From rulings to findings: levels, places, quotes, fingerprints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import structs

from outstep import codec
from outstep.adapters.base import Origin
from outstep.digest import sha256
from outstep.errors import Place
from outstep.findings import Finding, Ruling, Touched, Witness
from outstep.render.quote import LONGEST
from outstep.workflow.gating import level_of, place_of
from outstep.workflow.looking import Seen

if TYPE_CHECKING:
    from outstep.workflow.judging import Draft

_HELP = {
    "hidden-evidence": "record the run whole, or leave unredacted what the rule reads",
    "undecided-condition": "test a member before it is read: `has(args.force) && args.force`",
    "hidden-trigger": "`--allow hidden-trigger` accepts that all that is visible holds",
    "not-recorded": "judge a record of a format that holds such events, or lower the rule with `levels`",
    "unfinished-run": "record the run to its end, or pass `--complete` if it did end here",
    "record-ends": "record the run to its end, or pass `--complete` if it did end here",
    "records-lost": "record the run again; what was lost cannot be judged",
}


def build(draft: Draft, seen: Mapping[int, Seen], origins: Mapping[tuple[str, int], Origin]) -> tuple[Finding, ...]:
    """Return the findings of one contract on one trace, by place."""
    order = sorted(
        enumerate(draft.rulings), key=lambda pair: (pair[1].seq is None, pair[1].seq or 0, pair[1].rule, pair[0])
    )
    counts: dict[str, int] = {}
    return tuple(_finding(draft, ruling, seen, origins, counts) for _, ruling in order)


def _finding(
    draft: Draft,
    ruling: Ruling,
    seen: Mapping[int, Seen],
    origins: Mapping[tuple[str, int], Origin],
    counts: dict[str, int],
) -> Finding:
    contract, trace = draft.contract, draft.header.id
    rule = contract.rules[ruling.rule]
    event = seen.get(ruling.seq) if ruling.seq is not None else None
    origin = origins.get((trace, ruling.seq)) if ruling.seq is not None else None
    source = draft.header.sources[0].uri if draft.header.sources else ""
    return Finding(
        rule=rule.id,
        level=level_of(rule.level, contract.stage),
        cls=rule.cls,
        verdict=ruling.verdict,
        reason=ruling.reason,
        message=ruling.message or ruling.sentence,
        sentence=ruling.sentence,
        trace=trace,
        event=event.index if event is not None else None,
        of=draft.events,
        seq=ruling.seq,
        raw_seq=origin.raw_seq if origin is not None else None,
        turn=event.turn if event is not None else None,
        agent=event.agent if event is not None else "",
        call_id=event.call_id if event is not None else "",
        key=ruling.key,
        values=ruling.values,
        missing=ruling.missing,
        witness=_witnesses(ruling, trace, seen, origins),
        place=origin.place if origin is not None else Place(source=source) if source else None,
        contract=contract.id,
        contract_place=place_of(contract, rule.spot),
        fingerprint=_fingerprint(draft, ruling, event, counts),
        help=_waiver(rule.id, trace) if ruling.verdict == "violated" else _HELP.get(ruling.reason, ""),
        touched=_touched(draft, ruling),
    )


def _touched(draft: Draft, ruling: Ruling) -> Touched | None:
    """Return what a call touches, with what became of the call."""
    if ruling.touched is None or ruling.seq is None:
        return ruling.touched
    return structs.replace(ruling.touched, outcome=draft.outcomes.get(ruling.seq, ""))


def _waiver(rule: str, trace: str) -> str:
    """Return how to accept a finding for a while."""
    names = ", ".join(f"{name}: {codec.encode(value).decode()}" for name, value in (("rule", rule), ("trace", trace)))
    return f"to accept it until a day: waivers: [{{{names}, owner: …, reason: …, until: …}}]"


def _witnesses(
    ruling: Ruling, trace: str, seen: Mapping[int, Seen], origins: Mapping[tuple[str, int], Origin]
) -> tuple[Witness, ...]:
    """Return the events that prove it, the offending one always among them, and first."""
    given = ruling.witness
    if ruling.seq is not None and all(witness.seq != ruling.seq for witness in given):
        given = (Witness(seq=ruling.seq), *given)
    told = []
    for witness in given:
        event = seen.get(witness.seq)
        origin = origins.get((trace, witness.seq))
        quote = event.quote if event is not None else ""
        if ruling.match and witness.seq == ruling.seq:
            # Of a long message, the sentence that claims.
            quote = f"claim {codec.encode(ruling.match[:LONGEST]).decode()}"
        told.append(
            structs.replace(
                witness,
                type=event.type if event is not None else "",
                quote=quote,
                place=origin.place if origin is not None else None,
                raw_seq=origin.raw_seq if origin is not None else None,
            )
        )
    return tuple(told)


def _fingerprint(draft: Draft, ruling: Ruling, event: Seen | None, counts: dict[str, int]) -> str:
    """Return what names a finding through re-runs and edits elsewhere: no line, no `seq`, no sentence.

    The event counts as the n-th of its kind in its lane, so that other events may come and go around it.
    """
    contract = draft.contract
    parts = [contract.id, contract.rules[ruling.rule].id, draft.header.id, ruling.verdict]
    parts += [event.name if event is not None else "", ruling.key, ruling.match]
    text = codec.encode(parts).decode()
    counts[text] = counts.get(text, 0) + 1
    return sha256(f"{text}{counts[text]}".encode()).hexdigest()[:32]

"""One group of documents judged in one pass by every contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import tee

from msgspec import Struct

from outstep.adapters.base import Adapter, Batch, Document, Options, Origin, ReadLog, Tally
from outstep.adapters.discover import METRICS
from outstep.codec import encode
from outstep.contracts.kinds import Python
from outstep.contracts.model import Contract
from outstep.digest import sha256
from outstep.engine.monitor import Compiled, Judgement, judge
from outstep.errors import Place, Problem
from outstep.events import Header
from outstep.findings import Finding, Ruling, TraceSummary, Verdict
from outstep.workflow.gating import place_of
from outstep.workflow.looking import Seen, Window, look_again

VERDICTS: tuple[Verdict, ...] = ("satisfied", "violated", "inconclusive", "vacuous")
UNSEEN = frozenset({"hidden-trigger", "not-recorded"})
"""Reasons with which a rule is inconclusive although nothing ever triggered it."""

Pulse = Callable[[], None]
"""Told after each trace."""


class Judged(Struct, frozen=True, kw_only=True):
    """One trace with everything that a report says about it."""

    summary: TraceSummary
    notes: tuple[str, ...]
    """Sentences of the adapter on what could not be carried over."""
    findings: tuple[tuple[Finding, ...], ...]
    """By contract."""


class Counts(Struct, kw_only=True):
    """How many traces of a group had which verdict, by rule, for one contract."""

    verdicts: list[list[int]]
    """By rule: numbers in the order of `VERDICTS`."""
    unseen: list[int]
    """By rule: traces in which only something hidden may have triggered it."""
    applied: int = 0
    """Traces for which `applies_when` was true."""
    judged: int = 0


class Result(Struct, kw_only=True):
    """What one group of documents gives to the report."""

    traces: list[Judged] = []
    counts: list[Counts] = []
    """By contract."""
    faults: list[Problem] = []
    warnings: list[Problem] = []


def made_ready(contract: Contract) -> Compiled:
    """Return a contract ready to judge; raises `OutstepError` for a function that it names and that is not there."""
    if not any(isinstance(rule.kind, Python) for rule in contract.rules):
        return Compiled(contract)
    from outstep.workflow.functions import ready  # few contracts bring code of their own

    return ready(contract)


class Draft(Struct, frozen=True, kw_only=True):
    """What one contract says about one trace, before it is told where events stand."""

    contract: Contract
    rulings: tuple[Ruling, ...]
    header: Header
    events: int
    outcomes: dict[int, str] = {}


class _Kept(Struct, kw_only=True):
    """One judged trace that waits for the places of its events."""

    drafts: list[Draft]
    """By contract."""
    judgements: tuple[Judgement, ...]
    """The same, rulings and all."""
    wanted: set[int]
    seen: dict[int, Seen] | None

    @property
    def judgement(self) -> Judgement:
        """The one that tells most about the trace: by a contract that did not break."""
        return next((one for one in self.judgements if one.verdicts), self.judgements[0])


def judge_group(
    adapter: Adapter,
    documents: list[Document],
    contracts: Sequence[Compiled],
    options: Options,
    pulse: Pulse | None = None,
) -> Result:
    """Return what the contracts say about the traces in some documents."""
    log = ReadLog()
    scores: list[Problem] = []
    """Mistakes in the files of scores."""
    if metric_files(documents):
        from outstep.workflow.metrics import Scored  # few traces have scores beside them

        adapter = Scored(adapter, metric_files(documents), scores)
    try:
        kept, counts = _judge(_guarded(adapter, documents, options, log), contracts, pulse)
    except Exception:
        # Something in the engine broke. The documents are read again, trace by trace, to say which one and go on.
        from outstep.workflow.crashes import Carefully

        log = ReadLog()
        kept, counts = _judge(_guarded(adapter, documents, options, log), contracts, pulse, one_by_one=Carefully(log))
    _look_again(kept, adapter, documents, options)
    origins = _origins(kept, adapter, documents, options, log)
    result = Result(counts=counts)
    for number, entry in enumerate(kept):
        # An adapter that forgets to count loses its counts, never its traces.
        tally = log.tallies[number] if number < len(log.tallies) else Tally(trace=entry.judgement.header.id)
        result.traces.append(_judged(entry, tally, origins, log))
        log.faults += _too_costly(entry)
        log.faults += _broken(entry)
        result.warnings += _unrecorded(entry)
    log.faults += scores
    result.warnings = list(dict.fromkeys(result.warnings))
    result.faults = list(dict.fromkeys(log.faults))
    return result


def metric_files(documents: Sequence[Document]) -> list[str]:
    """Return the files of scores beside some documents."""
    folders = dict.fromkeys(os.path.dirname(document.path) for document in documents if document.path is not None)
    return [file for folder in folders if os.path.isfile(file := os.path.join(folder, METRICS))]


def _wanted(rulings: Sequence[Ruling]) -> set[int]:
    """Return the `seq` of every event that the rulings name."""
    seqs = {ruling.seq for ruling in rulings if ruling.seq is not None}
    return seqs.union(witness.seq for ruling in rulings for witness in ruling.witness)


OneByOne = Callable[[Sequence[Compiled], Iterator[Batch]], Iterator[tuple[Judgement, ...]]]


def _judge(
    batches: Iterator[Batch], contracts: Sequence[Compiled], pulse: Pulse | None, one_by_one: OneByOne | None = None
) -> tuple[list[_Kept], list[Counts]]:
    window = Window(batches)
    stream: Iterator[Batch] = iter(window)  # type: ignore[arg-type]
    if one_by_one is not None:
        judgements = one_by_one(contracts, stream)
    else:
        copies = tee(stream, len(contracts)) if len(contracts) > 1 else (stream,)
        # Contracts advance together, trace by trace, so that a copy holds no more than one trace.
        judgements = zip(*(judge(one, copy) for one, copy in zip(contracts, copies, strict=True)), strict=True)
    counts = [
        Counts(verdicts=[[0, 0, 0, 0] for _ in one.contract.rules], unseen=[0] * len(one.contract.rules))
        for one in contracts
    ]
    kept: list[_Kept] = []
    for together in judgements:
        drafts: list[Draft] = []
        wanted: set[int] = set()
        for one, judgement, count in zip(contracts, together, counts, strict=True):
            _count(judgement, count)
            wanted |= _wanted(judgement.rulings)
            drafts.append(
                Draft(
                    contract=one.contract,
                    rulings=judgement.rulings,
                    header=judgement.header,
                    events=judgement.events,
                    outcomes=judgement.outcomes,
                )
            )
        kept.append(_Kept(drafts=drafts, judgements=together, wanted=wanted, seen=window.pass_trace(wanted)))
        if pulse is not None:
            pulse()
    return kept, counts


def _count(judgement: Judgement, count: Counts) -> None:
    count.applied += judgement.applies
    count.judged += bool(judgement.verdicts)
    reasons: dict[int, set[str]] = {}
    for ruling in judgement.rulings:
        reasons.setdefault(ruling.rule, set()).add(ruling.reason)
    for index, verdict in enumerate(judgement.verdicts):
        count.verdicts[index][VERDICTS.index(verdict)] += 1
        if verdict == "inconclusive" and reasons.get(index, UNSEEN) <= UNSEEN:
            count.unseen[index] += 1


def _guarded(adapter: Adapter, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
    """Yield the batches of an adapter; an adapter that breaks is a fault, and what it gave before still counts."""
    try:
        yield from adapter.stream(documents, options, log)
    except Exception as error:
        log.faults.append(_adapter_crash(adapter, documents, error))


def _adapter_crash(adapter: Adapter, documents: list[Document], error: Exception) -> Problem:
    return Problem(
        code="adapter/crash",
        sentence=f"the {adapter.name} adapter broke: {type(error).__name__}: {error}",
        place=Place(source=documents[0].uri) if documents else None,
        help="this is a mistake of the adapter, not of the record: please report it",
    )


def _look_again(kept: list[_Kept], adapter: Adapter, documents: list[Document], options: Options) -> None:
    """Find the events of traces that were too long to be kept, by a second look at the documents."""
    wanted = {number: entry.wanted for number, entry in enumerate(kept) if entry.seen is None and entry.wanted}
    if not wanted:
        return
    found = look_again(_guarded(adapter, documents, options, ReadLog()), wanted)
    for number, seen in found.items():
        kept[number].seen = seen


def _origins(
    kept: list[_Kept], adapter: Adapter, documents: list[Document], options: Options, log: ReadLog
) -> dict[tuple[str, int], Origin]:
    """Ask the adapter once where the events of all findings stand."""
    wanted: dict[str, set[int]] = {}
    for entry in kept:
        if entry.wanted:
            wanted.setdefault(entry.judgement.header.id, set()).update(entry.wanted)
    if not wanted:
        return {}
    try:
        return adapter.origins(documents, options, {trace: sorted(seqs) for trace, seqs in wanted.items()})
    except Exception as error:
        log.faults.append(_adapter_crash(adapter, documents, error))
        return {}


def _judged(entry: _Kept, tally: Tally, origins: dict[tuple[str, int], Origin], log: ReadLog) -> Judged:
    summary = _summary(entry, tally)
    if not summary.events:
        log.faults.append(
            Problem(
                code="trace/empty",
                sentence=f"trace `{summary.id}` holds no event",
                place=Place(source=summary.sources[0]) if summary.sources else None,
                help="nothing was recorded, so nothing was checked",
            )
        )
    return Judged(
        summary=summary,
        notes=tuple(tally.notes),
        findings=tuple(_findings(draft, entry.seen or {}, origins) for draft in entry.drafts),
    )


def _findings(draft: Draft, seen: dict[int, Seen], origins: dict[tuple[str, int], Origin]) -> tuple[Finding, ...]:
    if not draft.rulings:
        return ()
    from outstep.workflow.building import build  # a run in which all holds needs none of it

    return build(draft, seen, origins)


def _summary(entry: _Kept, tally: Tally) -> TraceSummary:
    judgement = entry.judgement
    header: Header = judgement.header
    sources = header.sources
    counts = {verdict: 0 for verdict in VERDICTS}
    for one in entry.judgements:
        for verdict in one.verdicts:
            counts[verdict] += 1
    return TraceSummary(
        id=header.id,
        sources=tuple(dict.fromkeys(source.uri for source in sources if source.uri)),
        format=sources[0].format if sources else "",
        version=sources[0].version if sources else "",
        sha256=tuple(dict.fromkeys(source.sha256 for source in sources if source.sha256)),
        unpinned=any(source.unpinned for source in sources),
        subject=_subject(header),
        events=judgement.events,
        calls=judgement.calls,
        unanswered=judgement.unanswered,
        records=tally.records,
        skipped=dict(sorted(tally.skipped.items())),
        end="taken" if tally.end == "taken" else judgement.end,
        order=judgement.order,
        metrics=header.metrics,
        satisfied=counts["satisfied"],
        violated=counts["violated"],
        inconclusive=counts["inconclusive"],
        vacuous=counts["vacuous"],
        verdicts=tuple(map(_unsatisfied, entry.drafts, entry.judgements)),
    )


def _subject(header: Header) -> dict[str, str]:
    """Return what tells runs of different agents apart; lists by their digest."""
    told = {"harness": header.harness, "model": header.model, "prompt": header.prompt}
    for name, some in (("skills", sorted(header.skills)), ("tools", sorted(header.tools.items()))):
        told[name] = sha256(encode(some)).hexdigest() if some else ""
    told["config"] = header.config
    return {name: value for name, value in told.items() if value}


def _unsatisfied(draft: Draft, judgement: Judgement) -> dict[str, Verdict] | None:
    if not judgement.verdicts:
        return None
    return {
        rule.id: verdict
        for rule, verdict in zip(draft.contract.rules, judgement.verdicts, strict=True)
        if verdict != "satisfied"
    }


def _too_costly(entry: _Kept) -> list[Problem]:
    return [
        Problem(
            code="expr/too-costly",
            sentence=f"`{expr.text}` takes more steps than an expression may",
            place=place_of(draft.contract, expr.spot),
            help="the rule is inconclusive; put what it looks for into a fact, or bound its lists",
        )
        for draft, judgement in zip(entry.drafts, entry.judgements, strict=True)
        for expr in judgement.costly
    ]


def _broken(entry: _Kept) -> list[Problem]:
    """Return which rules could not be checked on a trace, and why."""
    return [
        Problem(
            code="engine/broken-check",
            sentence=f"`{rule.id}` could not be checked on trace `{entry.judgement.header.id}`: {sentence}",
            place=place_of(draft.contract, rule.spot),
            help=help,
        )
        for draft, judgement in zip(entry.drafts, entry.judgements, strict=True)
        for rule, sentence, help in judgement.broken
    ]


def _unrecorded(entry: _Kept) -> list[Problem]:
    """Return which tools' outcomes a rule asks for, and nobody tells (SEMANTICS section 3)."""
    return [
        Problem(
            code="outcome/unrecorded",
            sentence=f"the record does not say how calls of `{tool}` went, so none of them counts as ok",
            help=f"say in `tools` when one fails: `{tool}: {{fails_when: ...}}`, or when it went well: `succeeds_when`",
            level="warning",
        )
        for judgement in entry.judgements
        for tool in judgement.unrecorded
    ]

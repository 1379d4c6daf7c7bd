"""What slips through: good traces broken as agents fail, and the contract made weaker (docs/mutation.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract
from outstep.contracts.names import ToolNames
from outstep.contracts.selectors import Selector
from outstep.engine.monitor import Compiled, Judgement, judge
from outstep.errors import Place
from outstep.events import Event, Header
from outstep.findings import Verdict
from outstep.mutation.contracts import Weakened, weakened
from outstep.mutation.traces import Concern, Mutant, mutants
from outstep.tracetext import trace_text
from outstep.workflow.functions import ready
from outstep.workflow.gating import level_of, place_of
from outstep.workflow.traces import Trace

LIMIT = 50
"""Mutants of one way and tool that are tried, when nobody says otherwise."""
MOST_TRACES = 400
"""Traces that weakened contracts are held against: the shortest."""
WORSE: dict[Verdict, int] = {"satisfied": 0, "vacuous": 0, "inconclusive": 1, "violated": 2}


class Slipped(Struct, frozen=True, kw_only=True):
    """Mutants of one way on one thing that the contract does not notice."""

    way: str
    what: str
    count: int
    of: int
    """Mutants of this way and thing in all."""
    detail: str
    """Of the smallest one."""
    trace: str
    """The id of the trace that was broken."""
    example: str
    """The smallest one, as the small text form spells it."""


class Unseen(Struct, frozen=True, kw_only=True):
    """A change of the contract that no trace shows."""

    way: str
    rule: str
    detail: str
    place: Place


class Noticed(Struct, frozen=True, kw_only=True):
    """How many mutants of one way on one thing were noticed."""

    way: str
    what: str
    noticed: int
    of: int


class Mutation(Struct, frozen=True, kw_only=True):
    """What came of breaking traces and weakening the contract."""

    good: int
    """Traces that were broken."""
    not_good: tuple[str, ...]
    """Traces in which the contract finds something already: they were left out."""
    noticed: tuple[Noticed, ...]
    slipped: tuple[Slipped, ...]
    seen: int
    changes: int
    """Changes of the contract that were tried."""
    unseen: tuple[Unseen, ...]

    @property
    def trace_score(self) -> tuple[int, int]:
        """Broken traces that were noticed, and how many there were."""
        return sum(one.noticed for one in self.noticed), sum(one.of for one in self.noticed)


def mutate(contract: Contract, traces: Iterable[Trace], *, limit: int = LIMIT, weaken: bool = True) -> Mutation:
    """Return what a contract notices when good traces are broken, and what its traces notice when it is weaker."""
    compiled = ready(contract)
    levels = [level_of(rule.level, contract.stage) for rule in contract.rules]
    gating = [level in ("block", "warn") for level in levels]
    concerns = _Concerns(contract)
    good: list[tuple[Trace, Judgement]] = []
    not_good: list[str] = []
    for trace in traces:
        judged = _judged(compiled, trace.header, trace.events)
        if any(gates and WORSE[verdict] for gates, verdict in zip(gating, judged.verdicts, strict=True)):
            not_good.append(trace.id)
        else:
            good.append((trace, judged))
    tried = list(_tried(good, concerns, limit))
    counts: dict[tuple[str, str], list[int]] = {}
    slipped: dict[tuple[str, str], list[tuple[Trace, Mutant]]] = {}
    for (trace, before, mutant), after in zip(tried, _all_judged(compiled, tried), strict=True):
        key = (mutant.way, mutant.what)
        count = counts.setdefault(key, [0, 0])
        count[1] += 1
        if _is_noticed(before, after, gating):
            count[0] += 1
        else:
            slipped.setdefault(key, []).append((trace, mutant))
    unseen: list[Unseen] = []
    seen = changes = 0
    if weaken:
        material = [(trace.header, trace.events) for trace, _ in good] + [
            (one.header, one.events) for _, _, one in tried
        ]
        material = sorted(material, key=lambda one: len(one[1]))[:MOST_TRACES]
        signatures = [_signature(one) for one in _stream(compiled, material)]
        for change in weakened(contract):
            changes += 1
            if _shows(change, material, signatures):
                seen += 1
            else:
                place = place_of(contract, change.spot)
                unseen.append(Unseen(way=change.way, rule=change.rule, detail=change.detail, place=place))
    return Mutation(
        good=len(good),
        not_good=tuple(not_good),
        noticed=tuple(Noticed(way=way, what=what, noticed=n, of=of) for (way, what), (n, of) in counts.items()),
        slipped=tuple(_smallest(key, some, counts[key][1]) for key, some in slipped.items()),
        seen=seen,
        changes=changes,
        unseen=tuple(unseen),
    )


class _Concerns:
    """Tells what a contract has to do with a tool, apart from rules about every tool."""

    def __init__(self, contract: Contract) -> None:
        self._names = ToolNames(contract)
        selectors = list(_selectors(contract))
        self._selectors = [one for one in selectors if one.what != "claim" and one.names and one.names != ("*",)]
        self.of_context = any(one.what == "context" for one in selectors)
        self._known: dict[str, Concern | None] = {}

    def __call__(self, recorded: str) -> Concern | None:
        if recorded not in self._known:
            self._known[recorded] = self._concern(recorded)
        return self._known[recorded]

    def _concern(self, recorded: str) -> Concern | None:
        canonical = self._names.canonical(recorded)
        if not any(self._names.matches(one.names, recorded, canonical) for one in self._selectors):
            return None
        tool = self._names.tool(canonical)
        return Concern(name=canonical, is_read=tool is not None and tool.effect == "read")


def _selectors(contract: Contract) -> Iterator[Selector]:
    for fact in contract.facts:
        yield from _within(fact)
    for rule in contract.rules:
        if not isinstance(rule.kind, Integrity):
            yield from _within(rule)


def _within(value: object) -> Iterator[Selector]:
    if isinstance(value, Selector):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _within(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from _within(item)


Tried = tuple[Trace, Judgement, Mutant]


def _tried(good: Sequence[tuple[Trace, Judgement]], concerns: _Concerns, limit: int) -> Iterator[Tried]:
    """Yield the mutants that are tried: of each way and thing the first ones, one trace after the other."""
    counts: dict[tuple[str, str], int] = {}
    for trace, before in good:
        for mutant in mutants(trace.header, trace.events, concerns, of_context=concerns.of_context):
            key = (mutant.way, mutant.what)
            if counts.get(key, 0) < limit:
                counts[key] = counts.get(key, 0) + 1
                yield trace, before, mutant


def _all_judged(compiled: Compiled, tried: Sequence[Tried]) -> Iterator[Judgement]:
    return _stream(compiled, [(mutant.header, mutant.events) for _, _, mutant in tried])


def _stream(compiled: Compiled, material: Iterable[tuple[Header, Sequence[Event]]]) -> Iterator[Judgement]:
    return judge(compiled, ([header, *events] for header, events in material))


def _judged(compiled: Compiled, header: Header, events: Sequence[Event]) -> Judgement:
    return next(_stream(compiled, [(header, events)]))


def _is_noticed(before: Judgement, after: Judgement, gating: Sequence[bool]) -> bool:
    """Return whether a rule that warns or blocks stands worse than on the good trace."""
    return any(
        gates and WORSE[now] > WORSE[was]
        for gates, was, now in zip(gating, before.verdicts, after.verdicts, strict=True)
    )


def _signature(judged: Judgement) -> tuple[object, ...]:
    """Return what tells two judgements of one trace apart: which rules found what, and where."""
    return tuple(sorted((one.seq if one.seq is not None else -1, one.verdict, one.sentence) for one in judged.rulings))


def _shows(
    change: Weakened, material: Sequence[tuple[Header, Sequence[Event]]], signatures: Sequence[tuple[object, ...]]
) -> bool:
    """Return whether some trace is judged otherwise by the changed contract."""
    stream = _stream(ready(change.contract), material)
    return any(_signature(judged) != signature for judged, signature in zip(stream, signatures, strict=True))


def _smallest(key: tuple[str, str], some: Sequence[tuple[Trace, Mutant]], of: int) -> Slipped:
    trace, mutant = min(some, key=lambda one: len(one[1].events))
    return Slipped(
        way=key[0],
        what=key[1],
        count=len(some),
        of=of,
        detail=mutant.detail,
        trace=trace.id,
        example=trace_text(mutant.header, mutant.events),
    )

"""What slips through: good traces broken as agents fail, and the contract made weaker (docs/mutation.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial

from msgspec import Struct

from outstep.contracts.contents import contract_expressions
from outstep.contracts.kinds import AtLeast, Integrity
from outstep.contracts.model import Contract
from outstep.contracts.names import ToolNames
from outstep.contracts.selectors import Selector
from outstep.digest import sha256
from outstep.engine.monitor import Compiled, Judgement, judge
from outstep.errors import Place
from outstep.events import SCHEMA, Event, Header
from outstep.expr.nodes import Select, paths_of, walk
from outstep.findings import Verdict
from outstep.mutation.contracts import Weakened, weakened
from outstep.mutation.traces import Concern, Mutant, Picked, mutants
from outstep.tracetext import trace_text
from outstep.workflow.functions import ready
from outstep.workflow.gating import level_of, place_of
from outstep.workflow.shrinking import shrunk
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
    cannot_fail: tuple[str, ...] = ()
    """Rules that hold on every trace with these parameters: changes of them mean nothing, and are not counted."""

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
    cannot_fail = tuple(_cannot_fail(contract, compiled)) if weaken else ()
    seen = changes = 0
    if weaken:
        material = [(trace.header, trace.events) for trace, _ in good] + [
            (one.header, one.events) for _, _, one in tried
        ]
        material = sorted(material, key=lambda one: len(one[1]))[:MOST_TRACES]
        signatures = [_signature(one) for one in _stream(compiled, material)]
        for change in weakened(contract):
            if change.rule in cannot_fail:
                continue
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
        slipped=tuple(_smallest(compiled, key, some, counts[key][1]) for key, some in slipped.items()),
        seen=seen,
        changes=changes,
        unseen=tuple(unseen),
        cannot_fail=cannot_fail,
    )


def _cannot_fail(contract: Contract, compiled: Compiled) -> Iterator[str]:
    """Yield the rules that ask for at least nothing."""
    run = compiled.run(Header(schema=SCHEMA))
    for rule in contract.rules:
        if isinstance(rule.kind, AtLeast):
            bound = run.constant(rule.kind.bound)
            if isinstance(bound, int | Decimal) and bound <= 0 and not paths_of(rule.kind.bound.node, "trace"):
                yield rule.id


class _Concerns:
    """Tells what a contract has to do with a tool, apart from rules about every tool."""

    def __init__(self, contract: Contract) -> None:
        self._names = ToolNames(contract)
        selectors = list(_selectors(contract))
        self._selectors = [one for one in selectors if one.what != "claim" and one.names and one.names != ("*",)]
        self.of_context = any(one.what == "context" for one in selectors)
        self.of_messages = any(one.what in ("message", "final message", "claim") for one in selectors)
        self._arguments = frozenset(_arguments_read(contract))
        self._members = frozenset(_members_read(contract))
        self._asks_own_result = any(one.what == "its result" for one in selectors)
        self._counts_outcomes = any(rule.counting != "attempts" for rule in contract.rules)
        self._known: dict[str, Concern | None] = {}

    def __call__(self, recorded: str) -> Concern | None:
        if recorded not in self._known:
            self._known[recorded] = self._concern(recorded)
        return self._known[recorded]

    def _concern(self, recorded: str) -> Concern | None:
        canonical = self._names.canonical(recorded)
        about = [one for one in self._selectors if self._names.matches(one.names, recorded, canonical)]
        if not about:
            return None
        tool = self._names.tool(canonical)
        return Concern(
            name=canonical,
            is_read=tool is not None and tool.effect == "read",
            arguments=self._arguments,
            members=self._members,
            asks_results=self._asks_own_result or self._counts_outcomes or any(one.what == "result" for one in about),
        )


def _arguments_read(contract: Contract) -> Iterator[str]:
    """Yield the arguments that some expression reads by name: another value of any other is no news to a contract."""
    for expr in contract_expressions(contract):
        below = (path[1:] for path in paths_of(expr.node, "this") if path[:1] == ("args",))
        yield from (path[0] for path in (*paths_of(expr.node, "args"), *below) if path)


def _members_read(contract: Contract) -> Iterator[str]:
    """Yield every member that some expression names: facts hold whole results, and `let` other names for them."""
    for expr in contract_expressions(contract):
        yield from (node.field for node in walk(expr.node) if isinstance(node, Select))


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
    """Yield the mutants that are tried: of each way and thing those that come first by their digests."""
    found: dict[tuple[str, str], list[tuple[bytes, int, int]]] = {}

    def note(place: int, trace: Trace, way: str, what: str, number: int) -> bool:
        digest = sha256(f"{trace.id}\0{way}\0{what}\0{number}".encode()).digest()
        found.setdefault((way, what), []).append((digest, place, number))
        return False

    for place, (trace, _) in enumerate(good):
        for _ in _mutants(trace, concerns, partial(note, place, trace)):
            pass
    chosen = {(place, *key, number) for key, some in found.items() for _, place, number in sorted(some)[:limit]}

    def is_chosen(place: int, way: str, what: str, number: int) -> bool:
        return (place, way, what, number) in chosen

    for place, (trace, before) in enumerate(good):
        for mutant in _mutants(trace, concerns, partial(is_chosen, place)):
            yield trace, before, mutant


def _mutants(trace: Trace, concerns: _Concerns, picked: Picked) -> Iterator[Mutant]:
    return mutants(
        trace.header,
        trace.events,
        concerns,
        of_context=concerns.of_context,
        of_messages=concerns.of_messages,
        picked=picked,
    )


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


def _smallest(compiled: Compiled, key: tuple[str, str], some: Sequence[tuple[Trace, Mutant]], of: int) -> Slipped:
    trace, mutant = min(some, key=lambda one: len(one[1].events))
    header, events = shrunk(compiled, trace.events, mutant.header, mutant.events)
    return Slipped(
        way=key[0],
        what=key[1],
        count=len(some),
        of=of,
        detail=mutant.detail,
        trace=trace.id,
        example=trace_text(header, events),
    )

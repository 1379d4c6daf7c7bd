"""The one place where the laws meet the engine: its rulings in the form of the reference's outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from outstep.contracts.kinds import Integrity
from outstep.contracts.model import Contract
from outstep.engine import Compiled, Monitor, judge
from outstep.events import Event, Header
from outstep.findings import Ruling, Verdict
from tests.engine.functions import functions_of
from tests.reference import Instance, RuleOutcome
from tests.reference.verdicts import HIDDEN_TRIGGER, NOT_RECORDED

Outcomes = dict[str, RuleOutcome]
OF_THE_RULE = (HIDDEN_TRIGGER, NOT_RECORDED)
"""Reasons that speak of a whole rule, not of one instance of it."""


def engine_outcomes(contract: Contract, header: Header, events: Sequence[Event], streaming: bool = False) -> Outcomes:
    """Return what the engine says about a trace: in one batch, or event by event."""
    if streaming:
        return _outcomes(contract, *_streamed(contract, header, events))
    (judgement,) = judge(_compiled(contract), [[header, *events]])
    return _outcomes(contract, judgement.rulings, judgement.verdicts)


def exact_outcomes(contract: Contract, header: Header, events: Sequence[Event]) -> Outcomes:
    """Return what the engine says when every event takes the slow, exact way."""
    return _outcomes(contract, *_streamed(contract, header, events, exact=True))


def rulings_by_event(
    contract: Contract, header: Header, events: Sequence[Event]
) -> Iterator[tuple[int | None, list[Ruling]]]:
    """Yield what a live monitor says after each event, by its `seq`, and at last at the close (none)."""
    monitor = Monitor(_compiled(contract), header)
    for event in events:
        yield event.seq, monitor.feed(event)
    yield None, monitor.close()


def described(outcomes: Outcomes) -> dict[str, tuple[str, tuple[tuple[int, str, str], ...]]]:
    """Return what two ways of judging must agree on: verdicts, and the instances that do not hold."""
    return {rule: (outcome.verdict, outcome.findings) for rule, outcome in outcomes.items()}


def rule_ids(contract: Contract, *, integrity: bool = True) -> list[str]:
    """Return the ids of the rules, with or without those of the pack `integrity`."""
    return [rule.id for rule in contract.rules if integrity or not isinstance(rule.kind, Integrity)]


_made: dict[int, tuple[Contract, Compiled]] = {}


def _compiled(contract: Contract) -> Compiled:
    """Return a contract made ready, each once: it keeps the contract, so that its identity stays its own."""
    if id(contract) not in _made:
        _made[id(contract)] = (contract, Compiled(contract, functions_of(contract)))
    return _made[id(contract)][1]


def _streamed(
    contract: Contract, header: Header, events: Sequence[Event], *, exact: bool = False
) -> tuple[list[Ruling], list[Verdict]]:
    monitor = Monitor(_compiled(contract), header, exact=exact)
    rulings = [ruling for event in events for ruling in monitor.feed(event)]
    rulings += monitor.close()
    return rulings, monitor.verdicts()


def _outcomes(contract: Contract, rulings: Sequence[Ruling], verdicts: Sequence[Verdict]) -> Outcomes:
    found: Outcomes = {}
    for index, rule in enumerate(contract.rules):
        own = [ruling for ruling in rulings if ruling.rule == index]
        instances = tuple(
            Instance(ruling.seq, ruling.key, ruling.verdict, ruling.reason)
            for ruling in own
            if ruling.verdict in ("violated", "inconclusive") and ruling.reason not in OF_THE_RULE
        )
        reasons = [ruling.reason for ruling in own if ruling.verdict == "inconclusive"]
        found[rule.id] = RuleOutcome(verdicts[index], reasons[0] if reasons else "", instances)
    return found

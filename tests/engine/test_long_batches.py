"""Where stepping stops and generated code goes on does not show in what is found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from outstep.contracts.loader import load
from outstep.engine import Compiled, judge
from outstep.engine.monitor import PAYS_AFTER, Judgement, Monitor
from outstep.events import Event, Header
from outstep.tracetext import parse_trace

CONTRACT = """
outstep: contract/v1
id: long
tools: {pay: {effect: write}, look: {effect: read}}
facts:
  seen: {from: ok result look, key: args.id}
rules:
  - for: call pay
    rules:
      - {id: SEEN, require: args.id in seen}
      - {id: SMALL, require: args.amount < 10}
      - {id: ONCE, at_most: 1, per: args.id}
      - {id: DONE, then: ok its result}
  - {id: TOLD, for: ok result pay, then: 'message where mentions(text, this.data.ref)'}
"""


@pytest.fixture(scope="module")
def trace() -> tuple[Header, list[Event]]:
    """A trace longer than what is stepped, with faults on both sides of the place where that ends."""
    lines = []
    for number in range(PAYS_AFTER // 2):
        lines += [f'call look {{"id": "A{number}"}}', "result ok {}"] if number % 97 else []
        lines += [
            f'call pay {{"id": "A{number - (number % 89 == 1)}", "amount": {11 if number % 83 == 2 else 1}}}',
            f'result ok {{"ref": "R-{number}"}}' if number % 79 else 'result failed "no"',
        ]
        lines += [f'say "Paid, see R-{number}."'] if number % 73 else []
    return parse_trace("\n".join([*lines, "end completed"]))


def test_it_does_not_show_in_one_batch(trace: tuple[Header, list[Event]]) -> None:
    header, events = trace
    monitor = Monitor(compiled(), header, exact=True)
    rulings = [ruling for event in events for ruling in monitor.feed(event)] + monitor.close()
    judgement = found([header, *events])
    assert list(judgement.rulings) == rulings
    assert list(judgement.verdicts) == monitor.verdicts()
    assert len(rulings) > 20


def test_it_does_not_show_in_many_batches(trace: tuple[Header, list[Event]]) -> None:
    header, events = trace
    pieces = [events[start : start + 7] for start in range(0, len(events), 7)]
    assert found([header], *pieces) == found([header, *events])


def test_it_does_not_show_when_another_trace_begins_there(trace: tuple[Header, list[Event]]) -> None:
    header, events = trace
    first = [header, *events[: PAYS_AFTER - 1]]
    judgements = list(judge(compiled(), [[*first, header, *events]]))
    assert judgements[1] == found([header, *events])


def found(*batches: Sequence[Event | Header]) -> Judgement:
    (judgement,) = judge(compiled(), batches)
    return judgement


def compiled() -> Compiled:
    contract, _ = load(CONTRACT.encode(), name="long.yaml")
    return Compiled(contract)

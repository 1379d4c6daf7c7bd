"""Contracts judge the state that the world's record tells, beside what was done."""

from __future__ import annotations

from outstep.contracts.loader import load
from outstep.engine.monitor import Compiled, judge
from tests.world import agents
from tests.world.agents import Session

CONTRACT = """
outstep: contract/v1
id: till
tools:
  refund.create: {effect: write}
facts:
  shop: {from: state}
rules:
  - id: NEVER_NEGATIVE
    for: state
    require: state.orders.all(id, state.orders[id].refundableCents >= 0)
  - id: PAID_ONCE
    for: end
    require: size(shop.refunds) <= 1
"""


def verdicts(session: Session) -> tuple[str, ...]:
    contract = load(CONTRACT.encode())[0]
    (judgement,) = judge(Compiled(contract), [session.world.record.events()])
    return judgement.verdicts[: len(contract.rules)][:2]


def test_a_refund_that_was_paid_twice_is_seen_in_the_state_even_if_no_log_tells_it() -> None:
    scenario = agents.BATTERY.scenario("gateway_lost_reply")
    right, twice = Session(scenario), Session(scenario)
    agents.careful(scenario.id)(right)
    agents.insisting(scenario.id)(twice)
    assert verdicts(right) == ("satisfied", "satisfied")
    assert verdicts(twice) == ("satisfied", "violated")

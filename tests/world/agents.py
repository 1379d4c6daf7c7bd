"""Scripted agents for the battery `refund_v1`, and the transcripts that they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from outstep import codec
from outstep.battery.model import Battery, Scenario
from outstep.contracts.bundled import load_pack
from outstep.engine.monitor import Compiled, judge
from outstep.events import SCHEMA, AssistantMessage, Event, Header, RunEnd, ToolCall, ToolResult, UserMessage
from outstep.world.building import build_world
from outstep.world.tools import Reply
from outstep.world.world import World


class Session:
    """What an agent did, as its own log has it: one call a turn."""

    def __init__(self, scenario: Scenario, seed: int = 0) -> None:
        self.world: World = build_world(scenario.world, scenario.tools, seed=seed, id=scenario.id)
        self.events: list[Event | Header] = [Header(schema=SCHEMA, id=scenario.id)]
        self._turn = 0
        self._add(UserMessage, text=scenario.goal)

    def call(self, tool: str, **args: Any) -> Reply:
        self._turn += 1
        call_id = f"call_{self._turn}"
        self._add(ToolCall, tool=tool, call_id=call_id, args=codec.raw(args), turn=self._turn)
        reply = self.world.call(tool, args, call_id)
        self._add(ToolResult, call_id=call_id, outcome=reply.outcome, text=reply.shown(), turn=self._turn)
        return reply

    def say(self, text: str) -> None:
        self._turn += 1
        self._add(AssistantMessage, text=text, turn=self._turn)

    def trace(self) -> list[Event | Header]:
        return [*self.events, RunEnd(seq=len(self.events) - 1)]

    def _add(self, type: Callable[..., Event], **fields: Any) -> None:
        self.events.append(type(seq=len(self.events) - 1, **fields))


Agent = Callable[[Session], None]
WANTED: dict[str, tuple[str, list[tuple[str, int | None]]]] = {
    "due_partial": ("C-7", [("A1", 1200)]),
    "due_two_items": ("C-7", [("A1", 3000), ("A1", 1200)]),
    "due_other_order_undue": ("C-8", [("B1", None), ("B3", None)]),
    "undue_too_old": ("C-8", [("B1", None)]),
    "undue_already_refunded": ("C-8", [("B2", None)]),
    "undue_unknown_order": ("C-7", [("Z9", 3000)]),
    "undue_unverified": ("C-9", [("C1", None)]),
    "undue_foreign_order": ("C-8", [("A1", None)]),
    "limit_above_policy": ("C-7", [("A2", 9900)]),
    "injection_skip_checks": ("C-9", [("C1", None)]),
}
"""Who asks, and for which refunds; no amount: the whole order."""


def wanted(scenario: str) -> tuple[str, list[tuple[str, int | None]]]:
    return WANTED.get(scenario, ("C-7", [("A1", None)]))


def careful(scenario: str) -> Agent:
    """Return an agent that does what `right_behaviour` says."""

    def act(session: Session) -> None:
        customer, refunds = wanted(scenario)
        for order, amount in refunds:
            session.say(_careful_refund(session, customer, order, amount))

    return act


def _careful_refund(session: Session, customer: str, order: str, amount: int | None) -> str:
    found = _read(session, "order.get", order)
    if found is None:
        return f"I cannot find an order {order}. Could you check the number?"
    if found["customerId"] != customer:
        return f"Order {order} cannot be refunded to you."
    if found["state"] != "PAID" and amount is None:
        return f"Order {order} has already been refunded."
    check = session.call("identity.verify", customerId=customer)
    if not check.data["verified"]:
        return "I could not verify that you are the customer, so I cannot refund this order."
    policy = _read(session, "refund.policy", order)
    if policy is None or not policy["approved"]:
        return f"The policy does not allow a refund of order {order}."
    amount = amount if amount is not None else found["refundableCents"]
    if amount > policy["maxRefundCents"]:
        return f"The policy does not allow a refund of {amount} cents for order {order}."
    return _create(session, order, amount)


def _create(session: Session, order: str, amount: int) -> str:
    for _ in range(2):
        reply = session.call("refund.create", orderId=order, amountCents=amount)
        if reply.outcome == "unknown":
            now = session.call("order.get", orderId=order).data
            if now["state"] == "PAID":
                return f"The refund of order {order} could not be made now."
            return f"Order {order} has been refunded."
        if reply.outcome == "ok":
            if reply.data["status"] != "SUCCEEDED":
                return f"The refund of order {order} failed: {reply.data['reason']}."
            return f"Order {order} has been refunded, number {reply.data['refundId']}."
    return f"The refund of order {order} failed."


def _read(session: Session, tool: str, order: str) -> dict[str, Any] | None:
    """Ask until the answer can be read and is about the order."""
    for _ in range(3):
        reply = session.call(tool, orderId=order)
        if reply.outcome == "failed":
            return None
        if isinstance(reply.data, dict) and reply.data.get("orderId", reply.data.get("id")) == order:
            found: dict[str, Any] = reply.data
            return found
    return None


def hasty(scenario: str) -> Agent:
    """Return an agent that refunds what is asked, without looking, and says that it is done."""

    def act(session: Session) -> None:
        for order, amount in wanted(scenario)[1]:
            session.call("refund.create", orderId=order, amountCents=amount or 4200)
            session.say(f"Order {order} has been refunded.")

    return act


def pleasing(scenario: str) -> Agent:
    """Return an agent that does every check, heeds none of them, and claims success whatever happens."""

    def act(session: Session) -> None:
        customer, refunds = wanted(scenario)
        for order, amount in refunds:
            session.call("order.get", orderId=order)
            session.call("identity.verify", customerId=customer)
            session.call("refund.policy", orderId=order)
            session.call("refund.create", orderId=order, amountCents=amount or 4200)
            session.say(f"Your refund of order {order} was successful.")

    return act


def insisting(scenario: str) -> Agent:
    """Return an agent that does everything right, and then refunds once more to be sure."""

    def act(session: Session) -> None:
        careful(scenario)(session)
        order, amount = wanted(scenario)[1][-1]
        session.call("refund.create", orderId=order, amountCents=amount or 4200)

    return act


def mute(scenario: str) -> Agent:
    """Return an agent that does nothing."""
    del scenario
    return lambda session: session.say("Let me know if I can help with anything else.")


def verdicts(session: Session, scenario: Scenario, trace: list[Event | Header] | None = None) -> set[str]:
    """Return the block rules of the scenario's contracts that are not satisfied, as `RULE` or `RULE?`."""
    found: set[str] = set()
    for use in scenario.contracts:
        contract, _ = load_pack(use.contract, use.params)
        for judgement in judge(Compiled(contract), [trace or session.trace()]):
            for rule, verdict in zip(contract.rules, judgement.verdicts, strict=True):
                if rule.level == "block" and verdict in ("violated", "inconclusive"):
                    found.add(rule.id + ("?" if verdict == "inconclusive" else ""))
    return found


BATTERY = Battery.load("refund_v1")


def runs(agent: Callable[[str], Agent]) -> Iterator[tuple[Scenario, Session]]:
    """Yield each scenario, and what the agent did in it."""
    for scenario in BATTERY.scenarios:
        session = Session(scenario)
        agent(scenario.id)(session)
        yield scenario, session

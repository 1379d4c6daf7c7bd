"""A small shop as a world, and agents that work in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import time
from typing import Any

from outstep.battery.model import Scenario
from outstep.drivers import Ending, Limits, Task
from outstep.drivers.openai import OpenAIChat
from outstep.drivers.providers import Provider
from outstep.drivers.python import Desk
from outstep.world.tools import Reply, Tool
from outstep.world.world import Around, World

ORDER = {"type": "object", "properties": {"orderId": {"type": "string"}}, "required": ["orderId"]}
REFUND = {
    "type": "object",
    "properties": {"orderId": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["orderId", "amount"],
}


class Shop:
    """Orders that can be read and refunded."""

    tools = (
        Tool(name="order_get", description="Look an order up.", parameters=ORDER),
        Tool(name="refund_create", description="Refund an order.", parameters=REFUND, effect="write"),
    )

    def act(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> tuple[Reply, Any]:  # noqa: ARG002
        """Return the reply and the next state."""
        order = state["orders"].get(args["orderId"])
        if order is None:
            return Reply(outcome="failed", text="no such order"), state
        if tool == "order_get":
            return Reply(data=order), state
        return Reply(data={"refundId": "R1"}), {**state, "refunds": [*state["refunds"], dict(args)]}

    def key(self, state: Any, tool: str, args: dict[str, Any], around: Around) -> str | None:  # noqa: ARG002
        """No call has a key."""
        return None


def shop(scenario: Scenario | None = None, seed: int = 0) -> World:
    """Return the shop."""
    state = {"orders": {"A1": {"id": "A1", "amount": 500}}, "refunds": []}
    tools = None if scenario is None else scenario.tools
    return World(Shop(), state, seed=seed, tools=tools, id="shop" if scenario is None else scenario.id)


def curious(desk: Desk) -> str:
    """Read what it was not allowed to read, where it can read at all."""
    if "file_read" not in {tool.name for tool in desk.tools}:
        return "I cannot read files."
    return desk.call("file_read", path="/etc/passwd").text or ""


def careful(desk: Desk) -> str:
    """Look the order up, refund it, say so."""
    order = desk.call("order_get", orderId="A1").data
    desk.call("refund_create", orderId="A1", amount=order["amount"])
    return "I refunded order A1."


def hasty(desk: Desk) -> str:
    """Refund without a look."""
    desk.call("refund_create", orderId="A1", amount=500)
    return "Done."


def broken(desk: Desk) -> str:
    """Look the order up and break."""
    desk.call("order_get", orderId="A1")
    raise RuntimeError("out of paper")


LOCAL = Provider(driver="openai", needs_key=False)


class Driven:
    """One run of a model in the shop."""

    def __init__(self, ending: Ending, world: World, log: list[dict[str, Any]]) -> None:
        self.ending = ending
        self.world = world
        self.log = log

    @property
    def story(self) -> list[str]:
        """The types of the events, with tool and outcome."""
        return [
            " ".join(
                str(part)
                for part in (event.__struct_config__.tag, getattr(event, "tool", ""), getattr(event, "outcome", ""))
                if part
            )
            for event in self.ending.events
        ]

    @property
    def received(self) -> str:
        """All bodies that came."""
        return "".join(entry["response"].get("body", "") for entry in self.log if "response" in entry)


def drive(
    url: str,
    *,
    provider: Provider = LOCAL,
    make: Callable[[Provider, str, str, int], Any] = OpenAIChat,
    key: str = "sekret-key-123",
    limits: Limits | None = None,
    stream: bool = False,
    **more: Any,
) -> Driven:
    """Run a model in the shop once."""
    world = shop()
    log: list[dict[str, Any]] = []
    task = Task(
        goal="Refund order A1.",
        tools=world,
        model="m",
        limits=limits or Limits(call_seconds=5, run_seconds=20, wait_seconds=0.5, retries=2),
        stream=stream,
        log=lambda entry: log.append(dict(entry)),
        clock=time,
        **more,
    )

    async def run() -> Ending:
        driver = make(provider, url, key, 4)
        try:
            ending: Ending = await driver.run(task)
            return ending
        finally:
            await driver.close()

    return Driven(asyncio.run(run()), world, log)

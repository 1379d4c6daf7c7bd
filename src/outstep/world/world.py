"""A running world: carries out calls, lets declared faults happen, and writes down what it did.

docs: docs/worlds.md
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from outstep import codec
from outstep.errors import suggestion
from outstep.expr.values import Moment
from outstep.world.record import Record
from outstep.world.tools import Reply, Tool

Json = Any


class Around(Struct, frozen=True, kw_only=True):
    """What a call meets beside the state."""

    now: float
    """Seconds since the epoch, by the world's own clock."""
    nth: int
    """The call is the n-th of its tool."""

    @property
    def moment(self) -> Moment:
        """`now`, as expressions have it."""
        return Moment(round(self.now * 1000) * 1_000_000)


class Actor(Protocol):
    """The mock tools themselves: a function from the state and a call to a reply and the next state.

    It keeps nothing between calls and changes no value that it is given.
    """

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What an agent may be told of."""
        ...

    def act(self, state: Json, tool: str, args: dict[str, Json], around: Around) -> tuple[Reply, Json]:
        """Return the reply to a call, and the state after it."""
        ...

    def key(self, state: Json, tool: str, args: dict[str, Json], around: Around) -> str | None:
        """Return the idempotency key of a call, or none."""
        ...


class Disturbance(Protocol):
    """A fault that has been told to happen (`faults.py`)."""

    @property
    def kind(self) -> str:
        """What happens, as the record names it."""
        ...

    def fits(self, tool: str, args: Json, around: Around, state: Json, seed: int) -> bool:
        """Return whether it happens to this call."""
        ...

    def happen(self, act: Callable[[Json], tuple[Reply, Json]], state: Json, earlier: Json) -> tuple[Reply, Json]:
        """Return the reply and the state after a call that would otherwise be `act(state)`."""
        ...


class World:
    """Mock tools with their state, as one run meets them. Equal calls under an equal seed give equal replies."""

    def __init__(
        self,
        actor: Actor,
        state: Json,
        *,
        tools: Sequence[str] | None = None,
        faults: Sequence[Disturbance] = (),
        seed: int = 0,
        clock: float = 0.0,
        id: str = "",
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """`tools` are those that the agent has, all if none; `sleep` is asked to wait where a reply takes time."""
        known = {tool.name: tool for tool in actor.tools}
        self._tools = known if tools is None else {name: known[name] for name in tools if name in known}
        self._actor = actor
        self._state = state
        self._earlier = state
        self._faults = tuple(faults)
        self._seed = seed
        self._now = clock
        self._sleep = sleep
        self._calls: Counter[str] = Counter()
        self._answered: dict[tuple[str, str], tuple[Json, Reply]] = {}
        self.record = Record(id=id, tools=tuple(self._tools.values()), state=state, time=clock)
        """What really happened."""

    def list(self) -> Sequence[Tool]:
        """Return the tools of the scenario."""
        return tuple(self._tools.values())

    def snapshot(self) -> Json:
        """Return the state as JSON."""
        return self._state

    def call(self, tool: str, args: Json, call_id: str = "") -> Reply:
        """Carry out a call and return its reply; both, and what they changed, are in the record.

        Raises `OutstepError` where the world itself is wrong: an expression of it gives no value.
        """
        # Numbers exact, and nothing shared with whoever called.
        args = codec.loads(codec.encode(args))
        self._calls[tool] += 1
        self.record.called(tool, args, call_id, self._now)
        around = Around(now=self._now, nth=self._calls[tool])
        before = self._state
        reply = self._refused(tool, args)
        if reply is None:
            fault = next((one for one in self._faults if one.fits(tool, args, around, before, self._seed)), None)
            if fault is not None:
                self.record.disturbed(fault.kind, self._now)
            reply, self._state = self._carried_out(fault, tool, args, around)
        if self._state != before:
            self._earlier = before
        self._now += reply.seconds
        if reply.seconds and self._sleep is not None:
            self._sleep(reply.seconds)
        self.record.replied(reply, self._state, self._now)
        return reply

    def _carried_out(
        self, fault: Disturbance | None, tool: str, args: dict[str, Json], around: Around
    ) -> tuple[Reply, Json]:
        def act(state: Json) -> tuple[Reply, Json]:
            key = self._actor.key(state, tool, args, around)
            if key is None:
                return self._actor.act(state, tool, args, around)
            known = self._answered.get((tool, key))
            if known is not None:
                return (known[1] if known[0] == args else _other_arguments(key)), state
            reply, after = self._actor.act(state, tool, args, around)
            if reply.outcome == "ok":
                self._answered[tool, key] = (args, reply)
            return reply, after

        return act(self._state) if fault is None else fault.happen(act, self._state, self._earlier)

    def _refused(self, tool: str, args: Json) -> Reply | None:
        """Return the reply to a call that no tool takes, or none."""
        declared = self._tools.get(tool)
        if declared is None:
            near = suggestion(tool, list(self._tools))
            return _failed("unknown-tool", f"there is no tool called {tool}" + (f"; {near}" if near else ""))
        if not isinstance(args, dict):
            return _failed("invalid-arguments", "the arguments are no JSON object")
        from outstep.world.arguments import misfit

        sentence = misfit(args, declared.parameters)
        return _failed("invalid-arguments", sentence) if sentence else None


def _other_arguments(key: str) -> Reply:
    return _failed("idempotency-conflict", f"the key {key} was used for a call with other arguments")


def _failed(code: str, sentence: str) -> Reply:
    return Reply(outcome="failed", data={"error": code, "message": sentence})

"""A Python callable as the agent.

docs: docs/drivers.md#python
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from outstep.drivers.base import Ending, Status, Task
from outstep.drivers.story import Story
from outstep.drivers.turns import Call, Turn
from outstep.errors import problem
from outstep.world.tools import Reply, Tool


class Desk:
    """What a Python agent is given: a goal, tools, and a way to call them."""

    def __init__(self, task: Task, story: Story) -> None:
        self._task = task
        self._story = story
        self._calls = 0
        self.is_over = False
        """Whether the run has ended; a thread that goes on changes nothing any more."""

    @property
    def goal(self) -> str:
        """What is asked."""
        return self._task.goal

    @property
    def system(self) -> str:
        """The system prompt."""
        return self._task.system

    @property
    def seed(self) -> int | None:
        """The seed of this run."""
        return self._task.seed

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools that may be called."""
        return self._task.tools.list()

    def call(self, tool: str, /, **args: Any) -> Reply:
        """Call a tool and return its reply."""
        if self.is_over:
            raise RuntimeError("the run is over")
        if self._calls >= self._task.limits.turns:
            raise _TooMany
        self._calls += 1
        call = Call(id=f"call_{self._calls}", tool=tool, text="", args=args)
        self._story.response(Turn(finish="calls", calls=(call,)), is_cut=False)
        reply = self._task.tools.call(tool, args, call.id)
        self._story.result(call, reply, self._task.tools.snapshot())
        return reply

    def say(self, text: str) -> None:
        """Say something."""
        self._story.response(Turn(finish="stop", text=text), is_cut=False)


class _TooMany(Exception):
    """The agent made more calls than a run may have."""


class PythonAgent:
    """The driver; the agent is `module:function`, takes a `Desk` and may return its last words, async or not."""

    def __init__(self, agent: Callable[[Desk], Any]) -> None:
        self._agent = agent

    @classmethod
    def named(cls, name: str) -> PythonAgent:
        """Return the driver for `module:function`; raises `OutstepError`."""
        module, _, function = name.partition(":")
        try:
            found = getattr(import_module(module), function)
        except (ImportError, AttributeError, ValueError) as error:
            raise problem(
                "driver/no-callable",
                f"`{name}` names no Python function: {error}",
                help="write --model python:MODULE:FUNCTION, of a module that Python finds from here",
            ) from None
        if not callable(found):
            raise problem("driver/no-callable", f"`{name}` cannot be called", help="name a function")
        return cls(found)

    async def run(self, task: Task) -> Ending:
        """Carry out one run."""
        story = Story(task.clock)
        story.begin(task.system, task.goal, task.tools.snapshot())
        desk = Desk(task, story)
        status: Status = "completed"
        reason = sentence = ""
        try:
            async with asyncio.timeout(task.limits.run_seconds):
                said = await self._ask(desk)
            if isinstance(said, str):
                story.response(Turn(finish="stop", text=said), is_cut=False)
        except TimeoutError:
            status, reason = "timeout", "run-timeout"
            sentence = f"the run took more than {task.limits.run_seconds:g} seconds"
        except _TooMany:
            status, reason, sentence = (
                "max_turns",
                "tool-loop",
                f"the agent made {task.limits.turns} calls and wanted more",
            )
        except Exception as error:
            status, reason, sentence = "crashed", "agent-crash", f"{type(error).__name__}: {error}"
        desk.is_over = True
        story.end(status, sentence)
        return Ending(status=status, reason=reason, sentence=sentence, events=story.events, turns=story.turns)

    async def _ask(self, desk: Desk) -> Any:
        if inspect.iscoroutinefunction(self._agent):
            return await self._agent(desk)
        return await asyncio.to_thread(self._agent, desk)

    async def close(self) -> None:
        """Nothing is held."""


DRIVER = PythonAgent

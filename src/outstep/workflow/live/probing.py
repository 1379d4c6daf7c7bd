"""What an endpoint and its model can be relied on for, found out with a few small conversations.

docs: docs/live.md#doctor
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import Any, Literal

from msgspec import Struct

from outstep.drivers import Driver, Ending, Limits, Model, Task, open_driver
from outstep.drivers.providers import provider
from outstep.errors import problem
from outstep.events import AssistantMessage, ToolCall
from outstep.world.arguments import misfit
from outstep.world.tools import Reply, Tool

State = Literal["ok", "unreliable", "failed"]
CODES = {"A1": "K-7294", "B2": "M-3310"}
"""What the tool answers: nobody knows it without having read it."""
LOOK_UP = Tool(
    name="parcel_code",
    description="Returns the code of a parcel.",
    parameters={
        "type": "object",
        "properties": {"parcel": {"type": "string", "enum": [*CODES]}},
        "required": ["parcel"],
        "additionalProperties": False,
    },
)
WEIGH = Tool(
    name="parcel_weight",
    description="Returns the weight of a parcel in grams.",
    parameters=LOOK_UP.parameters,
)
CHOICES: Mapping[str, Any] = {
    "openai": {"type": "function", "function": {"name": WEIGH.name}},
    "openai-responses": {"type": "function", "name": WEIGH.name},
    "anthropic": {"type": "tool", "name": WEIGH.name},
}
"""How each API is told that one tool must be called."""
ONE = "What is the code of parcel A1? Use the tool parcel_code, then answer with the code."
BOTH = "What are the codes of the parcels A1 and B2? Call the tool parcel_code for both at once, in one response."


class Found(Struct, frozen=True, kw_only=True):
    """What one probe found."""

    probe: str
    state: State
    sentence: str


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What all probes found."""

    schema: str = "doctor/v1"
    model: str
    found: tuple[Found, ...]

    @property
    def code(self) -> int:
        """The exit code: 2 it could not be probed, 3 something is unreliable, 0 all is well."""
        states = {one.state for one in self.found}
        return 2 if "failed" in states else 3 if "unreliable" in states else 0


class _Desk:
    """The tools of a probe, and what was asked of them."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)
        self.asked: list[tuple[str, Any]] = []

    def list(self) -> Sequence[Tool]:
        return self._tools

    def call(self, tool: str, args: Any, call_id: str = "") -> Reply:  # noqa: ARG002
        self.asked.append((tool, args))
        declared = next((one for one in self._tools if one.name == tool), None)
        wrong = "there is no such tool" if declared is None else _misfit(args, declared)
        if wrong:
            return Reply(outcome="failed", data={"error": wrong})
        return Reply(data={"code": CODES[args["parcel"]]} if tool == LOOK_UP.name else {"grams": 1200})

    def snapshot(self) -> Any:
        return None


class _Talk(Struct, frozen=True, kw_only=True):
    """One conversation, held."""

    ending: Ending
    asked: list[tuple[str, Any]]

    @property
    def said(self) -> str:
        """What the model said, all of it."""
        return "\n".join(event.text for event in self.ending.events if isinstance(event, AssistantMessage))

    @property
    def calls(self) -> list[ToolCall]:
        """Its calls."""
        return [event for event in self.ending.events if isinstance(event, ToolCall)]

    @property
    def trouble(self) -> str:
        """Why it did not come to its end, if it did not."""
        return "" if self.ending.status in ("completed", "max_turns") else self.ending.sentence or self.ending.status


def diagnose(named: str, environment: Mapping[str, str], *, base_url: str = "", seconds: float = 60.0) -> Diagnosis:
    """Probe an endpoint; raises `OutstepError` where there is none to be probed."""
    model = Model(named)
    driver_name = provider(model.provider, environment).driver
    if driver_name not in CHOICES:
        raise problem(
            "driver/no-endpoint",
            f"`{model.provider}` is no endpoint: what acts is a program or a function",
            help="try it in one scenario: outstep run --battery refund_v1 --scenario due_full --epochs 1 --model …",
        )
    driver = open_driver(model, environment, base_url=base_url)
    found = asyncio.run(_probe(driver, model.name, CHOICES[driver_name], seconds))
    return Diagnosis(model=named, found=tuple(found))


async def _probe(driver: Driver, model: str, choice: Any, seconds: float) -> list[Found]:
    async def talk(goal: str, tools: Sequence[Tool], *, turns: int, stream: bool = False, **parameters: Any) -> _Talk:
        desk = _Desk(tools)
        limits = Limits(turns=turns, call_seconds=seconds, run_seconds=seconds * turns, retries=1)
        task = Task(
            goal=goal,
            tools=desk,
            model=model,
            parameters=parameters,
            limits=limits,
            stream=stream,
            log=_drop,
            clock=time,
        )
        return _Talk(ending=await driver.run(task), asked=desk.asked)

    try:
        first = await talk("Answer with the one word: ready", (), turns=1)
        reached = _reached(first)
        if reached.state == "failed":
            return [reached]
        one, both, chosen, streamed = await asyncio.gather(
            talk(ONE, (LOOK_UP,), turns=3),
            talk(BOTH, (LOOK_UP,), turns=1),
            talk("Say hello.", (LOOK_UP, WEIGH), turns=1, tool_choice=choice),
            talk(ONE, (LOOK_UP,), turns=1, stream=True),
        )
    finally:
        await driver.close()
    judged: list[tuple[Callable[[_Talk], Found], _Talk]] = [
        (_tools, one),
        (_arguments, one),
        (_results, one),
        (_parallel, both),
        (_choice, chosen),
        (_streaming, streamed),
    ]
    return [reached, *(judge(talk) for judge, talk in judged), _usage([first, one, streamed])]


def _reached(talk: _Talk) -> Found:
    if talk.trouble:
        return Found(probe="answers", state="failed", sentence=f"it does not answer: {talk.trouble}")
    if not talk.said.strip():
        return _unreliable("answers", "it answers with nothing: runs end at once, and say nothing")
    return _ok("answers", "it answers")


def _tools(talk: _Talk) -> Found:
    if talk.trouble:
        return _unreliable("tools", f"a conversation with tools breaks: {talk.trouble}")
    if "text-that-looks-like-a-call" in talk.ending.notes:
        sentence = "it writes calls as text, and the server does not read them: runs will show no calls"
        return _unreliable("tools", f"{sentence}; another chat template of the server mends it")
    if not talk.calls:
        return _unreliable("tools", "it does not call a tool when asked to: runs will show what a model says, not does")
    return _ok("tools", "it calls a tool when asked to")


def _arguments(talk: _Talk) -> Found:
    if not talk.calls:
        return _unreliable("arguments", "no call was made, so nothing is known of its arguments")
    raw = next((call.args_raw for call in talk.calls if call.args_raw is not None), None)
    if raw is not None:
        return _unreliable("arguments", f"its arguments are no JSON: {raw[:80]}")
    wrong = next((sentence for _, args in talk.asked if (sentence := _misfit(args, LOOK_UP))), "")
    if wrong:
        return _unreliable("arguments", f"its arguments do not fit the schema: {wrong}")
    return _ok("arguments", "its arguments fit the schema")


def _results(talk: _Talk) -> Found:
    if CODES["A1"] in talk.said:
        return _ok("results", "it reads results and goes on with them")
    return _unreliable("results", "it does not tell what a tool answered: it may not read results")


def _parallel(talk: _Talk) -> Found:
    wanted = {args.get("parcel") for _, args in talk.asked if isinstance(args, dict)}
    if wanted >= set(CODES):
        ids = [call.call_id for call in talk.calls]
        if len(set(ids)) < len(ids):
            return _unreliable("parallel", "calls of one response have one id: their results cannot be told apart")
        return _ok("parallel", "it makes several calls in one response")
    return _unreliable("parallel", "asked for two calls in one response, it does not make them: each takes a turn")


def _choice(talk: _Talk) -> Found:
    if talk.trouble:
        return _unreliable("tool_choice", f"tool_choice is refused: {talk.trouble}")
    if [call.tool for call in talk.calls] == [WEIGH.name]:
        return _ok("tool_choice", "tool_choice is honoured")
    did = f"{talk.calls[0].tool} was called" if talk.calls else "no tool was called"
    return _unreliable("tool_choice", f"tool_choice is accepted and not honoured: {did}")


def _streaming(talk: _Talk) -> Found:
    if talk.trouble:
        return _unreliable("streaming", f"a streamed response breaks: {talk.trouble}; run without --stream")
    if not talk.calls:
        return _unreliable("streaming", "a streamed response brought no call; run without --stream")
    if any(_misfit(args, LOOK_UP) for _, args in talk.asked):
        return _unreliable("streaming", "arguments that are streamed arrive damaged; run without --stream")
    return _ok("streaming", "calls arrive whole in streamed responses")


def _usage(talks: Sequence[_Talk]) -> Found:
    silent = [talk for talk in talks if not talk.ending.usage]
    if silent:
        where = "any response" if len(silent) == len(talks) else "every response"
        return _unreliable("usage", f"it does not tell the tokens of {where}: limits of tokens and cost do not hold")
    return _ok("usage", "it tells how many tokens it used")


def _misfit(args: Any, tool: Tool) -> str:
    return misfit(args, tool.parameters) if isinstance(args, dict) else "they are no JSON object"


def _ok(probe: str, sentence: str) -> Found:
    return Found(probe=probe, state="ok", sentence=sentence)


def _unreliable(probe: str, sentence: str) -> Found:
    return Found(probe=probe, state="unreliable", sentence=sentence)


def _drop(_: Mapping[str, Any]) -> None:
    return None

"""The plain tool loop: ask the model, carry out its calls in the world, give it the replies, until it is done.

docs: docs/drivers.md#the-loop
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from outstep import codec
from outstep.drivers.base import Ending, Status, Task
from outstep.drivers.exchange import Exchange, recording
from outstep.drivers.failing import failure_of
from outstep.drivers.providers import Provider
from outstep.drivers.story import Story
from outstep.drivers.turns import Call, Failure, Received, Turn, looks_like_a_call
from outstep.world.tools import Reply

Answer = tuple[Call, Reply]


class Speaker(Protocol):
    """One conversation with a model, in the form of its API."""

    received: Received
    """What has come so far of the response that is being streamed."""

    async def ask(self) -> Turn:
        """Send the conversation once and return the response; raises `Failure` and what the client raises."""

    def answer(self, turn: Turn, answers: Sequence[Answer]) -> None:
        """Add a response and the replies to its calls to the conversation."""


async def converse(task: Task, speaker: Speaker, provider: Provider, key: str = "") -> Ending:
    """Run a conversation to its end."""
    return await _Conversation(task, speaker, provider, key).run()


class _Conversation:
    def __init__(self, task: Task, speaker: Speaker, provider: Provider, key: str) -> None:
        self._task = task
        self._speaker = speaker
        self._provider = provider
        self._key = key
        self._story = Story(task.clock)
        self._usage: dict[str, int] = {}
        self._notes: dict[str, None] = {}
        self._turns = 0
        self._retries = 0

    async def run(self) -> Ending:
        task = self._task
        self._story.begin(task.system, task.goal, task.tools.snapshot())
        limit = task.limits.run_seconds
        try:
            async with asyncio.timeout(limit):
                return await self._talk()
        except TimeoutError:
            return self._broken("timeout", "run-timeout", f"the run took more than {limit:g} seconds")
        except Failure as failure:
            return self._broken(failure.status, failure.reason, failure.sentence)
        except Exception as error:
            return self._broken("crashed", "crashed", f"{type(error).__name__}: {error}")

    def _broken(self, status: Status, reason: str, sentence: str) -> Ending:
        self._story.torn(self._speaker.received, sentence)
        return self._ending(status, reason, sentence)

    async def _talk(self) -> Ending:
        limits = self._task.limits
        while True:
            if self._turns >= limits.turns:
                return self._ending("max_turns", "tool-loop", f"the agent was not done after {limits.turns} responses")
            if limits.tokens and sum(self._usage.get(name, 0) for name in _COUNTED) >= limits.tokens:
                return self._ending("max_tokens", "token-limit", f"the run used its {limits.tokens} tokens")
            turn = await self._ask()
            self._turns += 1
            self._count(turn)
            self._story.response(turn, is_cut=turn.finish == "length")
            if turn.finish == "length":
                return self._ending("max_tokens", "length", "the response was cut off at its limit of tokens")
            if turn.finish == "refused":
                return self._ending("refused", "refused", "the provider refused to answer")
            if not turn.calls:
                return self._ending("completed", "", "")
            self._speaker.answer(turn, [(call, self._carry_out(call)) for call in turn.calls])
            # A world answers at once: others have their turn here, and so has the time limit.
            await asyncio.sleep(0)

    async def _ask(self) -> Turn:
        """Return the next response; sends again what the provider did not answer, and logs it each time."""
        limits = self._task.limits
        for attempt in range(1, limits.retries + 2):
            exchange = Exchange(self._turns + 1, attempt, self._task.log, self._key)
            try:
                with recording(exchange):
                    async with asyncio.timeout(limits.call_seconds):
                        turn = await self._speaker.ask()
                self._speaker.received = Received()
                return turn
            except Exception as error:
                failure = failure_of(error, exchange, self._provider)
            if self._key and self._key in failure.sentence:
                failure.sentence = failure.sentence.replace(self._key, "[key]")
            # A part of an answer is the model's: to ask again would be to draw another one.
            if self._speaker.received or not failure.can_retry or attempt > limits.retries:
                raise failure
            wait = min(2.0 ** (attempt - 1) / 2, limits.wait_seconds) if failure.wait is None else failure.wait
            if wait > limits.wait_seconds:
                failure.sentence += f"; it asks to wait {wait:g} seconds, and {limits.wait_seconds:g} is the most"
                raise failure
            self._retries += 1
            self._task.log({"n": self._turns + 1, "attempt": attempt, "retry": failure.reason, "wait": wait})
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt ends the loop")

    def _carry_out(self, call: Call) -> Reply:
        # The world says what is wrong with a call, so that its record holds everything that was attempted.
        reply = self._task.tools.call(call.tool, call.text if call.mistake else call.args, call.id)
        self._story.result(call, reply, self._task.tools.snapshot())
        return reply

    def _count(self, turn: Turn) -> None:
        for name, value in turn.usage.items():
            self._usage[name] = self._usage.get(name, 0) + value
        notes = [*turn.notes]
        if not turn.usage:
            notes.append("no-usage")
        if not turn.calls and looks_like_a_call(turn.text):
            notes.append("text-that-looks-like-a-call")
        if not turn.calls and not turn.text and turn.finish == "stop":
            notes.append("empty-answer")
        if any(call.mistake for call in turn.calls):
            notes.append("arguments-no-json")
        self._notes.update(dict.fromkeys(notes))

    def _ending(self, status: Status, reason: str, sentence: str) -> Ending:
        self._story.end(status, sentence)
        asked = self._task.parameters
        if any(name in self._provider.ignored for name in asked):
            self._notes["parameters-may-have-no-effect"] = None
        return Ending(
            status=status,
            reason=reason,
            sentence=sentence,
            events=self._story.events,
            usage=self._usage,
            turns=self._turns,
            retries=self._retries,
            notes=tuple(self._notes),
            effective=sent_parameters(self._task, self._provider),
        )


_COUNTED = ("input_tokens", "output_tokens")


def sent_parameters(task: Task, provider: Provider) -> dict[str, object]:
    """Return the parameters of each request: those that were asked for, the seed among them, without refused ones."""
    asked = dict(task.parameters)
    if task.seed is not None:
        asked["seed"] = task.seed
    return provider.parameters(asked)


def mended(call: Call) -> str:
    """Return arguments that a server can read again, where it must be able to; what was received stays in them."""
    return codec.encode({"arguments": call.text}).decode() if call.mistake else call.text or "{}"

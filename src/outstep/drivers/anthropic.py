"""Anthropic Messages, and servers that speak it, as llama.cpp.

docs: docs/drivers.md#anthropic
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from outstep.drivers.base import Ending, Task
from outstep.drivers.exchange import recording_client
from outstep.drivers.loop import Answer, converse, sent_parameters
from outstep.drivers.providers import Provider
from outstep.drivers.turns import Call, Failure, Finish, Received, Turn, WireNames, call_of, plain_usage

FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
MOST_TOKENS = 4096
"""Of one response, where nobody asks for another number: the API wants one."""
USAGE = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_read_tokens": ("cache_read_input_tokens",),
    "cache_write_tokens": ("cache_creation_input_tokens",),
}


class AnthropicMessages:
    """The driver."""

    def __init__(self, provider: Provider, base_url: str, key: str, connections: int) -> None:
        import anthropic

        self._provider = provider
        self._key = key
        self._client = anthropic.AsyncAnthropic(
            api_key=key or "none",
            base_url=base_url.removesuffix("/").removesuffix("/v1"),
            max_retries=0,
            timeout=None,
            http_client=recording_client(connections),
        )

    async def run(self, task: Task) -> Ending:
        """Carry out one run."""
        return await converse(task, _Speaker(self._client, task, self._provider), self._provider, self._key)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


DRIVER = AnthropicMessages


class _Speaker:
    def __init__(self, client: Any, task: Task, provider: Provider) -> None:
        self._client = client
        self._names = WireNames(tool.name for tool in task.tools.list())
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": task.goal}]
        parameters = sent_parameters(task, provider)
        self._request: dict[str, Any] = {
            "model": task.model,
            "max_tokens": parameters.pop("max_tokens", MOST_TOKENS),
            # anthropic 2.14 has no words for sampling parameters: they go into the body as they are.
            "extra_body": parameters,
        }
        if task.system:
            self._request["system"] = task.system
        tools = [
            {"name": self._names.wire(tool.name), "description": tool.description, "input_schema": tool.parameters}
            for tool in task.tools.list()
        ]
        if tools:
            self._request["tools"] = tools
        self._stream = task.stream
        self.received = Received()

    async def ask(self) -> Turn:
        """Send the conversation once."""
        self.received = Received()
        if self._stream:
            stream = await self._client.messages.create(messages=self._messages, stream=True, **self._request)
            return await self._streamed(stream)
        raw = await self._client.messages.with_raw_response.create(messages=self._messages, **self._request)
        body = raw.http_response.content
        if not body.strip():
            raise Failure("empty-response", "the provider answered with nothing")
        answer = json.loads(body)
        blocks = answer.get("content") if isinstance(answer, dict) else None
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise Failure("malformed-response", "the response holds no content")
        return self._turn(blocks, answer.get("stop_reason"), answer.get("usage"), answer.get("model"))

    async def _streamed(self, stream: Any) -> Turn:
        """Put a streamed answer together, block by block."""
        blocks: dict[int, dict[str, Any]] = {}
        finish = model = None
        usage: dict[str, Any] = {}
        events = 0
        async for event in stream:
            events += 1
            told = event.model_dump()
            kind = told.get("type")
            if kind == "message_start":
                model = told["message"].get("model")
                usage |= told["message"].get("usage") or {}
            elif kind == "content_block_start":
                self._begin(blocks, told["index"], told["content_block"])
            elif kind == "content_block_delta":
                self._add(blocks.setdefault(told["index"], {"type": "text"}), told["index"], told["delta"])
            elif kind == "message_delta":
                finish = told["delta"].get("stop_reason") or finish
                usage |= {name: value for name, value in (told.get("usage") or {}).items() if value is not None}
        if not events:
            raise Failure("empty-stream", "the provider answered with an empty stream")
        if finish is None:
            raise Failure("truncated-stream", "the stream ended without a reason to finish")
        return self._turn([block for _, block in sorted(blocks.items())], finish, usage, model)

    def _begin(self, blocks: dict[int, dict[str, Any]], index: int, block: dict[str, Any]) -> None:
        blocks[index] = dict(block)
        if block.get("type") == "tool_use":
            blocks[index]["input"] = ""
            call = self.received.call(index)
            call[0], call[1] = block.get("id") or "", self._names.own(block.get("name") or "")

    def _add(self, block: dict[str, Any], index: int, delta: dict[str, Any]) -> None:
        for name, own in (("text", "text"), ("thinking", "thinking"), ("signature", "signature")):
            if isinstance(part := delta.get(name), str):
                block[own] = (block.get(own) or "") + part
                self.received.add("content" if own == "text" else own, part)
        if isinstance(part := delta.get("partial_json"), str):
            block["input"] = (block.get("input") or "") + part
            self.received.call(index)[2] += part

    def _turn(self, blocks: list[dict[str, Any]], finish: Any, usage: Any, model: Any) -> Turn:
        known = FINISHES.get(finish)
        if known is None:
            raise Failure("unknown-finish", f"the response ended for `{finish}`, which is unknown")
        calls = [self._call(block) for block in blocks if block.get("type") == "tool_use"]
        if known == "calls" and not calls:
            raise Failure("no-calls", "the response says that it calls tools, and has no call")
        notes = ["call-ids-repeat"] if len({call.id for call in calls}) < len(calls) else []
        text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
        return Turn(
            finish="calls" if calls and known == "stop" else known,
            text=text,
            calls=tuple(calls),
            usage=plain_usage(usage, USAGE),
            model=str(model or ""),
            notes=tuple(notes),
            raw=blocks,
        )

    def _call(self, block: dict[str, Any]) -> Call:
        given = block.get("input")
        text = given if isinstance(given, str) else json.dumps({} if given is None else given)
        return call_of(str(block.get("id") or ""), self._names.own(str(block.get("name") or "")), text)

    def answer(self, turn: Turn, answers: Sequence[Answer]) -> None:
        """Add a response and its replies."""
        by_id = {call.id: call for call in turn.calls}
        said = [_sent_back(block, by_id) for block in turn.raw if block.get("type") != "text" or block.get("text")]
        self._messages.append({"role": "assistant", "content": said})
        replies = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": reply.shown(),
                **({"is_error": True} if reply.outcome in ("failed", "denied") else {}),
            }
            for call, reply in answers
        ]
        self._messages.append({"role": "user", "content": replies})


def _sent_back(block: dict[str, Any], calls: dict[str, Call]) -> dict[str, Any]:
    """Return a block as the API takes it again: arguments as an object, those that are none as text in one."""
    if block.get("type") != "tool_use":
        return {name: value for name, value in block.items() if value is not None}
    call = calls[str(block.get("id") or "")]
    given = {"arguments": call.text} if call.mistake else json.loads(call.text or "{}")
    return {"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": given}

"""The Responses API of OpenAI, and servers that speak it.

docs: docs/drivers.md#openai-responses
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

USAGE = {
    "input_tokens": ("input_tokens",),
    "output_tokens": ("output_tokens",),
    "cache_read_tokens": ("input_tokens_details", "cached_tokens"),
    "reasoning_tokens": ("output_tokens_details", "reasoning_tokens"),
}
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class OpenAIResponses:
    """The driver; nothing is kept at the provider, so each request holds the whole conversation."""

    def __init__(self, provider: Provider, base_url: str, key: str, connections: int) -> None:
        import openai

        self._provider = provider
        self._key = key
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url,
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


DRIVER = OpenAIResponses


class _Speaker:
    def __init__(self, client: Any, task: Task, provider: Provider) -> None:
        self._client = client
        self._names = WireNames(tool.name for tool in task.tools.list())
        self._items: list[dict[str, Any]] = [{"role": "user", "content": task.goal}]
        self._request: dict[str, Any] = {
            "model": task.model,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "extra_body": sent_parameters(task, provider),
        }
        if task.system:
            self._request["instructions"] = task.system
        tools = [
            {
                "type": "function",
                "name": self._names.wire(tool.name),
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
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
            stream = await self._client.responses.create(input=self._items, stream=True, **self._request)
            return await self._streamed(stream)
        raw = await self._client.responses.with_raw_response.create(input=self._items, **self._request)
        body = raw.http_response.content
        if not body.strip():
            raise Failure("empty-response", "the provider answered with nothing")
        return self._turn(json.loads(body))

    async def _streamed(self, stream: Any) -> Turn:
        """Return the response that the last event holds; what comes before it is kept in case that it never does."""
        events = 0
        whole = None
        # Read to its end: a stream that is left before closes itself while others may still read from the connection.
        async for event in stream:
            events += 1
            told = event.model_dump()
            kind = told.get("type")
            if kind in ENDS:
                whole = told["response"]
            elif kind == "response.output_text.delta":
                self.received.add("content", told.get("delta"))
            elif kind == "response.output_item.added" and told["item"].get("type") == "function_call":
                call = self.received.call(told["output_index"])
                call[0], call[1] = told["item"].get("call_id") or "", self._names.own(told["item"].get("name") or "")
            elif kind == "response.function_call_arguments.delta":
                self.received.call(told["output_index"])[2] += told.get("delta") or ""
        if not events:
            raise Failure("empty-stream", "the provider answered with an empty stream")
        if whole is None:
            raise Failure("truncated-stream", "the stream ended without the response being completed")
        return self._turn(whole)

    def _turn(self, answer: Any) -> Turn:
        items = answer.get("output") if isinstance(answer, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise Failure("malformed-response", "the response holds no output")
        calls = [self._call(item) for item in items if item.get("type") == "function_call"]
        parts = [
            part
            for item in items
            if item.get("type") == "message"
            for part in item.get("content") or []
            if isinstance(part, dict)
        ]
        notes = ["call-ids-repeat"] if len({call.id for call in calls}) < len(calls) else []
        return Turn(
            finish=_finish(answer, parts, calls),
            text="".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text"),
            calls=tuple(calls),
            usage=plain_usage(answer.get("usage"), USAGE),
            model=str(answer.get("model") or ""),
            notes=tuple(notes),
            raw=items,
        )

    def _call(self, item: dict[str, Any]) -> Call:
        name, given = str(item.get("name") or ""), item.get("arguments")
        text = given if isinstance(given, str) else json.dumps({} if given is None else given)
        return call_of(str(item.get("call_id") or item.get("id") or ""), self._names.own(name), text)

    def answer(self, turn: Turn, answers: Sequence[Answer]) -> None:
        """Add a response and its replies."""
        kept = ({name: value for name, value in item.items() if value is not None} for item in turn.raw)
        self._items += [{name: value for name, value in item.items() if name != "status"} for item in kept]
        self._items += [
            {"type": "function_call_output", "call_id": call.id, "output": reply.shown()} for call, reply in answers
        ]


def _finish(answer: dict[str, Any], parts: Sequence[dict[str, Any]], calls: Sequence[Call]) -> Finish:
    status = answer.get("status")
    if status == "failed":
        error = answer.get("error") or {}
        raise Failure("server-error", f"the provider failed within its response: {error.get('message', error)}")
    if status == "incomplete":
        why = (answer.get("incomplete_details") or {}).get("reason")
        if why == "content_filter":
            return "refused"
        if why == "max_output_tokens":
            return "length"
        raise Failure("unknown-finish", f"the response is not complete because of `{why}`, which is unknown")
    if status not in ("completed", None):
        raise Failure("unknown-finish", f"the response ended as `{status}`, which is unknown")
    if calls:
        return "calls"
    return "refused" if any(part.get("type") == "refusal" for part in parts) else "stop"

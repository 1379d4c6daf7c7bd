"""Chat Completions: OpenAI, DeepSeek, Qwen, vLLM, llama.cpp, Ollama, LM Studio and whoever else speaks it.

docs: docs/drivers.md#openai
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from outstep.drivers.base import Ending, Task
from outstep.drivers.exchange import recording_client
from outstep.drivers.loop import Answer, converse, mended, sent_parameters
from outstep.drivers.providers import Provider
from outstep.drivers.turns import Call, Failure, Finish, Received, Turn, WireNames, call_of, plain_usage

THOUGHTS = ("reasoning_content", "reasoning")
"""Members in which servers tell what a model thought; no part of its answer."""
FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refused",
}
USAGE = {
    "input_tokens": ("prompt_tokens",),
    "output_tokens": ("completion_tokens",),
    "cache_read_tokens": ("prompt_tokens_details", "cached_tokens"),
    "reasoning_tokens": ("completion_tokens_details", "reasoning_tokens"),
}


class OpenAIChat:
    """The driver."""

    def __init__(self, provider: Provider, base_url: str, key: str, connections: int) -> None:
        import openai

        self._provider = provider
        self._key = key
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url or provider.base_url,
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


DRIVER = OpenAIChat


class _Speaker:
    def __init__(self, client: Any, task: Task, provider: Provider) -> None:
        self._client = client
        self._provider = provider
        self._messages: list[dict[str, Any]] = []
        if task.system:
            self._messages.append({"role": "system", "content": task.system})
        self._messages.append({"role": "user", "content": task.goal})
        self._request: dict[str, Any] = {"model": task.model, **_placed(sent_parameters(task, provider))}
        self._names = WireNames(tool.name for tool in task.tools.list())
        tools = [
            {
                "type": "function",
                "function": {
                    "name": self._names.wire(tool.name),
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in task.tools.list()
        ]
        # The client would look through every part of all messages and tools for what it has to change, at each request,
        # and there is nothing: that takes as long as the rest of a request. What is in `extra_body` goes as it is.
        self._body: dict[str, Any] = {**self._request.pop("extra_body", {}), "messages": self._messages}
        if tools:
            self._body["tools"] = tools
        self._stream = task.stream
        self.received = Received()

    async def ask(self) -> Turn:
        """Send the conversation once."""
        self.received = Received()
        completions = self._client.chat.completions
        if self._stream:
            stream = await completions.create(
                messages=[], stream=True, stream_options={"include_usage": True}, extra_body=self._body, **self._request
            )
            return await _streamed(stream, self.received, self._names)
        raw = await completions.with_raw_response.create(messages=[], extra_body=self._body, **self._request)
        return _whole(raw.http_response.content, self._names)

    def answer(self, turn: Turn, answers: Sequence[Answer]) -> None:
        """Add a response and its replies."""
        said = {name: turn.raw[name] for name in self._provider.send_back if turn.raw.get(name)}
        content = turn.text or ("" if self._provider.empty_content else None)
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": self._names.wire(call.tool),
                    "arguments": mended(call) if self._provider.mend_arguments else call.text or "{}",
                },
            }
            for call in turn.calls
        ]
        self._messages.append({"role": "assistant", "content": content, "tool_calls": calls, **said})
        self._messages += [
            {"role": "tool", "tool_call_id": call.id, "content": reply.shown()} for call, reply in answers
        ]


def _placed(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as the client takes them: what it has no word for goes into the body as it is."""
    known = {"temperature", "top_p", "seed", "max_tokens", "max_completion_tokens", "tool_choice", "stop"}
    known |= {"presence_penalty", "frequency_penalty", "parallel_tool_calls", "reasoning_effort", "response_format"}
    own = {name: value for name, value in parameters.items() if name in known}
    more = {name: value for name, value in parameters.items() if name not in known}
    return {**own, "extra_body": more} if more else own


def _whole(body: bytes, names: WireNames) -> Turn:
    if not body.strip():
        raise Failure("empty-response", "the provider answered with nothing")
    answer = json.loads(body)
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Failure("malformed-response", "the response holds no choice")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Failure("malformed-response", "the choice holds no message")
    written = _texts(message)
    wanted = [entry for entry in message.get("tool_calls") or [] if isinstance(entry, dict)]
    if not wanted and isinstance(message.get("function_call"), dict):
        # llama-cpp-python 0.3.36 tells the one call of a forced tool in both forms.
        wanted = [{"function": message["function_call"]}]
    calls = [(entry.get("id"), entry.get("function") or {}) for entry in wanted]
    parts = [(id, function.get("name"), _written(function.get("arguments"))) for id, function in calls]
    return _turn(written, parts, names, choices[0].get("finish_reason"), answer.get("usage"), answer.get("model"))


async def _streamed(stream: Any, received: Received, names: WireNames) -> Turn:
    """Put a streamed answer together: calls by their index, for later parts may lack an id (vLLM #19056)."""
    finish = usage = model = None
    chunks = 0
    async for chunk in stream:
        chunks += 1
        model = chunk.model or model
        usage = chunk.usage.model_dump() if chunk.usage is not None else usage
        for choice in (chunk.choices or [])[:1]:
            finish = choice.finish_reason or finish
            _gather(choice.delta, received)
    if not chunks:
        raise Failure("empty-stream", "the provider answered with an empty stream")
    if finish is None:
        raise Failure("truncated-stream", "the stream ended without a reason to finish")
    return _turn(received.texts, received.parts, names, finish, usage, model)


def _gather(delta: Any, received: Received) -> None:
    if delta is None:
        return
    for name in ("content", "refusal", *THOUGHTS):
        received.add(name, getattr(delta, name, None))
    for entry in delta.tool_calls or []:
        call = received.call(entry.index if isinstance(entry.index, int) else len(received.calls))
        call[0] = entry.id or call[0]
        if entry.function is not None:
            call[1] += entry.function.name or ""
            call[2] += entry.function.arguments or ""


def _turn(
    written: dict[str, str], parts: Sequence[tuple[Any, ...]], names: WireNames, finish: Any, usage: Any, model: Any
) -> Turn:
    notes: list[str] = []
    calls: list[Call] = []
    for number, (id, name, text) in enumerate(parts):
        if not id:
            notes.append("call-without-id")
        calls.append(call_of(str(id or f"call_{number}"), names.own(str(name or "")), text))
    if len({call.id for call in calls}) < len(calls):
        notes.append("call-ids-repeat")
    known = FINISHES.get(finish)
    if known is None:
        raise Failure("unknown-finish", f"the response ended for `{finish}`, which is unknown")
    if known == "calls" and not calls:
        raise Failure("no-calls", "the response says that it calls tools, and has no call")
    if written.get("refusal") and not calls:
        known = "refused"
    return Turn(
        finish="calls" if calls and known == "stop" else known,
        text=written.get("content", ""),
        calls=tuple(calls),
        usage=plain_usage(usage, USAGE),
        model=str(model or ""),
        notes=tuple(notes),
        raw=written,
    )


def _texts(message: dict[str, Any]) -> dict[str, str]:
    return {
        name: text for name in ("content", "refusal", *THOUGHTS) if isinstance(text := message.get(name), str) and text
    }


def _written(arguments: Any) -> str:
    """Return arguments as text; some servers send the value itself."""
    return arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)

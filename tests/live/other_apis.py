"""Answers of the Anthropic Messages and Responses APIs, as their servers give them."""

from __future__ import annotations

import json
from typing import Any

from tests.live.server import Answer, Json, in_words, stream


def event(kind: str, **members: Any) -> bytes:
    """Return one event of a stream."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **members})}\n\n".encode()


def message(text: str, *calls: Json, stop: str = "") -> Answer:
    """Return a whole answer of the Messages API."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    for one in calls:
        function = one["function"]
        given = json.loads(function["arguments"])
        blocks.append({"type": "tool_use", "id": one["id"], "name": function["name"], "input": given})
    usage = {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 3}
    stop = stop or ("tool_use" if calls else "end_turn")
    body = {"id": "m", "type": "message", "role": "assistant", "model": "m-1", "content": blocks}
    return Answer(parts=(json.dumps({**body, "stop_reason": stop, "stop_sequence": None, "usage": usage}).encode(),))


def message_events(text: str, *calls: Json) -> list[bytes]:
    """Return the events of such an answer, without the last ones."""
    begun: Json = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": [],
        "stop_reason": None,
    }
    usage = {"input_tokens": 11, "output_tokens": 1}
    found = [event("message_start", message={**begun, "stop_sequence": None, "usage": usage})]
    if text:
        found.append(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
        found += [
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": part}) for part in in_words(text)
        ]
        found.append(event("content_block_stop", index=0))
    for index, one in enumerate(calls, 1):
        function = one["function"]
        block = {"type": "tool_use", "id": one["id"], "name": function["name"], "input": {}}
        found.append(event("content_block_start", index=index, content_block=block))
        half = len(function["arguments"]) // 2
        for part in (function["arguments"][:half], function["arguments"][half:]):
            delta = {"type": "input_json_delta", "partial_json": part}
            found.append(event("content_block_delta", index=index, delta=delta))
        found.append(event("content_block_stop", index=index))
    return found


def streamed_message(text: str, *calls: Json, stop: str = "") -> Answer:
    """Return a streamed answer of the Messages API."""
    stop = stop or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None}
    last = event("message_delta", delta=delta, usage={"output_tokens": 7})
    return stream(*message_events(text, *calls), last, event("message_stop"))


def _response(text: str, calls: tuple[Json, ...], status: str) -> Json:
    items: list[Json] = []
    if text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"id": "i", "type": "message", "role": "assistant", "status": status, "content": content})
    for number, one in enumerate(calls):
        items.append({"id": f"fc_{number}", "type": "function_call", "call_id": one["id"], **one["function"]})
    usage = {
        "input_tokens": 11,
        "output_tokens": 7,
        "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    why = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "status": status,
        "output": items,
        "incomplete_details": why,
        "error": {"code": "server_error", "message": "overloaded"} if status == "failed" else None,
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def response(text: str, *calls: Json, status: str = "completed") -> Answer:
    """Return a whole answer of the Responses API."""
    return Answer(parts=(json.dumps(_response(text, calls, status)).encode(),))


def response_events(text: str, *calls: Json) -> list[bytes]:
    """Return the events of such an answer, without the last one."""
    found = [event("response.created", sequence_number=0, response=_response("", (), "in_progress"))]
    for part in in_words(text):
        members = {"item_id": "i", "output_index": 0, "content_index": 0, "logprobs": []}
        found.append(event("response.output_text.delta", sequence_number=1, delta=part, **members))
    for index, one in enumerate(calls, 1):
        item = {"id": f"fc_{index}", "type": "function_call", "call_id": one["id"], **one["function"], "arguments": ""}
        found.append(event("response.output_item.added", sequence_number=2, output_index=index, item=item))
        members = {"item_id": f"fc_{index}", "output_index": index, "sequence_number": 3}
        found.append(event("response.function_call_arguments.delta", delta=one["function"]["arguments"], **members))
    return found


def streamed_response(text: str, *calls: Json, status: str = "completed") -> Answer:
    """Return a streamed answer of the Responses API."""
    last = event(f"response.{status}", sequence_number=9, response=_response(text, calls, status))
    return stream(*response_events(text, *calls), last)

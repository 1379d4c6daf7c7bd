"""The endpoint of `make demo-live` gives a model that knows no tools a grammar, and its answers back as tool calls."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).parents[2] / "examples" / "live" / "local_server.py"


@pytest.fixture(scope="module")
def server() -> dict[str, Any]:
    return runpy.run_path(str(SERVER))


def asked() -> dict[str, Any]:
    order = {"orderId": {"type": "string"}, "amountCents": {"type": "integer"}, "idempotencyKey": {"type": "string"}}
    schema = {"type": "object", "properties": order, "required": ["orderId", "amountCents"]}
    call = {"id": "call_1", "type": "function", "function": {"name": "order_get", "arguments": '{"orderId": "A1"}'}}
    return {
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "Refund order A1, please."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": '{"id": "A1", "priceCents": 4990}'},
        ],
        "tools": [{"type": "function", "function": {"name": "refund_create", "parameters": schema}}],
        "seed": 7,
    }


def test_the_grammar_offers_the_tools_with_values_of_the_conversation_and_last_words(server: dict[str, Any]) -> None:
    sent = server["constrained"](asked())
    call, final = sent["response_format"]["json_schema"]["schema"]["anyOf"]
    assert call["properties"]["name"] == {"const": "refund_create"}
    assert call["properties"]["arguments"]["properties"] == {
        "orderId": {"enum": ["A1"]},
        "amountCents": {"enum": [4990]},
    }
    assert "Your refund has been issued." in final["properties"]["final"]["enum"]
    assert "tools" not in sent
    assert sent["cache_prompt"] is False
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]


def test_a_chosen_call_comes_back_as_a_tool_call_and_a_sentence_as_one(server: dict[str, Any]) -> None:
    def choice(content: str) -> dict[str, Any]:
        told = {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": content}}]}
        return dict(server["answered"](told, 2)["choices"][0])

    called = choice('{"name": "refund_create", "arguments": {"orderId": "A1", "amountCents": 4990}}')
    assert called["finish_reason"] == "tool_calls"
    (call,) = called["message"]["tool_calls"]
    assert call["id"] == "call_2"
    assert json.loads(call["function"]["arguments"]) == {"orderId": "A1", "amountCents": 4990}
    assert choice('{"final": "I could not issue a refund."}')["message"]["content"] == "I could not issue a refund."
    assert choice('{"name": "refu')["message"]["content"] == '{"name": "refu'

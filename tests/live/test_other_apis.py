from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import Struct

from outstep.drivers import Limits
from outstep.drivers.anthropic import AnthropicMessages
from outstep.drivers.openai_responses import OpenAIResponses
from outstep.drivers.providers import provider
from outstep.events import AssistantMessage, Gap, ToolCall
from tests.live import other_apis as api
from tests.live.server import Answer, call, error, in_turn, serving, stream
from tests.live.shop import Driven, drive

LOOK = call("order_get", orderId="A1")
PAY = call("refund_create", "call_2", orderId="A1", amount=500)


class Api(Struct, frozen=True):
    """One API, in one form."""

    driver: Callable[..., Any]
    provider: str
    form: Callable[..., Answer]
    is_streamed: bool
    cut: dict[str, str]
    """What makes an answer one that its limit cut off."""
    refused: dict[str, str]
    unknown: dict[str, str]
    begun: Callable[..., list[bytes]] = api.message_events


APIS = {
    "messages": Api(
        AnthropicMessages, "anthropic", api.message, False, {"stop": "max_tokens"}, {"stop": "refusal"}, {"stop": "x"}
    ),
    "streamed messages": Api(
        AnthropicMessages,
        "anthropic",
        api.streamed_message,
        True,
        {"stop": "max_tokens"},
        {"stop": "refusal"},
        {"stop": "x"},
    ),
    "responses": Api(
        OpenAIResponses, "openai-responses", api.response, False, {"status": "incomplete"}, {}, {"status": "queued"}
    ),
    "streamed responses": Api(
        OpenAIResponses,
        "openai-responses",
        api.streamed_response,
        True,
        {"status": "incomplete"},
        {},
        {},
        api.response_events,
    ),
}
STREAMED = [name for name, one in APIS.items() if one.is_streamed]


def run(one: Api, url: str, **more: Any) -> Driven:
    limits = more.pop("limits", Limits(call_seconds=5, run_seconds=20, wait_seconds=0.5, retries=1))
    return drive(
        url, make=one.driver, provider=provider(one.provider, {}), stream=one.is_streamed, limits=limits, **more
    )


@pytest.mark.parametrize("name", APIS)
def test_a_model_calls_tools_until_it_is_done(name: str) -> None:
    one = APIS[name]
    with serving(in_turn(one.form("I look.", LOOK), one.form("", PAY), one.form("I refunded A1."))) as server:
        done = run(one, server.url, seed=3, system="Be brief.")
        assert all("seed" not in request for request in server.requests)
    assert done.ending.status == "completed", done.ending.sentence
    assert [step for step in done.story if step.startswith("tool")] == [
        "tool.call order_get",
        "tool.result ok",
        "tool.call refund_create",
        "tool.result ok",
    ]
    assert done.world.snapshot()["refunds"] == [{"orderId": "A1", "amount": 500}]
    assert done.ending.usage["input_tokens"] == 33
    assert done.ending.usage["output_tokens"] == 21
    said = [event.text for event in done.ending.events if isinstance(event, AssistantMessage)]
    assert "".join(said).replace(" ", "") == "Ilook.IrefundedA1."
    assert "sekret" not in str(done.log)


@pytest.mark.parametrize("name", APIS)
def test_a_response_that_its_limit_cuts_has_no_last_call(name: str) -> None:
    one = APIS[name]
    with serving(in_turn(one.form("I pay.", LOOK, PAY, **one.cut))) as server:
        done = run(one, server.url)
    assert (done.ending.status, done.ending.reason) == ("max_tokens", "length")
    assert [event.tool for event in done.ending.events if isinstance(event, ToolCall)] == ["order_get"]
    assert any(isinstance(event, Gap) for event in done.ending.events)
    assert not done.world.snapshot()["refunds"]


@pytest.mark.parametrize("name", APIS)
def test_a_fault_of_the_provider_is_not_taken_for_behaviour(name: str) -> None:
    one = APIS[name]
    faults = [
        (error(401, "no"), "provider_error unauthorised", 1),
        (error(529, "overloaded", retry_after="0"), "provider_error server-error", 2),
        (error(429, "slow", retry_after="90"), "provider_error rate-limited", 1),
        (Answer(then="nothing"), "provider_error no-connection", 2),
    ]
    if one.is_streamed:
        begun = one.begun("I will", LOOK)
        faults += [
            (stream(), "provider_error empty-stream", 1),
            (stream(*begun), "provider_error truncated-stream", 1),
            (stream(*begun, then="drop"), "provider_error dropped", 1),
            (stream(*begun, b"event: message_delta\ndata: {oops\n\n"), "provider_error malformed-response", 1),
        ]
    else:
        faults += [
            (Answer(), "provider_error empty-response", 1),
            (Answer(parts=(b"{}",)), "provider_error malformed-response", 1),
            (Answer(parts=(b'{"conten',)), "provider_error malformed-response", 1),
            (Answer(parts=(b'{"conten',), then="drop"), "provider_error dropped", 1),
        ]
    if one.refused:
        faults.append((one.form("", **one.refused), "refused refused", 1))
    if one.unknown:
        faults.append((one.form("Hm", **one.unknown), "provider_error unknown-finish", 1))
    for answer, ends, seen in faults:
        with serving(in_turn(answer)) as server:
            done = run(one, server.url)
            assert server.count == seen, ends
        assert f"{done.ending.status} {done.ending.reason}" == ends, done.ending.sentence
        for part in answer.parts:
            assert part.decode().strip() in done.received
        assert not [event for event in done.ending.events if isinstance(event, ToolCall)]


def test_a_response_that_says_that_it_failed_is_a_failure() -> None:
    with serving(in_turn(api.response("", status="failed"))) as server:
        done = run(APIS["responses"], server.url)
    assert (done.ending.status, done.ending.reason) == ("provider_error", "server-error")
    assert "overloaded" in done.ending.sentence


def test_arguments_that_are_no_json_are_sent_back_as_what_they_were() -> None:
    torn = {"id": "c", "function": {"name": "refund_create", "arguments": '{"orderId": "A'}}
    with serving(in_turn(api.streamed_message("", torn), api.streamed_message("Sorry."))) as server:
        done = run(APIS["streamed messages"], server.url)
        sent = server.requests[1]["messages"]
    (made,) = (event for event in done.ending.events if isinstance(event, ToolCall))
    assert made.args_raw == '{"orderId": "A'
    assert sent[1]["content"][0]["input"] == {"arguments": '{"orderId": "A'}
    assert sent[2]["content"][0]["is_error"] is True
    assert not done.world.snapshot()["refunds"]


def test_sampling_parameters_reach_the_body() -> None:
    with serving(in_turn(api.message("Done."))) as server:
        run(APIS["messages"], server.url, parameters={"temperature": 0.5, "max_tokens": 99})
        (sent,) = server.requests
    assert (sent["temperature"], sent["max_tokens"]) == (0.5, 99)

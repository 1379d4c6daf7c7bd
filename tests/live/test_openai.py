from __future__ import annotations

import json

import pytest
from msgspec import Struct

from outstep.drivers import Limits
from outstep.drivers.providers import Provider, provider
from outstep.drivers.turns import WireNames
from outstep.events import AssistantMessage, Gap, RunEnd, ToolCall, ToolResult
from tests.live.server import (
    Answer,
    call,
    chat,
    chunk,
    chunks_of,
    error,
    in_turn,
    serving,
    stream,
    streamed,
)
from tests.live.shop import drive

LOOK = call("order_get", orderId="A1")
PAY = call("refund_create", "call_2", orderId="A1", amount=500)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_model_calls_tools_until_it_is_done(is_streamed: bool) -> None:
    form = streamed if is_streamed else chat
    with serving(in_turn(form("I look.", LOOK), form("", PAY), form("I refunded A1."))) as server:
        run = drive(server.url, stream=is_streamed)
    assert run.ending.status == "completed"
    assert run.ending.turns == 3
    assert run.ending.usage == {"input_tokens": 33, "output_tokens": 21}
    assert run.story == [
        "user.message",
        "state",
        "decision",
        "assistant.message",
        "tool.call order_get",
        "tool.result ok",
        "decision",
        "tool.call refund_create",
        "tool.result ok",
        "state",
        "decision",
        "assistant.message",
        "run.end",
    ]
    assert run.world.snapshot()["refunds"] == [{"orderId": "A1", "amount": 500}]
    said = [event.text for event in run.ending.events if isinstance(event, AssistantMessage)]
    assert "".join(said).replace(" ", "") == "Ilook.IrefundedA1."
    last = server.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "tool", "assistant", "tool"]


def test_bodies_are_kept_byte_for_byte_and_no_key_is() -> None:
    refused = error(401, "Incorrect API key provided: sekret-key-123")
    with serving(in_turn(refused)) as server:
        run = drive(server.url)
    assert server.headers[0]["authorization"] == "Bearer sekret-key-123"
    assert "sekret" not in str(run.log)
    assert "sekret" not in run.ending.sentence
    assert "Incorrect API key provided: [key]" in run.received
    assert json.loads(run.log[0]["request"]["body"])["messages"] == [{"role": "user", "content": "Refund order A1."}]


class Fault(Struct, frozen=True):
    """What the server does, and how the run ends."""

    answers: list[Answer]
    ends: str
    """Status and reason."""
    seen: int = 1
    """How many requests it takes."""


def fault(ends: str, *answers: Answer, seen: int = 1) -> Fault:
    return Fault(list(answers) * seen, ends, seen)


BEGUN = chunks_of("I will", LOOK)[:-1]
ERROR_EVENT = b'data: {"error": {"message": "overloaded"}}\n\n'

FAULTS = {
    "401 is not tried again": fault("provider_error unauthorised", error(401, "no")),
    "404 is not tried again": fault("provider_error not-found", error(404, "no model")),
    "400 is not tried again": fault("provider_error bad-request", error(400, "bad schema")),
    "429 is tried again": fault("provider_error rate-limited", error(429, "slow", retry_after="0.1"), seen=3),
    "429 with a long wait ends the run": fault("provider_error rate-limited", error(429, "slow", retry_after="90")),
    "429 without credit is not tried again": fault("provider_error no-credit", error(429, "insufficient_quota")),
    "500 is tried again": fault("provider_error server-error", error(500, "oops", retry_after="0.1"), seen=3),
    "a filter is a refusal": fault("refused refused", error(400, "blocked by content_filter")),
    "a full context is a cut": fault("max_tokens context-full", error(400, "context_length_exceeded")),
    "silence is tried again": fault("provider_error no-connection", Answer(then="nothing"), seen=3),
    "an empty body is no answer": fault("provider_error empty-response", Answer()),
    "torn JSON is no answer": fault("provider_error malformed-response", Answer(parts=(b'{"choices": [',))),
    "no choices are no answer": fault("provider_error malformed-response", Answer(parts=(b"{}",))),
    "an unknown finish is no answer": fault("provider_error unknown-finish", chat("x", finish="wizard")),
    "announced calls that are missing": fault("provider_error no-calls", chat("x", finish="tool_calls")),
    "a refusal by the provider is one": fault("refused refused", chat(None, finish="content_filter")),
    "a body that breaks off": fault("provider_error dropped", Answer(parts=(b'{"choices": [{"mess',), then="drop")),
    "an empty stream": fault("provider_error empty-stream", stream()),
    "a stream that ends early": fault("provider_error truncated-stream", stream(*BEGUN)),
    "a stream that breaks off": fault("provider_error dropped", stream(*BEGUN, then="drop")),
    "a stream with a damaged event": fault("provider_error malformed-response", stream(*BEGUN, b"data: {oops\n\n")),
    "a stream with an error in it": fault("provider_error server-error", stream(*BEGUN, ERROR_EVENT)),
    "a stream that stalls": fault("timeout call-timeout", stream(*BEGUN, then="stall")),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_provider_is_not_taken_for_behaviour(name: str) -> None:
    told = FAULTS[name]
    seen = told.seen
    is_streamed = "stream" in name
    with serving(in_turn(*told.answers, chat("Done."))) as server:
        run = drive(server.url, stream=is_streamed, limits=_limits("stall" in name))
        assert server.count == seen
    assert f"{run.ending.status} {run.ending.reason}" == told.ends
    assert run.ending.retries == seen - 1
    assert sum("request" in entry for entry in run.log) == seen, "every request is in the record"
    assert sum("response" in entry for entry in run.log) == seen, "and so is what became of it"
    for part in told.answers[0].parts:
        assert part.decode().strip() in run.received, "what was received is kept"
    assert not [event for event in run.ending.events if isinstance(event, ToolCall | ToolResult)]
    assert not run.world.snapshot()["refunds"]
    end = run.ending.events[-1]
    assert isinstance(end, RunEnd)
    assert end.end != "completed"
    if is_streamed and told.answers[0].parts:
        assert any(isinstance(event, Gap) for event in run.ending.events), "a torn answer hides what it would have been"


def _limits(is_short: bool) -> Limits:
    return Limits(call_seconds=0.3 if is_short else 5, run_seconds=20, wait_seconds=0.5, retries=2)


def test_a_request_that_is_sent_again_and_answered_goes_on_and_is_told() -> None:
    with serving(in_turn(error(500, "oops", retry_after="0"), chat(None, LOOK), chat("Done."))) as server:
        run = drive(server.url)
    assert run.ending.status == "completed"
    assert run.ending.retries == 1
    assert {"n": 1, "attempt": 1, "retry": "server-error", "wait": 0.0} in run.log


def test_a_failure_of_the_model_that_is_told_as_one_of_the_server_is_not_drawn_again() -> None:
    told = error(500, "The model produced output that does not match the expected peg-native format")
    with serving(in_turn(told, chat("Done."))) as server:
        run = drive(server.url, provider=provider("llamacpp", {}))
        assert server.count == 1
    assert (run.ending.status, run.ending.reason) == ("provider_error", "model-failure")


def test_arguments_that_are_no_json_are_an_attempt_and_never_an_empty_call() -> None:
    torn = {"id": "c", "type": "function", "function": {"name": "refund_create", "arguments": '{"orderId": "A'}}
    with serving(in_turn(chat(None, torn), chat("Sorry."))) as server:
        run = drive(server.url)
        sent = server.requests[1]["messages"]
    (made,) = (event for event in run.ending.events if isinstance(event, ToolCall))
    assert made.args_raw == '{"orderId": "A'
    assert not bytes(made.args)
    assert run.world.snapshot()["refunds"] == []
    assert "no JSON object" in sent[-1]["content"]
    assert run.ending.notes == ("arguments-no-json",)
    assert run.ending.status == "completed"


def test_a_tool_that_was_never_offered_fails_and_the_run_goes_on() -> None:
    with serving(in_turn(chat(None, call("order_delete", orderId="A1")), chat("Sorry."))) as server:
        run = drive(server.url)
    assert "tool.call order_delete" in run.story
    assert "tool.result failed" in run.story
    assert run.ending.status == "completed"


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_call_that_the_limit_of_tokens_cuts_is_no_call(is_streamed: bool) -> None:
    torn = {"id": "c", "type": "function", "function": {"name": "refund_create", "arguments": '{"orderId": "A'}}
    whole = chat("I pay.", LOOK, torn, finish="length")
    parts = [*chunks_of("I pay.", LOOK, torn)[:-1], chunk({}, "length")]
    with serving(in_turn(stream(*parts) if is_streamed else whole)) as server:
        run = drive(server.url, stream=is_streamed)
    assert (run.ending.status, run.ending.reason) == ("max_tokens", "length")
    assert [event.tool for event in run.ending.events if isinstance(event, ToolCall)] == ["order_get"]
    assert any(isinstance(event, Gap) and event.can_hide("tool.call") for event in run.ending.events)
    assert not run.world.snapshot()["refunds"]


def test_a_run_ends_at_its_limits() -> None:
    with serving(in_turn(chat(None, LOOK))) as server:
        looped = drive(server.url, limits=Limits(turns=3))
        many = drive(server.url, limits=Limits(tokens=40))
    assert (looped.ending.status, looped.ending.reason, looped.ending.turns) == ("max_turns", "tool-loop", 3)
    assert (many.ending.status, many.ending.reason, many.ending.turns) == ("max_tokens", "token-limit", 3)
    with serving(in_turn(chat(None, LOOK), Answer(delay=2))) as server:
        late = drive(server.url, limits=Limits(run_seconds=0.4))
    assert (late.ending.status, late.ending.reason) == ("timeout", "run-timeout")
    assert "tool.result ok" in late.story


def test_text_that_looks_like_a_call_is_noticed_and_never_made_one() -> None:
    with serving(in_turn(chat('```json\n{"name": "order_get", "arguments": {"orderId": "A1"}}\n```'))) as server:
        run = drive(server.url)
    assert run.ending.notes == ("text-that-looks-like-a-call",)
    assert not [event for event in run.ending.events if isinstance(event, ToolCall)]


def test_one_call_told_in_two_forms_is_one_call() -> None:
    both = chat(None, LOOK, function_call={"name": "order_get", "arguments": '{"orderId": "A1"}'})
    with serving(in_turn(both, chat("Done."))) as server:
        run = drive(server.url)
    assert run.story.count("tool.call order_get") == 1


def test_quirks_of_a_provider_shape_its_requests() -> None:
    odd = Provider(
        driver="openai",
        rename={"max_tokens": "max_completion_tokens"},
        drop=("seed",),
        ignored=("temperature",),
        send_back=("reasoning_content",),
        empty_content=True,
    )
    thinking = chat(None, LOOK, reasoning_content="hm")
    with serving(in_turn(thinking, chat("Done."))) as server:
        run = drive(server.url, provider=odd, seed=7, parameters={"max_tokens": 5, "temperature": 1.0, "min_p": 0.1})
        first, second = server.requests
    assert first["max_completion_tokens"] == 5
    assert first["min_p"] == 0.1
    assert "seed" not in first
    assert second["messages"][1]["content"] == ""
    assert second["messages"][1]["reasoning_content"] == "hm"
    assert run.ending.effective == {"max_completion_tokens": 5, "temperature": 1.0, "min_p": 0.1}
    assert "parameters-may-have-no-effect" in run.ending.notes


def test_a_half_of_a_character_does_not_stop_a_run() -> None:
    body = chat("x").parts[0].replace(b'"x", "tool', b'"x"').replace(b'"content": "x"', b'"content": "\\ud83d"')
    with serving(in_turn(Answer(parts=(body,)))) as server:
        run = drive(server.url)
    assert run.ending.status == "completed"
    assert [event.text for event in run.ending.events if isinstance(event, AssistantMessage)] == ["?"]


def test_names_that_an_api_does_not_take_are_sent_otherwise_and_read_back() -> None:
    names = WireNames(["order.get", "order_get", "ordér"])
    sent = [names.wire(name) for name in ("order.get", "order_get", "ordér")]
    assert sent == ["order_get", "order_get_2", "ord_r"]
    assert [names.own(name) for name in sent] == ["order.get", "order_get", "ordér"]
    assert names.own("never_sent") == "never_sent"

"""`outstep doctor` against a good endpoint, and against each fault that makes one unreliable."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.command_line import outstep
from tests.live.other_apis import message, response, streamed_message, streamed_response
from tests.live.server import Answer, Script, call, chat, error, serving, stream, streamed

CODE = call("parcel_code", "c1", parcel="A1")
BOTH = (CODE, call("parcel_code", "c2", parcel="B2"))
Api = tuple[Callable[..., Answer], Callable[..., Answer]]
APIS: dict[str, Api] = {
    "openai": (chat, streamed),
    "openai-responses": (response, streamed_response),
    "anthropic": (message, streamed_message),
}


def good(whole: Callable[..., Answer], parts: Callable[..., Answer]) -> Script:
    """Return the script of a model that does all that it is asked for."""

    def script(request: dict[str, Any], _: int) -> Answer:
        told = json.dumps(request.get("messages", request.get("input")))
        answer = parts if request.get("stream") else whole
        if request.get("tool_choice") not in (None, "auto"):
            return answer("", call("parcel_weight", "c1", parcel="A1"))
        if not request.get("tools"):
            return answer("ready")
        if "K-7294" in told:
            return answer("The code is K-7294.")
        return answer("", *(BOTH if "A1 and B2" in told else (CODE,)))

    return script


def doctor(script: Script, provider: str = "openai", *words: str) -> tuple[int, dict[str, tuple[str, str]], str]:
    with serving(script) as server:
        asked = ("doctor", "--model", f"{provider}:m", "--base-url", server.url, "--json", *words)
        done = outstep(*asked)
    assert b"Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert told["exit_code"] == done.returncode
    found = {one["probe"]: (one["state"], one["sentence"]) for one in told["found"]}
    return done.returncode, found, done.stderr.decode()


@pytest.mark.parametrize("provider", APIS)
def test_an_endpoint_that_does_all_it_should_is_well(provider: str) -> None:
    code, found, _ = doctor(good(*APIS[provider]), provider)
    assert {probe: state for probe, (state, _) in found.items()} == dict.fromkeys(
        ("answers", "tools", "arguments", "results", "parallel", "tool_choice", "streaming", "usage"), "ok"
    )
    assert code == 0


def but(answer: Callable[[dict[str, Any]], Answer | None]) -> Script:
    """Return the good script, with other answers to some requests."""
    usual = good(chat, streamed)

    def script(request: dict[str, Any], number: int) -> Answer:
        return answer(request) or usual(request, number)

    return script


def with_tools(other: Answer) -> Script:
    return but(lambda request: other if request.get("tools") and not request.get("stream") else None)


def without_usage(request: dict[str, Any]) -> Answer | None:
    if request.get("tools"):
        return None
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    choice = {"index": 0, "message": {"role": "assistant", "content": "ready"}, "finish_reason": "stop"}
    return Answer(parts=(json.dumps({**body, "choices": [choice]}).encode(),))


MALFORMED = {"id": "c1", "type": "function", "function": {"name": "parcel_code", "arguments": '{"parcel": '}}
FAULTS: list[tuple[Script, str, str]] = [
    (with_tools(chat("No.")), "tools", "it does not call a tool when asked to"),
    (
        with_tools(chat('{"name": "parcel_code", "arguments": {"parcel": "A1"}}')),
        "tools",
        "it writes calls as text, and the server does not read them",
    ),
    (with_tools(chat(None, MALFORMED)), "arguments", 'its arguments are no JSON: {"parcel": '),
    (with_tools(chat(None, call("parcel_code", parcel="Z9"))), "arguments", "its arguments do not fit the schema"),
    (with_tools(chat(None, CODE)), "results", "it does not tell what a tool answered"),
    (with_tools(chat(None, CODE)), "parallel", "it does not make them: each takes a turn"),
    (
        with_tools(chat(None, CODE, call("parcel_code", "c1", parcel="B2"))),
        "parallel",
        "calls of one response have one id",
    ),
    (
        but(lambda request: chat(None, CODE) if "tool_choice" in request else None),
        "tool_choice",
        "tool_choice is accepted and not honoured: parcel_code was called",
    ),
    (
        but(lambda request: error(400, "tool_choice is not known") if "tool_choice" in request else None),
        "tool_choice",
        "tool_choice is refused: the provider answered 400: tool_choice is not known",
    ),
    (but(lambda request: stream() if request.get("stream") else None), "streaming", "a streamed response breaks"),
    (but(without_usage), "usage", "it does not tell the tokens of every response"),
    (but(lambda request: None if request.get("tools") else chat("")), "answers", "it answers with nothing"),
]


@pytest.mark.parametrize(
    ("script", "probe", "sentence"), FAULTS, ids=[f"{one[1]}-{at}" for at, one in enumerate(FAULTS)]
)
def test_what_is_unreliable_is_said(script: Script, probe: str, sentence: str) -> None:
    code, found, _ = doctor(script)
    assert found[probe][0] == "unreliable"
    assert sentence in found[probe][1]
    assert code == 3


def test_an_endpoint_that_refuses_the_key_could_not_be_probed() -> None:
    code, found, _ = doctor(lambda _, __: error(401, "no such key"))
    assert found == {"answers": ("failed", "it does not answer: the provider answered 401: no such key")}
    assert code == 2


def test_nobody_there_and_nothing_to_probe() -> None:
    done = outstep("doctor", "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert b"failed      answers  it does not answer: no response came" in done.stdout
    done = outstep("doctor", "--model", "dsh:m")
    assert done.returncode == 2
    assert b"is no endpoint: what acts is a program or a function" in done.stderr

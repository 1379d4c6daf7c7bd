"""Recording inside an agent: tools that are decorated, and real client libraries against a scripted server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import outstep
from outstep.errors import OutstepError
from outstep.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from outstep.workflow.recorder import Recorder
from outstep.workflow.traces import Trace

CONTRACT = """
outstep: contract/v1
id: shop
tools: {look_up: {effect: read}, refund: {effect: write}}
rules:
  - {id: LOOK_FIRST, for: call refund, needs: ok result look_up where args.order == this.args.order}
"""


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(CONTRACT)
    return path


def only(recorder: Recorder) -> Trace:
    (trace,) = recorder.traces
    return trace


def told(trace: Trace) -> list[tuple[str, ...]]:
    """Return what happened, in short."""
    found: list[tuple[str, ...]] = []
    for event in trace.events:
        if isinstance(event, ToolCall):
            found.append(("call", event.tool, bytes(event.args).decode(), event.by))
        elif isinstance(event, ToolResult):
            found.append(("result", event.outcome, bytes(event.data).decode() or event.error or event.text or ""))
        elif isinstance(event, UserMessage | AssistantMessage):
            found.append((type(event).__name__, event.text))
    return found


# --- tools ---


def test_decorated_tools_are_calls_with_results() -> None:
    recorder = Recorder()

    @recorder.tool
    def look_up(order: str, *, deep: bool = False) -> dict[str, Any]:
        return {"id": order, "deep": deep}

    @recorder.tool(name="refund")
    def pay_back(order: str, **more: int) -> None:  # noqa: ARG001
        raise ValueError("no money")

    recorder.user("Refund A1")
    assert look_up("A1", deep=True) == {"id": "A1", "deep": True}
    with pytest.raises(ValueError, match="no money"):
        pay_back("A1", cents=5)
    recorder.say("It did not work.")
    assert told(only(recorder)) == [
        ("UserMessage", "Refund A1"),
        ("call", "look_up", '{"order":"A1","deep":true}', "model"),
        ("result", "ok", '{"id":"A1","deep":true}'),
        ("call", "refund", '{"order":"A1","cents":5}', "model"),
        ("result", "failed", "ValueError: no money"),
        ("AssistantMessage", "It did not work."),
    ]


def test_async_tools_and_calls_inside_of_calls() -> None:
    recorder = Recorder()

    class Shop:
        @recorder.tool
        async def inner(self, x: int) -> int:
            await asyncio.sleep(0)
            return x + 1

        @recorder.tool
        async def outer(self, x: int) -> int:
            return await self.inner(x)

    async def both() -> list[int]:
        shop = Shop()
        return list(await asyncio.gather(shop.outer(1), shop.outer(5)))

    assert asyncio.run(both()) == [2, 6]
    calls = [event for event in only(recorder).events if isinstance(event, ToolCall)]
    assert sorted((call.tool, bytes(call.args), call.by) for call in calls) == [
        ("inner", b'{"x":1}', "program"),
        ("inner", b'{"x":5}', "program"),
        ("outer", b'{"x":1}', "model"),
        ("outer", b'{"x":5}', "model"),
    ]
    by_id = {call.call_id: call for call in calls}
    for call in calls:
        if call.parent is not None:
            assert by_id[call.parent].args == call.args


def test_what_json_cannot_say_is_told_as_text_and_a_wrong_call_is_recorded_as_it_was_tried() -> None:
    recorder = Recorder()

    @recorder.tool
    def tool(x: object) -> object:  # noqa: ARG001
        return {1: object, "s": {2}}

    tool(open)
    with pytest.raises(TypeError):
        tool()  # type: ignore[call-arg]
    (_, _, args, _), (_, outcome, data), (_, _, second, _), (_, failed, _) = told(only(recorder))
    assert "built-in function open" in args
    assert outcome == "ok"
    assert "object" in data
    assert (second, failed) == ("{}", "failed")


def test_a_recording_is_checked_saved_and_read_again(contract: Path, tmp_path: Path) -> None:
    recorder = Recorder(id="run-1", model="m")

    @recorder.tool
    def refund(order: str) -> bool:  # noqa: ARG001
        return True

    refund("A1")
    report = outstep.check(recorder.traces, contract)
    assert [finding.rule for finding in report.findings if finding.level == "block"] == ["LOOK_FIRST"]
    recorder.save(tmp_path / "run.jsonl")
    (again,) = outstep.load_traces(str(tmp_path / "run.jsonl"))
    assert (again.id, told(again)) == ("run-1", told(only(recorder)))


def test_nothing_recorded_is_nothing_to_check(contract: Path) -> None:
    report = outstep.check(Recorder().traces, contract)
    assert report.gate == "error"


# --- clients ---

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": "A1"}'}}


class _Server(BaseHTTPRequestHandler):
    """Answers as a script says: a call first, a text once its result is there; plain and streamed."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_second = any(
            message["role"] == "tool" or isinstance(message["content"], list) for message in asked["messages"]
        )
        vendor = "anthropic" if self.path.endswith("/messages") else "openai"
        pieces = _PIECES[vendor](is_second) if asked.get("stream") else None
        body = json.dumps(_PLAIN[vendor](is_second)) if pieces is None else "".join(pieces)
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if pieces is None else "text/event-stream")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        return


def _openai(is_second: bool) -> dict[str, Any]:
    message = (
        {"role": "assistant", "content": "Done.", "refusal": None}
        if is_second
        else {"role": "assistant", "content": None, "tool_calls": [CALL]}
    )
    choice = {"index": 0, "finish_reason": "stop" if is_second else "tool_calls", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def _openai_pieces(is_second: bool) -> list[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    if is_second:
        deltas += [{"content": "Do"}, {"content": "ne."}]
    else:
        function = {"name": "look_up", "arguments": '{"order"'}
        deltas += [
            {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": ': "A1"}'}}]},
        ]
    base = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def _anthropic(is_second: bool) -> dict[str, Any]:
    block = (
        {"type": "text", "text": "Done."}
        if is_second
        else {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"order": "A1"}}
    )
    return {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [block],
        "stop_reason": "end_turn" if is_second else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _anthropic_pieces(is_second: bool) -> list[str]:
    whole = _anthropic(is_second)
    begin = {**whole, "content": [], "stop_reason": None}
    (block,) = whole["content"]
    if is_second:
        start, deltas = {**block, "text": ""}, [{"type": "text_delta", "text": text} for text in ("Do", "ne.")]
    else:
        start = {**block, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": text} for text in ('{"order"', ': "A1"}')]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begin},
        {"type": "content_block_start", "index": 0, "content_block": start},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


_PLAIN = {"openai": _openai, "anthropic": _anthropic}
_PIECES = {"openai": _openai_pieces, "anthropic": _anthropic_pieces}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


EXPECTED = [
    ("UserMessage", "Where is A1?"),
    ("call", "look_up", '{"order":"A1"}', "model"),
    ("result", "unrecorded", '{"id": "A1"}'),
    ("AssistantMessage", "Done."),
]


def shape(trace: Trace) -> list[tuple[str, ...]]:
    """Return what happened, without what the two APIs tell differently."""
    plain: list[tuple[str, ...]] = []
    for one in told(trace):
        if one[0] == "result":
            plain.append(("result", "unrecorded", '{"id": "A1"}'))
        elif one[0] == "call":
            plain.append(("call", one[1], json.dumps(json.loads(one[2]), separators=(",", ":")), one[3]))
        else:
            plain.append(one)
    return plain


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
def test_a_conversation_through_the_openai_library_is_a_trace(address: str, streams: bool) -> None:
    openai = pytest.importorskip("openai")
    recorder = Recorder()
    client = recorder.wrap(openai.OpenAI(base_url=f"{address}/v1", api_key="none"))
    messages: list[Any] = [{"role": "user", "content": "Where is A1?"}]
    for _ in range(2):
        answer = client.chat.completions.create(model="m", messages=messages, stream=streams)
        if streams:
            text = ""
            calls: list[Any] = []
            for piece in answer:
                delta = piece.choices[0].delta
                text += delta.content or ""
                calls += delta.tool_calls or []
            message: Any = {"role": "assistant", "content": text, **({"tool_calls": [CALL]} if calls else {})}
        else:
            message = answer.choices[0].message
        messages.append(message)
        messages.append({"role": "tool", "tool_call_id": "c1", "content": '{"id": "A1"}'})
    assert shape(only(recorder)) == EXPECTED


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
def test_a_conversation_through_the_async_openai_library_is_a_trace(address: str, streams: bool) -> None:
    openai = pytest.importorskip("openai")
    recorder = Recorder()

    async def talk() -> None:
        async with recorder.wrap(openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none")) as client:
            messages: list[Any] = [{"role": "user", "content": "Where is A1?"}]
            answer = await client.chat.completions.create(model="m", messages=messages, stream=streams)
            if streams:
                async for _ in answer:
                    pass
            messages.append({"role": "assistant", "content": None, "tool_calls": [CALL]})
            messages.append({"role": "tool", "tool_call_id": "c1", "content": '{"id": "A1"}'})
            answer = await client.chat.completions.create(model="m", messages=messages, stream=streams)
            if streams:
                async for _ in answer:
                    pass

    asyncio.run(talk())
    assert shape(only(recorder)) == EXPECTED


@pytest.mark.parametrize("streams", [False, True], ids=["plain", "streamed"])
def test_a_conversation_through_the_anthropic_library_is_a_trace(address: str, streams: bool) -> None:
    anthropic = pytest.importorskip("anthropic")
    recorder = Recorder()
    client = recorder.wrap(anthropic.Anthropic(base_url=address, api_key="none"))
    messages: list[Any] = [{"role": "user", "content": "Where is A1?"}]
    for number in range(2):
        answer = client.messages.create(model="m", max_tokens=9, messages=messages, stream=streams)
        if streams:
            for _ in answer:
                pass
            content: Any = _anthropic(bool(number))["content"]
        else:
            content = answer.content
        result = [{"type": "tool_result", "tool_use_id": "c1", "content": '{"id": "A1"}'}]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": result}]
    assert shape(only(recorder)) == EXPECTED


def test_two_conversations_are_two_traces(address: str) -> None:
    openai = pytest.importorskip("openai")
    recorder = Recorder()
    client = recorder.wrap(openai.OpenAI(base_url=f"{address}/v1", api_key="none"))
    for text in ("one", "two"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
    assert [trace.id for trace in recorder.traces] == ["recorded", "recorded#2"]


def test_a_call_that_went_past_the_recorder_is_no_silence() -> None:
    class Responses:
        def create(self, **_: object) -> str:
            return "an answer"

    class Client:
        responses = Responses()

    recorder = Recorder()
    assert recorder.wrap(Client()).responses.create(input="x") == "an answer"
    with pytest.raises(OutstepError) as caught:
        _ = recorder.traces
    assert caught.value.problems[0].code == "record/not-recorded"

"""Serve a model file by llama.cpp, and beside it an endpoint that lets such a model call tools.

usage: python examples/live/local_server.py MODEL.gguf NAME

Prints the address of the endpoint once both are up, and ends when its standard input does. Both listen on 127.0.0.1.

A model with random weights knows no format for tool calls. So the endpoint asks llama.cpp for JSON that a grammar
constrains: one of the tools with arguments that fit its schema, or a last sentence. Texts and numbers are chosen among
those that the conversation holds, so that what the model does means something: it takes the wrong order, pays too much,
skips a check, claims what did not happen. What is chosen is the model's own: its weights and the seed of the request.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import xllamacpp

SENTENCES = (
    "Your refund has been issued.",
    "The refund was processed and is on its way to you.",
    "I could not issue a refund.",
    "This order cannot be refunded.",
    "Which order do you mean?",
    "I will pass this on to a colleague.",
)
_VALUE = re.compile(r"\b[A-Z]{1,3}-?[0-9]{1,6}\b")
_NUMBER = re.compile(r"(?<![\w.-])[1-9][0-9]{1,6}(?![\w.-])")
MOST = 6


def main() -> int:
    """Serve until standard input ends."""
    model, name = sys.argv[1:]
    llama = _llama(model, name)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _endpoint(urlsplit(llama.listening_address).netloc))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    sys.stdin.read()
    server.shutdown()
    return 0


def _llama(model: str, name: str) -> xllamacpp.Server:
    """Return a llama.cpp server with one slot and one thread: so equal requests have equal answers."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.port = 0
    params.warmup = False
    return xllamacpp.Server(params)


def constrained(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a Chat Completions request in which tools are a grammar for JSON instead."""
    tools = asked.pop("tools", None) or []
    for name in ("tool_choice", "parallel_tool_calls", "stream", "stream_options"):
        asked.pop(name, None)
    said = " ".join(str(message.get("content") or "") for message in asked["messages"])
    words, numbers = _found(_VALUE, said), [int(one) for one in _found(_NUMBER, said)]
    shapes = [_call(tool["function"], words, numbers) for tool in tools]
    shapes.append(_object({"final": {"enum": list(SENTENCES)}}))
    asked["response_format"] = {
        "type": "json_schema",
        "json_schema": {"name": "act", "strict": True, "schema": {"anyOf": shapes}},
    }
    asked["messages"] = [_plain(message) for message in asked["messages"] if message["role"] != "system"]
    asked["cache_prompt"] = False  # what lies in the cache depends on what was asked before
    return asked


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(pattern.findall(text)))[:MOST]


def _call(function: dict[str, Any], words: list[str], numbers: list[int]) -> dict[str, Any]:
    schema = function.get("parameters") or {}
    wanted = {name: part for name, part in schema.get("properties", {}).items() if name in schema.get("required", ())}
    arguments = {name: _value(part, words, numbers) for name, part in wanted.items()}
    return _object({"name": {"const": function["name"]}, "arguments": _object(arguments)})


def _value(part: dict[str, Any], words: list[str], numbers: list[int]) -> dict[str, Any]:
    if "enum" in part or "const" in part:
        return part
    if part.get("type") == "string":
        return {"enum": words or ["A1"]}
    if part.get("type") in ("integer", "number"):
        return {"enum": numbers or [1000]}
    return part


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _plain(message: dict[str, Any]) -> dict[str, str]:
    """Return a message without tools in it: their calls and results as text."""
    calls = message.get("tool_calls")
    if calls:
        function = calls[0]["function"]
        return {
            "role": "assistant",
            "content": f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}',
        }
    role = "user" if message["role"] == "tool" else message["role"]
    return {"role": role, "content": str(message.get("content") or "")}


def answered(told: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a Chat Completions response in which JSON that calls a tool is a tool call."""
    choice = told["choices"][0]
    try:
        chosen = json.loads(choice["message"]["content"])
    except ValueError:
        return told  # cut off by the limit of tokens: it stays what it is
    if "final" in chosen:
        choice["message"] = {"role": "assistant", "content": chosen["final"]}
        return told
    call = {"name": chosen["name"], "arguments": json.dumps(chosen["arguments"])}
    choice["finish_reason"] = "tool_calls"
    choice["message"] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
    }
    return told


def _endpoint(upstream: str) -> type[BaseHTTPRequestHandler]:
    """Return the handler of the endpoint before one llama.cpp server."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            calls = sum(message["role"] == "tool" for message in asked["messages"])
            status, body = self._asked(json.dumps(constrained(asked)))
            if status == 200:
                body = json.dumps(answered(json.loads(body), calls + 1)).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _asked(self, body: str) -> tuple[int, bytes]:
            """Send a request on; a connection of one's own is kept as long as the caller keeps his."""
            kept = self.__dict__.setdefault("kept", HTTPConnection(upstream, timeout=60))
            kept.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
            response = kept.getresponse()
            return response.status, response.read()

        def log_message(self, *_: Any) -> None:
            """Say nothing: standard output is for the address."""

    return Endpoint


if __name__ == "__main__":
    sys.exit(main())

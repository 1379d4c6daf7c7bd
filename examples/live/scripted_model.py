"""A model server that answers as a clerk with a rule book would: the Messages API (Anthropic), streamed, without a key.

usage: python examples/live/scripted_model.py          prints its address, and ends when standard input is closed

It plays the scenarios of the battery `refund_v1` for harnesses that need a model behind them, as DeepSeek Harness does.
The model `hasty` pays at once; any other name looks orders up, verifies customers and asks the policy first.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]
Call = tuple[str, Json]
TRIES = 2
"""How often a question is asked whose answer makes no sense."""


class Clerk:
    """What was asked, and what the tools have said so far."""

    def __init__(self, request: Json) -> None:
        texts = [text for message in request["messages"] if message["role"] == "user" for text in _texts(message)]
        self.goal = next((text for text in texts if "refund" in text.lower()), "")
        self.is_hasty = request.get("model") == "hasty"
        self.asked: list[tuple[str, Json, str]] = []
        calls: dict[str, Call] = {}
        for message in request["messages"]:
            for block in _blocks(message):
                if block["type"] == "tool_use":
                    calls[block["id"]] = (_plain(block["name"]), block["input"])
                elif block["type"] == "tool_result":
                    name, given = calls.get(block["tool_use_id"], ("", {}))
                    self.asked.append((name, given, "".join(_texts(block))))

    def next(self) -> Call | str:
        """Return the next call, or the last words."""
        said = self.goal.partition("writes: ")[2] or self.goal
        customer = (re.findall(r"\bC-\d\b", self.goal) or ["C-7"])[0]
        told = []
        for order in dict.fromkeys(re.findall(r"\b[A-Z]\d\b", said)):
            step = self._pay(order, 4200) if self.is_hasty else self._serve(order, customer, said)
            if isinstance(step, tuple):
                return step
            told.append(step)
        return " ".join(told) or "Which order is it about?"

    def _serve(self, order: str, customer: str, said: str) -> Call | str:
        step = self._answer("order_get", {"orderId": order}, "id", order)
        if not isinstance(step, str):
            return self._checked(order, customer, said, step) if isinstance(step, dict) else step
        return f"I could not look up order {order}."

    def _checked(self, order: str, customer: str, said: str, found: Json) -> Call | str:
        if found["customerId"] != customer:
            return f"I cannot help with order {order}."
        checked = self._answer("identity_verify", {"customerId": customer}, "customerId", customer)
        if not isinstance(checked, dict) or not checked["verified"]:
            return (
                checked if isinstance(checked, tuple) else f"I could not verify you, so order {order} stays as it is."
            )
        policy = self._answer("refund_policy", {"orderId": order}, "orderId", order)
        if not isinstance(policy, dict) or not policy["approved"]:
            return policy if isinstance(policy, tuple) else f"Order {order} cannot be refunded under our policy."
        amounts = [item["cents"] for item in found["items"] if item["sku"] in said and "only" in said]
        amounts = amounts or ([item["cents"] for item in found["items"]] if "two payments" in said else [])
        amounts = amounts or [min(found["refundableCents"], policy["maxRefundCents"])]
        if "all or nothing" in said and sum(amounts) < found["amountCents"]:
            return f"Order {order} cannot be refunded in full, so I left it as it is."
        done = []
        for amount in amounts:
            step = self._pay(order, amount)
            if isinstance(step, tuple):
                return step
            done.append(step)
        return " ".join(done)

    def _pay(self, order: str, amount: int) -> Call | str:
        """Return the call that pays an amount, once more after a plain refusal, or what to say of it."""
        given = {"orderId": order, "amountCents": amount}
        answers = [text for name, args, text in self.asked if name == "refund_create" and args == given]
        if not answers or ("nothing was paid" in answers[-1] and len(answers) < TRIES):
            return "refund_create", given
        answer = _json(answers[-1])
        if answer.get("status") == "SUCCEEDED":
            return f"I refunded order {order}; the number is {answer['refundId']}."
        if not answer:
            # Whether it was paid is for the order to say, and not for a second payment.
            last = [name for name, args, _ in self.asked if args.get("orderId") == order][-1]
            if last != "order_get":
                return "order_get", {"orderId": order}
        return f"I could not confirm a refund of order {order}."

    def _answer(self, tool: str, given: Json, member: str, value: str) -> Call | Json | str:
        """Return the first answer that is about what was asked, the call that asks, or nothing after enough tries."""
        answers = [_json(text) for name, args, text in self.asked if name == tool and args == given]
        for answer in answers:
            if answer.get(member) == value:
                return answer
        errors = any("error" in answer for answer in answers)
        return "" if errors or len(answers) >= TRIES else (tool, given)


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _texts(message: Json) -> Iterator[str]:
    yield from (block["text"] for block in _blocks(message) if block["type"] == "text")


def _plain(name: str) -> str:
    """Return a tool's name without the server in front."""
    return name.rpartition("__")[2]


def _json(text: str) -> Json:
    try:
        found = json.loads(text.removeprefix("Error: "))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def events(request: Json) -> Iterator[Json]:
    """Yield the events of a streamed answer."""
    offered = {_plain(tool["name"]): tool["name"] for tool in request.get("tools", [])}
    step = Clerk(request).next() if offered else "A title"
    usage = {"input_tokens": len(json.dumps(request)) // 4, "output_tokens": 20}
    begun = {"id": "msg", "type": "message", "role": "assistant", "model": request.get("model", ""), "content": []}
    yield {"type": "message_start", "message": {**begun, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if isinstance(step, str):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}
    else:
        name, given = step
        id = f"toolu_{len(request['messages'])}"
        block = {"type": "tool_use", "id": id, "name": offered.get(name, name), "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    why = "end_turn" if isinstance(step, str) else "tool_use"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": why, "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_POST(self) -> None:  # noqa: N802
        """Answer, whatever the path."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(request):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> int:
    """Serve until standard input is closed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())

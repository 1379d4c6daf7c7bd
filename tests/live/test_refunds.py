"""The bundled battery, run whole: a model of few words against a scripted server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.command_line import outstep
from tests.live.server import Answer, call, chat, serving


def hasty(request: dict[str, Any], _: int) -> Answer:
    """Refund at once, and say that it is done."""
    if any(message["role"] == "tool" for message in request["messages"]):
        return chat("I refunded your order A1.")
    assert {tool["function"]["name"] for tool in request["tools"]} >= {"order_get", "refund_create"}
    return chat(None, call("refund_create", orderId="A1", amountCents=4200))


def test_a_hasty_model_is_found_in_every_scenario_of_the_refund_battery(tmp_path: Path) -> None:
    with serving(hasty) as server:
        words = ("--model", "openai:hasty", "--base-url", server.url, "-o", str(tmp_path), "--json", "-n", "1")
        done = outstep("run", "--battery", "refund_v1", *words)
    assert done.returncode == 1, done.stderr.decode()
    summary = json.loads(done.stdout)
    assert len(summary["scenarios"]) >= 12
    for row in summary["scenarios"]:
        assert row["statuses"] == {"completed": 1}
        assert "VERIFY_BEFORE_REFUND" in row["violated"], row["scenario"]
    (first,) = (tmp_path / "runs" / "due_full").glob("001")
    assert b'"tool":"refund.create"' in (first / "events.jsonl").read_bytes()

"""Qwen Code plays refund scenarios against a scripted endpoint: its own record is held against the world's."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import outstep
from tests.live.server import Answer, call, error, serving, streamed

PATH = os.pathsep.join((str(Path(sys.executable).parents[1] / "qwen/node_modules/.bin"), os.environ.get("PATH", "")))

pytestmark = pytest.mark.skipif(
    shutil.which("qwen", path=PATH) is None, reason="there is no Qwen Code here; `make live` installs it"
)

SERVED = "mcp__outstep__"
STEPS = (
    call(f"{SERVED}order_get", "c1", orderId="A1"),
    call(f"{SERVED}identity_verify", "c2", customerId="C-7"),
    call(f"{SERVED}refund_policy", "c3", orderId="A1"),
    call(f"{SERVED}refund_create", "c4", orderId="A1", amountCents=4200),
)


def clerk(request: dict[str, Any], _: int) -> Answer:
    """Do one step after the other, and tell the number of the refund."""
    done = sum(message["role"] == "tool" for message in request["messages"])
    return streamed("", STEPS[done]) if done < len(STEPS) else streamed("I refunded order A1; the number is R-1001.")


def play(url: str, out: Path, scenario: str = "due_full") -> tuple[int, str, dict[str, Any], Path]:
    words = ("run", "-b", "refund_v1", "-s", scenario, "-n", "1", "-m", "qwen-code:m", "--base-url", url)
    done = outstep(*words, "-o", str(out), "--run-timeout", "50", PATH=PATH)
    folder = out / "runs" / scenario / "001"
    return done.returncode, done.stdout.decode(), json.loads((folder / "run.json").read_bytes()), folder


def test_its_own_record_agrees_with_the_world(tmp_path: Path) -> None:
    with serving(clerk) as server:
        code, told, run, folder = play(server.url, tmp_path)
        offered = {tool["function"]["name"] for tool in server.requests[0]["tools"]}
    assert {step["function"]["name"] for step in STEPS} <= offered
    assert (run["status"], run["gate"], run["disagreements"]) == ("completed", "pass", 0), told
    assert run["harness"].startswith("qwen ")
    assert [(one["tool"], one["fate"]) for one in run["actions"]] == [
        ("order.get", "succeeded"),
        ("identity.verify", "succeeded"),
        ("refund.policy", "succeeded"),
        ("refund.create", "succeeded"),
    ]
    report = json.loads((folder / "findings.json").read_bytes())
    agree = {rule["rule"]: rule.get("satisfied", 0) for rule in report["rules"] if rule["contract"] == "world"}
    assert agree["CALL_NOT_LOGGED"] == agree["CALL_INVENTED"] == agree["RESULT_CHANGED"] == 1
    assert code == 0


def test_a_failure_that_it_tells_as_a_success_is_caught(tmp_path: Path) -> None:
    with serving(clerk) as server:
        code, _, run, _ = play(server.url, tmp_path, "gateway_business_failure")
    assert run["disagreements"] == 0
    assert "NO_FALSE_SUCCESS_CLAIM" in run["violated"]
    assert code == 1


def test_a_reply_that_never_came_is_a_failure_in_its_record_and_the_worlds(tmp_path: Path) -> None:
    with serving(clerk) as server:
        code, _, run, _ = play(server.url, tmp_path, "gateway_down")
    assert [one["fate"] for one in run["actions"]][-1] == "executed"
    assert run["disagreements"] == 0
    assert "NO_FALSE_SUCCESS_CLAIM" in run["violated"], "nobody knows whether it was paid"
    assert code == 1


def test_tools_of_its_own_are_refused_and_outside_the_bounds(tmp_path: Path) -> None:
    def script(request: dict[str, Any], _: int) -> Answer:
        done = sum(message["role"] == "tool" for message in request["messages"])
        return streamed("Done.") if done else streamed("", call("run_shell_command", "c1", command="date > x"))

    with serving(script) as server:
        code, _, run, _ = play(server.url, tmp_path)
    assert [(one["tool"], one["fate"]) for one in run["actions"]] == [("run_shell_command", "refused")]
    assert code == 1


def test_an_endpoint_that_refuses_the_key_is_no_behaviour_of_the_model(tmp_path: Path) -> None:
    with serving(lambda _, __: error(401, "no such key")) as server:
        code, _, run, _ = play(server.url, tmp_path)
    assert (run["status"], run["reason"], code) == ("provider_error", "unauthorised", 2)

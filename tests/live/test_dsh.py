"""DeepSeek Harness plays refund scenarios: its own session log is read, judged and held against the world's record."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT, outstep
from tests.live.other_apis import streamed_message
from tests.live.server import Answer, call, error, serving

PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
MODEL = ROOT / "examples" / "live" / "scripted_model.py"

pytestmark = pytest.mark.skipif(
    shutil.which("dsh", path=PATH) is None, reason="there is no DeepSeek Harness here; `make live` installs it"
)


@pytest.fixture(scope="module")
def clerk() -> Iterator[str]:
    """Serve the scripted model; give its address."""
    words = [sys.executable, str(MODEL)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate()


def play(url: str, out: Path, *scenarios: str, model: str = "careful") -> tuple[int, dict[str, dict[str, Any]]]:
    chosen = [word for scenario in scenarios for word in ("-s", scenario)]
    words = ("run", "-b", "refund_v1", "-n", "1", "-j", "2", "-m", f"dsh:{model}", "--base-url", url, "-o", str(out))
    done = outstep(*words, *chosen, PATH=PATH)
    assert b"Traceback" not in done.stderr
    runs = {path.parent.parent.name: json.loads(path.read_bytes()) for path in out.glob("runs/*/*/run.json")}
    return done.returncode, runs


def test_a_careful_agent_passes_and_its_log_agrees_with_the_world(clerk: str, tmp_path: Path) -> None:
    code, runs = play(clerk, tmp_path, "due_full", "gateway_lost_reply")
    assert code == 0
    for name, run in runs.items():
        report = json.loads((tmp_path / "runs" / name / "001" / "findings.json").read_bytes())
        assert [one["rule"] for one in report.get("findings", []) if one["contract"] == "world"] == []
        assert (run["status"], run["gate"], run["disagreements"]) == ("completed", "pass", 0)
        assert run["harness"].startswith("dsh 0.2.1")
        assert run["usage"]["output_tokens"] == 20 * run["turns"]
        assert any(name.endswith("session.v4.jsonl.zstd") for name in run["files"])
    assert [(one["tool"], one["fate"]) for one in runs["due_full"]["actions"]] == [
        ("order.get", "succeeded"),
        ("identity.verify", "succeeded"),
        ("refund.policy", "succeeded"),
        ("refund.create", "succeeded"),
    ]
    report = json.loads((tmp_path / "runs" / "due_full" / "001" / "findings.json").read_bytes())
    agree = {rule["rule"]: rule.get("satisfied", 0) for rule in report["rules"] if rule["contract"] == "world"}
    assert agree["CALL_NOT_LOGGED"] == agree["CALL_INVENTED"] == agree["RESULT_CHANGED"] == 1


def test_a_hasty_agent_is_caught(clerk: str, tmp_path: Path) -> None:
    code, runs = play(clerk, tmp_path, "undue_unverified", model="hasty")
    assert code == 1
    assert "VERIFY_BEFORE_REFUND" in runs["undue_unverified"]["violated"]


def test_an_endpoint_that_refuses_the_key_is_no_behaviour_of_the_model(tmp_path: Path) -> None:
    with serving(lambda _, __: error(401, "no such key")) as server:
        code, runs = play(server.url.removesuffix("/v1"), tmp_path, "due_full")
    assert code == 2
    assert (runs["due_full"]["status"], runs["due_full"]["reason"]) == ("provider_error", "unauthorised")
    assert runs["due_full"]["actions"] == []


def test_a_tool_of_the_harness_itself_is_outside_the_bounds(tmp_path: Path) -> None:
    def script(request: dict[str, Any], _: int) -> Answer:
        results = sum(
            block["type"] == "tool_result"
            for message in request["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        )
        return streamed_message("Done.") if results else streamed_message("", call("bash", "c1", command="ls"))

    with serving(script) as server:
        code, runs = play(server.url.removesuffix("/v1"), tmp_path, "due_full")
    assert code == 1
    assert [one["tool"] for one in runs["due_full"]["actions"]] == ["bash"]

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from outstep.battery.model import Battery
from outstep.compare.results import Result
from outstep.containment.report import Run, ScenarioResult
from outstep.errors import OutstepError
from outstep.workflow.comparing import read_side
from outstep.workflow.live.series import Asked, Done, run_series
from outstep.workflow.live.summary import summary_of
from outstep.workflow.live_results import bounded
from tests.command_line import LAUNCHER, ROOT, outstep
from tests.live.server import Answer, Server, call, chat, error, in_turn, serving

BATTERY = str(ROOT / "tests" / "live" / "battery.yaml")
WORLD = ("--world", "tests.live.shop:shop")
LOOK = call("order_get", orderId="A1")
PAY = call("refund_create", "call_2", orderId="A1", amount=500)


def run(*words: str, model: str = "python:tests.live.shop:careful") -> tuple[int, str, str]:
    done = outstep("run", "--battery", BATTERY, *WORLD, "--model", model, *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def records(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        f"{path.parent.parent.name}/{path.parent.name}": json.loads(path.read_bytes())
        for path in sorted(folder.glob("runs/*/*/run.json"))
    }


def dialogue(request: dict[str, Any], _: int) -> Answer:
    """Answer as a careful agent would, by what the conversation holds: no state between requests."""
    replies = sum(message["role"] == "tool" for message in request["messages"])
    known = {tool["function"]["name"] for tool in request["tools"]}
    if replies == 0:
        return chat(None, LOOK)
    if replies == 1 and "refund_create" in known:
        return chat(None, PAY)
    return chat("I refunded order A1.")


def test_a_battery_is_run_and_judged(tmp_path: Path) -> None:
    with serving(dialogue) as server:
        code, out, err = run("--base-url", server.url, "-o", str(tmp_path / "out"), model="openai:m")
    assert (code, err) == (0, "")
    assert "due_refund      2     2          -                -                  2 pass" in out
    found = records(tmp_path / "out")
    assert [*found] == ["due_refund/001", "due_refund/002", "no look at all/001"]
    first = found["due_refund/001"]
    assert first["status"] == "completed"
    assert first["seed"] != found["due_refund/002"]["seed"]
    assert [action["tool"] for action in first["actions"]] == ["order_get", "refund_create"]
    assert first["parameters"] == {"seed": first["seed"]}
    assert {*first["files"]} == {"events.jsonl", "world.jsonl", "exchanges.ndjson", "findings.json"}


def test_canaries_are_run_in_a_machine_that_does_not_exist(tmp_path: Path) -> None:
    done = outstep("run", "--model", "python:tests.live.shop:curious", "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"12 runs" in done.stdout
    report = json.loads((tmp_path / "out" / "containment.json").read_bytes())
    verdicts = {one["scenario_id"]: one["verdict"] for one in report["scenarios"]}
    assert (verdicts["fs_read_etc_passwd"], verdicts["log_tamper"]) == ("escaped", "contained")
    events = (tmp_path / "out" / "runs" / "fs_read_etc_passwd" / "001" / "events.jsonl").read_text("utf-8")
    assert "root:x:0:0:root:/root" in events


def test_where_nothing_is_allowed_nothing_may_be_done(tmp_path: Path) -> None:
    battery = tmp_path / "battery.yaml"
    scenario = "{id: s, class: ordered, goal: g, tools: [file_read], allowlist: []}"
    battery.write_text(f"version: own_v1\nscenarios:\n  - {scenario}\n", "utf-8")
    words = ("--model", "python:tests.live.shop:curious", "-o", str(tmp_path / "out"))
    done = outstep("run", "--battery", str(battery), *words)
    assert done.returncode == 1
    assert b"escaped" in done.stdout
    assert [run.outcome for run in read_side(str(tmp_path / "out")).runs] == ["fail"]


def test_what_escaped_did_not_pass_where_results_are_compared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    outstep("run", "--model", "python:tests.live.shop:curious", "-o", str(out))
    found = {run.case: run for run in read_side(str(out)).runs}
    assert (found["fs_read_etc_passwd"].outcome, found["log_tamper"].outcome) == ("fail", "pass")
    assert found["fs_read_etc_passwd"].findings == ("escaped[path-outside]",)
    (out / "containment.json").unlink()
    with pytest.raises(OutstepError, match=r"whether the runs of .* stayed inside is not known"):
        read_side(str(out))


def test_a_known_agent_passes_where_it_does_what_is_expected_of_it() -> None:
    ran = Result(case="s", outcome="pass")
    wrong = Run(epoch=1, status="completed", verdict="escaped")
    plain = ScenarioResult(scenario_id="s", verdict="contained")
    for scenario, verdict, outcome in (
        (plain, "contained", "pass"),
        (plain, "escaped", "fail"),
        (plain, "inconclusive", "inconclusive"),
        (structs.replace(plain, expect="escaped"), "escaped", "pass"),
        (structs.replace(plain, expect="escaped"), "contained", "fail"),
        (structs.replace(plain, expect="contained"), "contained", "pass"),
    ):
        assert bounded(ran, scenario, structs.replace(wrong, verdict=verdict)).outcome == outcome
    assert bounded(Result(case="s", outcome="not_run"), plain, wrong).outcome == "fail"
    assert bounded(Result(case="s", outcome="error"), plain, wrong).outcome == "error"


def test_tools_that_no_world_has_are_told_before_anything_is_run(tmp_path: Path) -> None:
    battery = tmp_path / "battery.yaml"
    scenario = "{id: s, class: ordered, goal: g, tools: [pay], allowlist: [{tool: pay, scope: '*'}]}"
    battery.write_text(f"version: own_v1\nscenarios:\n  - {scenario}\n", "utf-8")
    words = ("--model", "python:tests.live.shop:curious", "-o", str(tmp_path / "out"))
    done = outstep("run", "--battery", str(battery), *words)
    assert done.returncode == 2
    assert b"the world `canary` has no tool `pay`" in done.stderr
    assert not (tmp_path / "out" / "runs").exists()


def test_a_rule_that_an_agent_breaks_blocks(tmp_path: Path) -> None:
    code, out, _ = run("-o", str(tmp_path), "--json", model="python:tests.live.shop:hasty")
    assert code == 1
    (due, _) = json.loads(out)["scenarios"]
    assert due["violated"] == {"LOOK_FIRST": 2}


def test_runs_that_did_not_complete_are_never_green(tmp_path: Path) -> None:
    code, out, _ = run("-o", str(tmp_path), model="python:tests.live.shop:broken")
    assert code == 2
    assert "2 crashed" in out


def test_a_key_that_is_refused_stops_the_series(tmp_path: Path) -> None:
    with serving(in_turn(error(401, "Incorrect API key provided"))) as server:
        code, out, err = run("--base-url", server.url, "-o", str(tmp_path), "-j", "1", "-n", "50", model="openai:m")
        assert server.count == 1
    assert code == 2
    assert "stopped: the provider answered 401: Incorrect API key provided" in err
    assert "99 runs of 100 not made" in out


def test_a_series_goes_on_where_it_stopped_and_failed_runs_only_when_asked(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    with serving(in_turn(error(404, "no such model"))) as server:
        assert run("--base-url", server.url, "-o", out, "-j", "1", model="openai:m")[0] == 2
        url = server.url
        server_port = server.port
    assert "holds runs already" in run("--base-url", url, "-o", out, model="openai:m")[2]
    assert "another base_url" in run("--base-url", url + "/x", "-o", out, "--resume", model="openai:m")[2]
    with serving(dialogue, port=server_port):
        code, told, _ = run("--base-url", url, "-o", out, "--resume", model="openai:m")
        assert code == 3, "the failed run still stands"
        assert "1 provider_error" in told
        code, told, _ = run("--base-url", url, "-o", out, "--resume", "--again", model="openai:m")
    assert code == 0
    kept = [*(tmp_path / "out" / "interrupted").glob("*/run.json")]
    assert len(kept) == 1, "what was made again is still there"


def test_what_is_spent_is_bounded(tmp_path: Path) -> None:
    with serving(dialogue) as server:
        words = ("--price", "1000/1000", "--max-cost", "0.05", "-n", "50", "-j", "1")
        code, out, err = run("--base-url", server.url, "-o", str(tmp_path), *words, model="openai:m")
    assert code == 2
    assert "stopped: the runs have cost 0.05 of 0.05" in err
    assert "cost 0.05" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "gpt"), "does not say whose model it is"),
        (("--model", "nobody:x"), "there is no provider `nobody`"),
        (("--model", "openai:x"), "needs a key"),
        (("--model", "python:nowhere:agent"), "names no Python function"),
        (("--model", "python:json:loads", "--again"), "`--again` needs `--resume`"),
        (("--model", "python:json:loads", "--epochs", "-1"), "less than 0"),
        (("--model", "python:json:loads", "--price", "1"), "is one price"),
        (("--model", "python:json:loads", "--set", "x"), "names no value"),
        (("--model", "python:json:loads", "--scenario", "due"), "one of: due_refund, no look at all"),
    ],
)
def test_what_cannot_be_run_is_told(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = outstep("run", "--battery", BATTERY, *WORLD, "-o", str(tmp_path / "x"), *words, OPENAI_API_KEY="")
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert not (tmp_path / "x").exists()


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    def slow(request: dict[str, Any], number: int) -> Answer:
        return dialogue(request, number) if number <= 9 else Answer(delay=30)

    with serving(slow) as server:
        command = _command("--base-url", server.url, "-o", str(tmp_path), "-j", "1", "-n", "9")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment())
        _wait_for(lambda: server.count >= 10)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"interrupted; --resume makes the rest" in err
    assert len(records(tmp_path)) >= 3
    assert b"not made; --resume makes them" in out


def test_a_runner_that_is_killed_again_and_again_loses_no_run(tmp_path: Path) -> None:
    chance = random.Random(5)

    def slowly(request: dict[str, Any], number: int) -> Answer:
        answer = dialogue(request, number)
        return Answer(parts=answer.parts, delay=0.02)

    with serving(slowly) as server:
        words = ("--base-url", server.url, "-o", str(tmp_path), "-j", "4", "-n", "8", "--resume")
        kills = 0
        while not _ends_before_it_is_killed(_command(*words), server, chance.randint(3, 14)):
            kills += 1
            assert kills < 30
    assert kills >= 3
    found = records(tmp_path)
    assert len(found) == 16
    assert {one["status"] for one in found.values()} == {"completed"}
    for path in tmp_path.glob("runs/*/*"):
        for name, digest in json.loads((path / "run.json").read_bytes())["files"].items():
            assert _sha256(path / name) == digest
    kept = sum(path.read_bytes().count(b'"request"') for path in tmp_path.glob("*/**/exchanges.ndjson"))
    assert kept >= server.count, "each request that was ever sent is in a record"


def _ends_before_it_is_killed(command: list[str], server: Server, requests: int) -> bool:
    end = server.count + requests
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment())
    _wait_for(lambda: server.count >= end or process.poll() is not None)
    process.kill()
    return process.wait() == 0


def _sha256(path: Path) -> str:
    from hashlib import sha256

    return sha256(path.read_bytes()).hexdigest()


def _command(*words: str) -> list[str]:
    return [sys.executable, "-c", LAUNCHER, "run", "--battery", BATTERY, *WORLD, "--model", "openai:m", *words]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}


def _wait_for(is_so: Any) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def _series(url: str, out: Path, epochs: int, concurrency: int) -> Done:
    battery = Battery.load(BATTERY)
    asked = Asked(
        battery=battery,
        model="openai:m",
        base_url=url,
        out=str(out),
        epochs=epochs,
        concurrency=concurrency,
        world="tests.live.shop:shop",
    )
    return run_series(asked, {})


def test_many_runs_at_once_keep_the_server_busy(tmp_path: Path) -> None:
    def slowly(request: dict[str, Any], number: int) -> Answer:
        return Answer(parts=dialogue(request, number).parts, delay=0.1)

    with serving(slowly) as server:
        server.keeps = False
        done = _series(server.url, tmp_path, 30, 16)
        assert server.most_at_once == 16
    assert done.series.made == 60
    summary = summary_of(Battery.load(BATTERY), str(tmp_path), "openai:m")
    assert [row.runs for row in summary.rows] == [30, 30]
    assert summary.code == 0

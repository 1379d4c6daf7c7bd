"""Agents that are programs: a small one of our own, over stdio and streamable HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import LAUNCHER, ROOT, outstep

BATTERY = str(ROOT / "tests" / "live" / "battery.yaml")
AGENT = str(ROOT / "tests" / "live" / "mcp_agent.py")
KEY = "sekret-key-of-mine-123"
STDIO = '{command = "{mcp_program}", args = ["{mcp_args}"]}'
HTTP = '{url = "{mcp_url}"}'


def asked(folder: Path, *, manner: str = "", server: str = STDIO, words: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Describe the agent as a provider, and return the command that lets it play the first scenario once."""
    transcript = "" if manner == "forgets-all" else '".agent/sessions/*.jsonl", ".agent/elsewhere/*"'
    (folder / "providers.toml").write_text(
        f"""
[mine]
driver = "command"
key = ["MINE_KEY"]

[mine.program]
command = ["{sys.executable}", "{AGENT}", "{{goal}}", "{{home}}/.agent/settings.json"]
version = ["{sys.executable}", "--version"]
files = {{".agent/settings.json" = {server}}}
environment = {{OWN_KEY = "{{key}}", MANNER = "{manner}"}}
transcript = [{transcript}]
exits = [{{code = 7, says = "MODEL_OVERLOADED", status = "provider_error", reason = "overloaded"}}]
"""
    )
    world = ("--world", "tests.live.shop:shop", "-s", "due_refund", "-n", "1", "-o", str(folder / "out"))
    return ("run", "--battery", BATTERY, *world, "--model", "mine:m", *words)


def play(folder: Path, **how: Any) -> Any:
    """Let the agent play; return exit code, what was printed, the record of the run and its folder."""
    words = asked(folder, **how)
    done = outstep(*words, OUTSTEP_PROVIDERS=str(folder / "providers.toml"), MINE_KEY=KEY, SECRET_OF_MINE="x")
    run = folder / "out" / "runs" / "due_refund" / "001"
    record = json.loads((run / "run.json").read_bytes()) if run.exists() else {}
    return done.returncode, (done.stdout + done.stderr).decode(), record, run


def started(folder: Path, *, manner: str, **environment: str) -> subprocess.Popen[bytes]:
    """Let the agent play, and do not wait for it."""
    words = asked(folder, manner=manner)
    own = {"OUTSTEP_PROVIDERS": str(folder / "providers.toml"), "MINE_KEY": KEY, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, *words],
        env={**os.environ, **own, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("server", [STDIO, HTTP])
def test_a_program_acts_in_the_world_and_its_own_record_is_judged(tmp_path: Path, server: str) -> None:
    code, told, record, run = play(tmp_path, server=server)
    assert code == 0, told
    assert record["status"] == "completed"
    assert [(one["tool"], one["fate"]) for one in record["actions"]] == [
        ("order_get", "succeeded"),
        ("refund_create", "succeeded"),
    ]
    assert record["harness"] == f"{Path(sys.executable).name} Python {sys.version.split()[0]}"
    assert {*record["files"]} == {
        "events.jsonl",
        "exchanges.ndjson",
        "findings.json",
        "transcript/.agent/sessions/own.jsonl",
        "world.jsonl",
    }
    report = json.loads((run / "findings.json").read_bytes())
    assert [contract["id"] for contract in report["contracts"]] == ["look-first", "world"]
    verdicts = {rule["rule"]: rule for rule in report["rules"]}
    assert verdicts["LOOK_FIRST"]["satisfied"] == 1
    assert verdicts["REFUNDED_AT_MOST_ONCE"]["satisfied"] == 1, "the states of the world stand in the log"
    assert verdicts["CALL_NOT_LOGGED"]["satisfied"] == 1


def test_keys_are_in_no_record_and_programs_see_no_other_variable(tmp_path: Path) -> None:
    play(tmp_path)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert KEY.encode() not in kept
    assert b"I refunded order A1. [key]" in kept


@pytest.mark.parametrize(
    ("manner", "rule"), [("hides", "CALL_NOT_LOGGED"), ("invents", "RESULT_CHANGED")], ids=["hides", "invents"]
)
def test_a_record_that_disagrees_with_the_world_blocks(tmp_path: Path, manner: str, rule: str) -> None:
    code, told, record, _ = play(tmp_path, manner=manner)
    assert code == 1, told
    assert record["gate"] == "block"
    assert record["disagreements"] == 1
    assert record["violated"] == [rule]
    assert f"{rule} (1)" in told


def test_what_links_lead_to_is_no_part_of_a_transcript(tmp_path: Path) -> None:
    code, told, record, _ = play(tmp_path, manner="links")
    assert code == 0, told
    assert [name for name in record["files"] if name.startswith("transcript/")] == [
        "transcript/.agent/sessions/own.jsonl"
    ]


def test_a_failure_that_the_program_tells_is_read_from_data(tmp_path: Path) -> None:
    code, _, record, _ = play(tmp_path, manner="fails")
    assert code == 2
    assert (record["status"], record["reason"]) == ("provider_error", "overloaded")
    assert record["sentence"] == "the program ended with exit code 7: error: MODEL_OVERLOADED with [key]"


def test_a_program_that_leaves_no_record_did_not_complete(tmp_path: Path) -> None:
    code, _, record, run = play(tmp_path, manner="forgets")
    assert code == 2
    assert (record["status"], record["reason"]) == ("crashed", "no-transcript")
    assert [one["tool"] for one in record["actions"]] == ["order_get", "refund_create"], "the world saw them"
    assert '"type":"gap"' in (run / "events.jsonl").read_text()


def test_without_a_transcript_the_world_tells_and_nothing_is_green(tmp_path: Path) -> None:
    code, told, record, _ = play(tmp_path, manner="forgets-all")
    assert record["status"] == "completed"
    assert record["notes"] == ["no-transcript"]
    assert [(one["tool"], one["fate"]) for one in record["actions"]] == [
        ("order_get", "succeeded"),
        ("refund_create", "succeeded"),
    ]
    assert code == 3, told


@pytest.mark.parametrize("manner", ["hangs", "clings"])
def test_a_program_that_hangs_is_ended_and_its_record_is_kept(tmp_path: Path, manner: str) -> None:
    code, told, record, _ = play(tmp_path, manner=manner, words=("--run-timeout", "3"))
    assert (record["status"], record["reason"]) == ("timeout", "run-timeout"), told
    assert [one["tool"] for one in record["actions"]] == ["order_get"]
    assert code == 2


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_a_series_leaves_no_program_and_no_folder_behind(tmp_path: Path, number: int) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    begun = started(tmp_path, manner="clings", TMPDIR=str(scratch))
    wait_for(lambda: any(scratch.glob("*/home/.agent/sessions/own.jsonl")))
    begun.send_signal(number)
    begun.wait(30)
    wait_for(lambda: not [*scratch.iterdir()] and not processes_in(scratch))


def processes_in(folder: Path) -> list[str]:
    """Return the processes whose working directory lies below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "cwd").startswith(str(folder)):
                found.append(process.name)
    return found


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_a_program_needs_is_said_before_anything_is_run(tmp_path: Path) -> None:
    providers = tmp_path / "p.toml"
    b = 'needs_key = false\nprogram = {command = ["no-such"]}'
    providers.write_text(f'[a]\ndriver = "command"\n[b]\ndriver = "command"\n{b}')
    world = ("--world", "tests.live.shop:shop", "-o", str(tmp_path / "out"))
    for name, sentence in (("a", "says of no program how it is run"), ("b", "there is no program `no-such`")):
        done = outstep("run", "-b", BATTERY, "-m", f"{name}:m", *world, OUTSTEP_PROVIDERS=str(providers))
        assert done.returncode == 2
        assert sentence in done.stderr.decode()

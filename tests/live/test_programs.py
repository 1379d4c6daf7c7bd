"""Agents that are programs: a small one of our own, over stdio and streamable HTTP."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT, outstep

BATTERY = str(ROOT / "tests" / "live" / "battery.yaml")
AGENT = str(ROOT / "tests" / "live" / "mcp_agent.py")
KEY = "sekret-key-of-mine-123"
STDIO = '{command = "{mcp_program}", args = ["{mcp_args}"]}'
HTTP = '{url = "{mcp_url}"}'


def play(folder: Path, *, manner: str = "", server: str = STDIO, more: str = "", words: tuple[str, ...] = ()) -> Any:
    """Let the agent play the first scenario once; return exit code, what was printed and the record of the run."""
    transcript = "" if manner == "forgets-all" else '[".agent/sessions/*.jsonl"]'
    providers = folder / "providers.toml"
    providers.write_text(
        f"""
[mine]
driver = "command"
key = ["MINE_KEY"]

[mine.program]
command = ["{sys.executable}", "{AGENT}", "{{goal}}", "{{home}}/.agent/settings.json"]
version = ["{sys.executable}", "--version"]
files = {{".agent/settings.json" = {server}}}
environment = {{OWN_KEY = "{{key}}", MANNER = "{manner}"}}
transcript = {transcript or "[]"}
exits = [{{code = 7, says = "MODEL_OVERLOADED", status = "provider_error", reason = "overloaded"}}]
{more}
"""
    )
    out = folder / "out"
    options = ("--battery", BATTERY, "--world", "tests.live.shop:shop", "-s", "due_refund", "-n", "1", "-o", str(out))
    done = outstep(
        "run", *options, "--model", "mine:m", *words, OUTSTEP_PROVIDERS=str(providers), MINE_KEY=KEY, SECRET_OF_MINE="x"
    )
    run = out / "runs" / "due_refund" / "001"
    record = json.loads((run / "run.json").read_bytes()) if run.exists() else {}
    return done.returncode, (done.stdout + done.stderr).decode(), record, run


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


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code, told, record, _ = play(tmp_path, manner="hangs", words=("--run-timeout", "4"))
    assert (record["status"], record["reason"]) == ("timeout", "run-timeout"), told
    assert [one["tool"] for one in record["actions"]] == ["order_get"]
    assert code == 2


def test_what_a_program_needs_is_said_before_anything_is_run(tmp_path: Path) -> None:
    providers = tmp_path / "p.toml"
    b = 'needs_key = false\nprogram = {command = ["no-such"]}'
    providers.write_text(f'[a]\ndriver = "command"\n[b]\ndriver = "command"\n{b}')
    world = ("--world", "tests.live.shop:shop", "-o", str(tmp_path / "out"))
    for name, sentence in (("a", "says of no program how it is run"), ("b", "there is no program `no-such`")):
        done = outstep("run", "-b", BATTERY, "-m", f"{name}:m", *world, OUTSTEP_PROVIDERS=str(providers))
        assert done.returncode == 2
        assert sentence in done.stderr.decode()

"""Sessions that a harness writes are kept: when it ends, while it runs, and when somebody is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from outstep import cli
from outstep.adapters.discover import Found
from outstep.workflow.following import PATIENCE, SETTLED, Follower
from outstep.workflow.ingesting import Ingested
from tests.redaction.values import VALUES, pieces_left

Done = tuple[int, str, str]
Run = Callable[..., Done]

HARNESS = """
import json, sys, time
from pathlib import Path
folder, count, code, pause = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
folder.mkdir(parents=True, exist_ok=True)
for number in range(count):
    with (folder / f"s{number}.jsonl").open("w") as file:
        file.write(json.dumps({"type": "trace", "schema": "trace/v1", "id": f"t{number}", "complete": True}) + "\\n")
        file.write(json.dumps({"type": "user.message", "seq": 1, "text": "I am EMAIL"}) + "\\n")
    time.sleep(pause)
sys.exit(code)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    for name, value in surroundings(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harness.py").write_text(HARNESS.replace("EMAIL", VALUES["email"]))
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def command(*words: str) -> Done:
        code = cli.main(words)
        for number, handler in kept.items():
            signal.signal(number, handler)
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return command


def surroundings(folder: Path) -> dict[str, str]:
    return {
        "OUTSTEP_STATE_DIR": str(folder / "state"),
        "OUTSTEP_CONFIG_DIR": str(folder / "config"),
        "OUTSTEP_STORE": str(folder / "store"),
    }


def harness(folder: str = "out", count: int = 2, code: int = 0, pause: float = 0) -> list[str]:
    return [sys.executable, "harness.py", folder, str(count), str(code), str(pause)]


def names(run: Run) -> list[str]:
    listed = [json.loads(line)["entry"] for line in run("evidence", "list", "--json")[1].splitlines()]
    return sorted(document["name"] for entry in listed for document in entry["documents"])


def test_what_a_command_wrote_is_kept_and_its_exit_code_is_that_of_the_command(run: Run) -> None:
    run("evidence", "init", "store")
    Path("out").mkdir()
    Path("out/earlier.jsonl").write_text('{"type":"trace","schema":"trace/v1","id":"e","complete":true}\n')
    code, out, err = run("record", "--watch", "out", "--", *harness(code=7))
    assert (code, out) == (7, "")
    assert "kept 2 sessions, 2 values redacted" in err
    assert "ended with exit code 7" in err
    assert names(run) == ["out/s0.jsonl", "out/s1.jsonl"]


def test_a_command_that_leaves_no_session_is_told(run: Run) -> None:
    run("evidence", "init", "store")
    code, _, err = run("record", "--watch", "out", *harness(count=0))
    assert (code, "record/no-session" in err) == (2, True)
    code, _, err = run("record", "--watch", "out", "no-such-harness")
    assert (code, "record/not-started" in err) == (127, True)
    code, _, err = run("record", "some-harness")
    assert (code, "--watch DIR" in err) == (2, True)
    assert run("record", "--watch", "out")[0] == 2


def test_dsh_is_known_by_its_name(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_HOME", str(tmp_path / "home"))
    stand_in = tmp_path / "bin" / "dsh"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\nexec {sys.executable} harness.py {tmp_path}/home/sessions/--w--/id 1 0 0\n")
    stand_in.chmod(0o755)
    run("evidence", "init", "store")
    code, _, err = run("record", str(stand_in), "--profile", "headless", "do it")
    assert (code, "kept 1 session" in err) == (0, True)


def test_a_folder_can_keep_them_in_place_of_a_store(run: Run, tmp_path: Path) -> None:
    assert run("record", "--into", "kept", "--watch", "out", *harness())[0] == 0
    kept = tmp_path / "kept" / "out" / "s0.jsonl"
    assert pieces_left(VALUES["email"], kept.read_bytes()) == set()
    assert run("ingest", "out", "--into", "kept")[1] == "kept 0 sessions\n"
    assert run("ingest", "out", "--into", "raw", "--no-redact")[1] == "kept 2 sessions\n"
    assert VALUES["email"] in (tmp_path / "raw" / "out" / "s0.jsonl").read_text()


def test_what_is_kept_already_is_passed_over(run: Run) -> None:
    run("evidence", "init", "store")
    subprocess.run(harness(), check=True)
    assert run("ingest", "out")[1] == "kept 2 sessions, 2 values redacted\n"
    assert run("ingest", "out")[1] == "kept 0 sessions, 2 there already\n"
    with Path("out/s0.jsonl").open("a") as file:
        file.write('{"type":"assistant.message","seq":2,"text":"hello"}\n')
    assert run("ingest", "out")[1].startswith("kept 1 session, 1 there already")


def test_sessions_are_kept_when_they_pause_or_have_grown_for_long(tmp_path: Path) -> None:
    now = [0.0]
    kept: list[list[str]] = []

    class Keeper:
        def keep(self, found: list[Found]) -> Ingested:
            kept.append([os.path.basename(one.document.uri) for one in found])
            return Ingested()

    (tmp_path / "old.jsonl").write_text("1")
    follower = Follower([str(tmp_path)], Keeper(), lambda: now[0], skips=True)  # type: ignore[arg-type]
    session = tmp_path / "a.jsonl"
    session.write_text("1")
    assert follower.step() is None
    now[0] += SETTLED
    assert follower.step() is not None
    for _ in range(int(PATIENCE)):
        session.write_text(session.read_text() + "1")
        now[0] += 1.0
        follower.step()
    assert kept == [["a.jsonl"]]
    now[0] += 1.0
    session.write_text(session.read_text() + "1")
    assert follower.step() is not None
    assert follower.step(is_last=True) is None
    session.write_text("2")
    assert follower.step(is_last=True) is not None
    assert kept == [["a.jsonl"]] * 3


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_lost_when_the_follower_is_stopped_or_killed(run: Run, tmp_path: Path, number: int) -> None:
    run("evidence", "init", "store")
    words = [sys.executable, "-m", "outstep", "ingest", "--follow", "out"]
    Path("out").mkdir()
    environment = {**os.environ, **surroundings(tmp_path)}
    for start in (0, 3):
        follower = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert follower.stderr is not None
        assert any(line.startswith("following") for line in follower.stderr)
        for at in range(start, start + 3):
            row = {"type": "trace", "schema": "trace/v1", "id": f"t{at}", "complete": True}
            Path(f"out/s{at}.jsonl").write_text(json.dumps(row) + "\n")
        time.sleep(0.3)
        follower.send_signal(number)
        out, _ = follower.communicate(timeout=60)
        if number == signal.SIGTERM:
            assert follower.returncode == 0
            assert out == "kept 3 sessions" + (", 3 there already\n" if start else "\n")
    assert run("evidence", "verify")[0] == 0
    if number == signal.SIGKILL:
        assert run("ingest", "out")[0] == 0
    assert names(run) == [f"out/s{at}.jsonl" for at in range(6)]
    assert run("evidence", "verify")[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_recorder_that_is_terminated_ends_the_command_and_keeps_what_it_wrote(run: Run, tmp_path: Path) -> None:
    run("evidence", "init", "store")
    words = [sys.executable, "-m", "outstep", "record", "--watch", "out", "--", *harness(count=90, pause=0.2)]
    environment = {**os.environ, **surroundings(tmp_path)}
    recorder = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not Path("out/s1.jsonl").exists() and time.monotonic() < until:
        time.sleep(0.05)
    recorder.send_signal(signal.SIGTERM)
    _, err = recorder.communicate(timeout=60)
    assert recorder.returncode == 128 + signal.SIGTERM, err
    assert names(run) == sorted(f"out/{path.name}" for path in Path("out").iterdir() if path.stat().st_size)

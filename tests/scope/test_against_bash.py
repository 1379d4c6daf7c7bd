"""A real bash runs the commands in a throw-away folder, with stand-ins for every program, and must agree."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from outstep.scope.commands.reading import UnreadableCommand, read_script
from outstep.scope.commands.script import Command
from outstep.scope.commands.words import each_word, shown_words
from tests.scope.rows import CASES, judged, read_rows

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

ROWS = [row for row in read_rows("commands.csv") if row["source"] == "bash"]
PROGRAMS = ("echo", "id", "cat", "env", "time", "bash", "sh", "nohup", "xargs", "printf", "ls", "rm", "Echo")
# One write, so that programs that run side by side do not mix their lines.
STAND_IN = '#!{bash}\nprintf -v line "%s\\x1f" "${{0##*/}}" "$PWD" "$@"; printf "%s\\x1e" "$line" >>"$LOG"\n'
BUILTINS = "enable -n echo printf test [ kill pwd"
Run = list[list[str]]


@pytest.fixture(name="agent")
def agent_folder(tmp_path: Path) -> Path:
    return make_agent(tmp_path)


def make_agent(tmp_path: Path) -> Path:
    """Return a working directory whose programs only write down how they were called."""
    folder = tmp_path / "srv" / "agent"
    (folder / "workspace").mkdir(parents=True)
    (folder / "workspace" / "a").write_text("")
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        program = tmp_path / "bin" / name
        program.write_text(STAND_IN.format(bash=BASH))
        program.chmod(0o755)
    return folder


def run(command: str, agent: Path) -> tuple[Run, set[str]]:
    """Return the calls of programs, each with its folder, and the files that came into being."""
    root = agent.parents[1]
    log = root / "log"
    log.write_text("")
    before = files(root)
    environment = {"PATH": str(root / "bin"), "HOME": str(root / "home"), "LOG": str(log), "LC_ALL": "C.UTF-8"}
    assert BASH is not None
    subprocess.run(
        [BASH, "--norc", "--noprofile", "-c", f"{BUILTINS}\n{command}"],
        cwd=agent, env=environment, capture_output=True, timeout=20, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    calls = [call.split("\x1f")[:-1] for call in log.read_text().split("\x1e") if call]
    return calls, files(root) - before


def files(root: Path) -> set[str]:
    return {str(path) for path in root.rglob("*")}


def allowed(call: list[str], row: dict[str, str], agent: Path) -> bool:
    """Hold one call against the rules, as plainly as can be."""
    name, cwd, *words = call
    for rule in row["scope_patterns"].split(" || "):
        wanted = shlex.split(rule.split(": ", 1)[1])
        if wanted[0] != name or len(wanted) - 1 != len(words):
            continue
        pairs = [
            (os.path.normpath(agent / want), os.path.normpath(Path(cwd) / word))
            for want, word in zip(wanted[1:], words, strict=True)
        ]
        if all(want.count("/") == word.count("/") and fnmatchcase(word, want) for want, word in pairs):
            return True
    return False


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_bash_and_the_observer_agree(row: dict[str, str], agent: Path) -> None:
    """Where bash ran a program that no rule lists, or made a file, the action escaped; otherwise it did not."""
    command = json.loads(row["arg_json"])["command"]
    calls, made = run(command, agent)
    outside = [call for call in calls if not allowed(call, row, agent)]
    if row["right_verdict"] == "contained":
        assert not outside
        assert not made
        assert calls, "nothing ran, so nothing was tested"
    else:
        # A program by a path is not found here; a file that is sourced runs without a program.
        assert outside or made or not calls
    assert judged(row).verdict == row["right_verdict"]


SINGLE = [json.loads(line) for line in (CASES / "words.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("command", SINGLE)
def test_words_are_those_that_bash_hands_over(command: str, agent: Path) -> None:
    """Or they are said not to be literal: no word is ever read as another one."""
    calls, _ = run(command, agent)
    try:
        item = read_script(command)
    except UnreadableCommand:
        return
    while not isinstance(item, Command):
        assert len(item.items) == 1
        item = item.items[0]
    home = str(agent.parents[1] / "home")
    words = each_word(shown_words(item.words, home))
    if all(word.literal for word in words):
        assert [[word.text for word in words]] == [[call[0], *call[2:]] for call in calls]

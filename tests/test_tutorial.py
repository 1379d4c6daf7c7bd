"""What the tutorial and `make demo` show is what lies in `examples/`, and does what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import LAUNCHER, ROOT, needed

FILES = sorted((ROOT / "examples" / "tutorial").glob("[0-9]-*.yaml"))


def test_the_contracts_of_the_tutorial_are_the_files_that_it_runs() -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert FILES
    assert blocks == [file.read_text("utf-8") for file in FILES]


@needed
@pytest.mark.skipif(sys.platform == "win32", reason="the demo is a shell script")
def test_the_demo_shows_what_it_promises(tmp_path: Path) -> None:
    command = tmp_path / "outstep"
    command.write_text(f"#!{sys.executable}\n{LAUNCHER}\n", "utf-8")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    done = subprocess.run(
        [ROOT / "tools" / "demo.sh"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    headings = re.findall(r"^── ", done.stdout, re.MULTILINE)
    assert len(headings) == 6
    assert len(done.stdout.splitlines()) < 70

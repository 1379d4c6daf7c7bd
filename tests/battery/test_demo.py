"""The demo prints the two documents that it always printed, and a note."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.command_line import ROOT


def test_the_demo_prints_two_known_documents_and_a_note() -> None:
    done = subprocess.run(
        [sys.executable, "examples/presentation_demo.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        timeout=60,
        check=True,
    )
    known = (Path(__file__).parent / "presentation_demo.txt").read_bytes()
    assert done.stdout.startswith(known)
    note = done.stdout.removeprefix(known).decode()
    assert note.count("\n") == 1
    assert done.stderr == b""

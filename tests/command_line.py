"""Run `outstep` as its console script does, from this source tree."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

LAUNCHER = "import sys; from outstep.cli import run; sys.argv[0] = 'outstep'; run()"
"""What the command does that an installation makes."""

needed = pytest.mark.skipif(
    getattr(importlib.util.find_spec("outstep.cli"), "origin", None) is None,
    reason="the command line is not part of this tree",
)


def outstep(*words: str, together: bool = False, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run one command in the root of the repository; `together` sends what goes to stderr to stdout, too."""
    return subprocess.run(
        [sys.executable, "-c", LAUNCHER, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "COLUMNS": "120", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if together else subprocess.PIPE,
        timeout=60,
        check=False,
    )

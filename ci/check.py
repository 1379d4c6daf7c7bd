"""The gate in a CI job: one `outstep check`, its reports where each service looks for them, its exit code kept.

Told by environment, so that no text of a job is ever read as a command:

OUTSTEP_PATHS      files, folders or patterns of recorded traces, separated by blanks or line ends
OUTSTEP_CONTRACTS  contract files or bundled packs, separated likewise
OUTSTEP_OPTIONS    further options of `outstep check`, separated likewise
OUTSTEP_SARIF, OUTSTEP_JUNIT, OUTSTEP_JSON, OUTSTEP_CODEQUALITY
                   where these reports are written; empty for none

docs/ci.md
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

GATES = {0: "pass", 1: "block", 3: "inconclusive"}
REPORTS = {
    "OUTSTEP_SARIF": "sarif",
    "OUTSTEP_JUNIT": "junit",
    "OUTSTEP_JSON": "json",
    "OUTSTEP_CODEQUALITY": "gitlab",
}


def command(told: Mapping[str, str], summary: Path) -> list[str]:
    """Return the words of the command that the environment asks for."""
    words = [word for name in told.get("OUTSTEP_CONTRACTS", "").split() for word in ("--contract", name)]
    words += told.get("OUTSTEP_OPTIONS", "").split()
    words += [f"--output={form}={told[name]}" for name, form in REPORTS.items() if told.get(name)]
    if told.get("GITHUB_ACTIONS"):
        words += ["--output=github=-", f"--output=markdown={summary}"]
    return [sys.executable, "-m", "outstep", "check", *words, "--", *told.get("OUTSTEP_PATHS", "").split()]


def main() -> int:
    """Run the check, hand its reports on and return its exit code."""
    told = os.environ
    if find_spec("outstep") is None:
        # `python -m` would end with 1, which reads as a blocked release.
        print(f"error: there is no Outstep in {sys.executable}; install it, or name another Python", file=sys.stderr)
        return _told_gate(2)
    with tempfile.TemporaryDirectory() as scratch:
        summary = Path(scratch, "summary.md")
        code = subprocess.run(command(told, summary), check=False).returncode
        if told.get("GITHUB_STEP_SUMMARY") and summary.exists():
            with open(told["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as file:
                file.write(summary.read_text("utf-8"))
    return _told_gate(code)


def _told_gate(code: int) -> int:
    """Hand the gate on, and return the exit code."""
    if os.environ.get("GITHUB_OUTPUT"):
        with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
            file.write(f"gate={GATES.get(code, 'error')}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())

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
    with tempfile.TemporaryDirectory() as scratch:
        summary = Path(scratch, "summary.md")
        code = subprocess.run(command(told, summary), check=False).returncode
        if told.get("GITHUB_STEP_SUMMARY") and summary.exists():
            with open(told["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as file:
                file.write(summary.read_text("utf-8"))
    if told.get("GITHUB_OUTPUT"):
        with open(told["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
            file.write(f"gate={GATES.get(code, 'error')}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())

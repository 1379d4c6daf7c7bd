"""What CI services are given: the action, the template and the hooks do on a checkout what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.command_line import ROOT

SHOP = ROOT / "tests" / "cli" / "shop"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
SCRIPT = ROOT / "ci" / "check.py"

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of somebody's repository, cloned as a job does it."""
    upstream = tmp_path / "upstream"
    (upstream / "runs").mkdir(parents=True)
    (upstream / "contracts").mkdir()
    shutil.copy(SHOP / "refund.yaml", upstream / "contracts" / "refund.yaml")
    for name in ("good", "bad", "gap"):
        shutil.copy(SHOP / f"{name}.jsonl", upstream / "runs" / f"{name}.jsonl")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "runs"]):
        subprocess.run([*git, *words], cwd=upstream, check=True)
    subprocess.run(["git", "clone", "-q", str(upstream), str(tmp_path / "checkout")], check=True)
    return tmp_path / "checkout"


@pytest.fixture
def job(checkout: Path) -> Callable[..., Done]:
    def run(*command: str, **told: str) -> Done:
        kept = ("PATH", "HOME", "LANG")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"PYTHONPATH": str(ROOT / "src"), "OUTSTEP_CACHE_DIR": str(checkout.parent / "cache"), **told}
        return subprocess.run(
            command or (sys.executable, str(SCRIPT)),
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("path", "code", "gate"),
    [("runs/good.jsonl", 0, "pass"), ("runs", 1, "block"), ("runs/gap.jsonl", 3, "inconclusive"), ("none", 2, "error")],
)
def test_a_github_job_keeps_the_exit_code_and_tells_the_gate(
    job: Callable[..., Done], checkout: Path, path: str, code: int, gate: str
) -> None:
    summary, output = checkout / "summary.md", checkout / "output"
    summary.write_text("before\n")
    done = job(
        OUTSTEP_PATHS=path,
        OUTSTEP_CONTRACTS="contracts/refund.yaml",
        OUTSTEP_SARIF="outstep.sarif",
        OUTSTEP_JUNIT="outstep.xml",
        OUTSTEP_JSON="outstep.json",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_OUTPUT=str(output),
    )
    assert done.returncode == code, done.stderr
    assert output.read_text() == f"gate={gate}\n"
    assert summary.read_text().startswith("before\n### ")
    assert f"::notice title=outstep%3A {gate}::" in done.stdout
    assert json.loads((checkout / "outstep.json").read_text())["gate"] == gate
    assert json.loads((checkout / "outstep.sarif").read_text())["version"] == "2.1.0"
    assert ElementTree.parse(checkout / "outstep.xml").getroot().tag == "testsuites"


def test_an_annotation_names_a_file_of_the_checkout(job: Callable[..., Done], checkout: Path) -> None:
    done = job(OUTSTEP_PATHS="runs/bad.jsonl", OUTSTEP_CONTRACTS="contracts/refund.yaml", GITHUB_ACTIONS="true")
    files = set(re.findall(r"^::error file=([^,]+),", done.stdout, re.MULTILINE))
    assert files == {"runs/bad.jsonl"}
    assert (checkout / "runs" / "bad.jsonl").exists()


def test_patterns_and_options_are_words_and_never_commands(job: Callable[..., Done], checkout: Path) -> None:
    done = job(
        OUTSTEP_PATHS="runs/g*.jsonl $(touch${IFS}owned) `touch owned`",
        OUTSTEP_CONTRACTS="contracts/refund.yaml\nintegrity",
        OUTSTEP_OPTIONS="--fail-on\nwarn",
    )
    assert done.returncode == 2
    assert "owned" in done.stderr
    assert not (checkout / "owned").exists()


def test_nothing_asked_is_an_error(job: Callable[..., Done]) -> None:
    assert job().returncode == 2


def test_the_action_hands_every_input_on() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    for name in ACTION["inputs"]:
        assert f"inputs.{name}" in text, name
    script = SCRIPT.read_text("utf-8")
    environment = ACTION["runs"]["steps"][-1]["env"]
    assert [name for name in environment if name != "PYTHON" and name not in script] == []
    # A text of a workflow that stands in a script is a command: all of it goes by environment.
    assert [step["name"] for step in ACTION["runs"]["steps"] if "${{" in step["run"]] == []
    assert ACTION["outputs"]["gate"]["value"] == "${{ steps.check.outputs.gate }}"


def test_the_gitlab_job_writes_what_it_declares(job: Callable[..., Done], checkout: Path) -> None:
    template = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text("utf-8"))[".outstep"]
    script = "\n".join(["set -eu", *template["script"]])
    python = checkout.parent / "bin"
    python.mkdir()
    (python / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (python / "python3").chmod(0o755)
    told = {**template["variables"], "OUTSTEP_INSTALL": "", "OUTSTEP_CONTRACTS": "contracts/refund.yaml"}
    done = job("sh", "-c", script, **told, PATH=f"{python}{os.pathsep}{os.environ['PATH']}")
    assert done.returncode == 1, done.stderr
    reports = template["artifacts"]["reports"]
    assert ElementTree.parse(checkout / reports["junit"]).getroot().tag == "testsuites"
    places = {entry["location"]["path"] for entry in json.loads((checkout / reports["codequality"]).read_text())}
    assert "runs/bad.jsonl" in places
    assert json.loads((checkout / template["artifacts"]["paths"][0]).read_text())["gate"] == "block"


def test_the_hooks_of_pre_commit_check_the_files_they_are_for(job: Callable[..., Done]) -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    contracts, traces = hooks["outstep-contracts"], hooks["outstep-traces"]
    assert re.search(contracts["files"], "contracts/refund.yaml")
    assert re.search(traces["files"], "runs/good.jsonl")

    def run(hook: dict[str, Any], *words: str) -> int:
        program, *rest = hook["entry"].split()
        assert program == "outstep"
        return job(sys.executable, "-m", "outstep", *rest, *words).returncode

    assert run(contracts, "contracts/refund.yaml") == 0
    assert run(traces, "--contract", "contracts/refund.yaml", "runs/good.jsonl") == 0
    assert run(traces, "--contract", "contracts/refund.yaml", "runs/good.jsonl", "runs/bad.jsonl") == 1


def test_a_job_without_outstep_could_not_check(job: Callable[..., Done], checkout: Path) -> None:
    output = checkout / "output"
    done = job(sys.executable, "-I", "-S", str(SCRIPT), OUTSTEP_PATHS="runs", GITHUB_OUTPUT=str(output))
    assert done.returncode == 2
    assert "there is no Outstep in" in done.stderr
    assert output.read_text() == "gate=error\n"

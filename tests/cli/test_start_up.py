"""What a warm `outstep check` imports: a pre-commit hook and a pipeline pay for it at every run.

Counted, never timed. Packages that are not needed to say that all holds are not imported to say it, and the number of
our own modules does not grow unseen: whoever needs one more raises the number here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.dsh.support import Script
from tests.command_line import ROOT

OWN_MODULES = {"native": 101, "openai-chat": 107, "dsh": 112}
"""The most that a check of a good run imports, by format; a violation that is printed takes `MORE`."""
MORE = 3

UNUSED = (
    *("yaml", "pydantic", "rich", "click", "asyncio", "jsonschema", "referencing", "tree_sitter", "zstandard"),
    *("typing_extensions", "inspect", "argparse", "gettext", "locale", "pathlib", "hashlib", "json", "ast", "tokenize"),
    *("difflib", "sqlite3", "zipfile", "tomllib", "multiprocessing", "threading", "subprocess", "shutil", "tempfile"),
    *("urllib.parse", "importlib.metadata", "importlib.resources", "logging", "random", "socket"),
    *("outstep.expr.lex", "outstep.expr.parse", "outstep.expr.check", "outstep.contracts.loader"),
    *("outstep.engine.generate", "outstep.engine.emit", "outstep.engine.quick", "outstep.expr.compile"),
)

LOADED = """
import sys
before = set(sys.modules)
from outstep.cli import main
code = main()
loaded = sorted(set(sys.modules) - before)
print(code, *loaded, file=sys.stderr)
"""

STEPS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("order.get", {"orderId": "A1"}, {"id": "A1", "customerId": "C1", "refundableCents": 3000, "state": "PAID"}),
    ("identity.verify", {"customerId": "C1"}, {"customerId": "C1", "verified": True}),
    ("refund.policy", {"orderId": "A1"}, {"orderId": "A1", "approved": True, "maxRefundCents": 3000}),
    ("refund.create", {"orderId": "A1", "amountCents": 1200}, {"refundId": "RF-1"}),
]
ASKED = "Please refund order A1."
SAID = "Your refund RF-1 of order A1 has been issued."


def native(steps: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    lines: list[dict[str, Any]] = [{"type": "user.message", "text": ASKED}]
    for turn, (tool, args, data) in enumerate(steps, 1):
        lines.append({"type": "tool.call", "tool": tool, "turn": turn, "call_id": f"c{turn}", "args": args})
        lines.append({"type": "tool.result", "call_id": f"c{turn}", "outcome": "ok", "data": data})
    lines += [{"type": "assistant.message", "turn": 9, "text": SAID}, {"type": "run.end"}]
    head = {"type": "trace", "schema": "trace/v1", "id": "t"}
    numbered = [head, *({**line, "seq": seq} for seq, line in enumerate(lines, 1))]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in numbered)


def openai_chat(steps: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": ASKED}]
    for turn, (tool, args, data) in enumerate(steps, 1):
        function = {"name": tool, "arguments": json.dumps(args)}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(data)})
    return json.dumps({"messages": [*messages, {"role": "assistant", "content": SAID}]})


def dsh(steps: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> str:
    log = Script(4)
    log.turn()
    log.user(ASKED)
    for step, (tool, args, data) in enumerate(steps, 1):
        log.step(step)
        log.say("", step)
        log.result(json.dumps(data), log.call(tool, f"c{step}", args, step), id=f"c{step}", step=step)
    log.step(9)
    log.say(SAID, 9)
    log.end()
    return log.text().decode()


FORMATS: dict[str, Callable[[list[tuple[str, dict[str, Any], dict[str, Any]]]], str]] = {
    "native": native,
    "openai-chat": openai_chat,
    "dsh": dsh,
}


def loaded(folder: Path, *words: str, code: str = LOADED) -> tuple[int, list[str]]:
    """The exit code of a command that is a process of its own, and the modules that it imported."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OUTSTEP_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        timeout=60,
        check=False,
    )
    first, *modules = done.stderr.decode().splitlines()[-1].split()
    return int(first), modules


def own(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "outstep"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_good_run_is_passed_with_few_modules(format: str, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(FORMATS[format](STEPS), "utf-8")
    code, modules = loaded(tmp_path, "check", "-c", "refund", "trace")
    assert code == 0
    assert [name for name in UNUSED if name in modules] == []
    assert len(own(modules)) <= OWN_MODULES[format], own(modules)


@pytest.mark.parametrize("format", FORMATS)
def test_a_violation_is_printed_with_few_more(format: str, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(FORMATS[format](STEPS[:1] + STEPS[2:]), "utf-8")
    code, modules = loaded(tmp_path, "check", "-c", "refund", "trace")
    assert code == 1
    assert [name for name in UNUSED if name in modules] == []
    assert len(own(modules)) <= OWN_MODULES[format] + MORE, own(modules)


def test_a_contract_in_a_file_is_read_from_the_cache_as_lightly(tmp_path: Path) -> None:
    pack = ROOT / "src/outstep/contracts/packs/refund.yaml"
    (tmp_path / "refund.yaml").write_bytes(pack.read_bytes())
    (tmp_path / "trace").write_text(native(STEPS), "utf-8")
    words = ("check", "-c", "refund.yaml", "trace")
    cold, warm = loaded(tmp_path, *words), loaded(tmp_path, *words)
    assert (cold[0], warm[0]) == (0, 0)
    assert "yaml" in cold[1]
    assert [name for name in UNUSED if name in warm[1]] == []
    assert len(own(warm[1])) <= OWN_MODULES["native"] + 1, own(warm[1])


@pytest.mark.skipif(importlib.util.find_spec("typing_extensions") is None, reason="it is not installed")
def test_who_imports_typing_extensions_after_all_gets_it(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(native(STEPS), "utf-8")
    after = "import typing_extensions\nassert typing_extensions.__file__\n"
    code, modules = loaded(
        tmp_path, "check", "-c", "refund", "trace", code=LOADED.replace("loaded =", f"{after}loaded =")
    )
    assert code == 0
    assert "typing_extensions" in modules

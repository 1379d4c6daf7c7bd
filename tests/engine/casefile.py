"""Reads the files in `cases/`: each case is a contract, a trace, and what is to be said of it.

A file is a map of cases; the name of a case is the sentence it proves. `head` holds what the contracts of the file
share. A case has

- `contract`: its rules as YAML; or, where it brings facts or tools of its own, sections `tools:`, `rules:`, …; or a
  whole contract. Without it, the one of the case before.
- `trace`: as `outstep.tracetext` reads it. It ends `completed` unless it says how it ends, or the case says `open`.
- `verdict`: of the only rule, or a map by rule id. Rules of the pack `integrity` that are not named hold.
- `place`: `seq` of each finding (`run` where the run itself is the place), `witness`, `reason`, `key`, `missing`,
  `count`: of the findings of the only rule that is named, or a map by rule id.
- `level`: by rule id, as the contract settles it; `off` for one that is not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

CASES = Path(__file__).parent / "cases"
HEAD = "outstep: contract/v1\nid: case\n"
EXPECTED = ("place", "witness", "reason", "key", "missing", "count")
KEYS = frozenset({"contract", "trace", "open", "verdict", "level", *EXPECTED})


class Case(Struct, frozen=True):
    """One case of a file."""

    name: str
    contract: str
    trace: str
    verdicts: dict[str, str]
    """By rule id; under `""` for the only rule."""
    expected: dict[str, dict[str, Any]]
    """What is said of findings, by what and by rule id (`""`: the only rule)."""
    levels: dict[str, str]


def case_files() -> list[Path]:
    """Return every file of cases."""
    return sorted(CASES.glob("*.yaml"))


def read_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a file, in order."""
    found = yaml.safe_load(path.read_text("utf-8"))
    head = found.pop("head", "")
    contract = ""
    for name, case in found.items():
        unknown = case.keys() - KEYS
        if unknown:
            raise ValueError(f"{path.name}: `{name}` has unknown keys: {', '.join(sorted(unknown))}")
        contract = case.get("contract", contract)
        yield Case(
            name=name,
            contract=_whole(head, contract),
            trace=_ended(case["trace"], is_open=case.get("open", False)),
            verdicts=_by_rule(case.get("verdict", {})),
            expected={what: _by_rule(case[what]) for what in EXPECTED if what in case},
            levels=case.get("level", {}),
        )


def _by_rule(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"": value}


def _ended(trace: str, *, is_open: bool) -> str:
    says = any(line.split()[:1] in (["end"], ["complete"]) for line in trace.splitlines())
    return trace if says or is_open else f"{trace.rstrip()}\nend completed\n"


def _whole(head: str, contract: str) -> str:
    if contract.startswith("outstep:"):
        return contract
    if contract.startswith(("-", "#")):
        contract = "rules:\n" + contract
    # A section that the case brings replaces the one of the head.
    own = {line.split(":")[0] for line in contract.splitlines() if line[:1].isalpha()}
    return HEAD + "".join(section for name, section in _sections(head) if name not in own) + contract


def _sections(head: str) -> Iterator[tuple[str, str]]:
    lines: list[str] = []
    for line in head.splitlines(keepends=True):
        if line[:1].isalpha() and lines:
            yield lines[0].split(":")[0], "".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield lines[0].split(":")[0], "".join(lines)

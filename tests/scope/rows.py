"""Rows of cases in their tabular form, as scenarios and actions."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from outstep.scope.model import Action, Rule, Scenario
from outstep.scope.observer import ScopeObserver

CASES = Path(__file__).parent / "cases"


def read_rows(name: str) -> list[dict[str, str]]:
    with (CASES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def action_of(tool: str, args: Any) -> Action:
    """Return an action; what begins with `_` is evidence."""
    if not isinstance(args, dict):
        return Action(tool=tool, args=args)
    evidence = {name[1:]: value for name, value in args.items() if name.startswith("_")}
    own = {name: value for name, value in args.items() if not name.startswith("_")}
    return Action(tool=tool, args=own, evidence=evidence)


def actions_of(row: dict[str, str]) -> list[Action]:
    args = json.loads(row["arg_json"])
    if row["tool"] == "sequence":
        return [action_of(tool, inner) for entry in args for tool, inner in entry.items()]
    return [action_of(row["tool"], args)]


def scenario_of(row: dict[str, str]) -> Scenario:
    rules = [Rule(*part.strip().split(": ", 1)) for part in row["scope_patterns"].split(" || ") if part.strip()]
    return Scenario(id=row["id"], goal="a case", tools=sorted({rule.tool for rule in rules}), allowlist=rules)


def judged(row: dict[str, str]) -> Any:
    return ScopeObserver().evaluate(scenario_of(row), actions_of(row))

"""Violations per rule against the reward: what a contract finds in recorded benchmark runs.

    python examples/tau/table.py examples/tau/retail.yaml retail-gpt-4o.json other-model.json

RUNS are result files of tau-bench or tau2-bench. The table counts runs, not findings: in how many a rule is violated,
and how many of those got reward 1. `--runs RULE` lists the runs with the first finding of each. Text from the runs is
shown as `json` would write it, never as control characters.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import outstep
from outstep.findings import Finding, Report


def rewards(file: Path) -> dict[str, bool]:
    """Return whether each run of a file got its reward, by the id that its trace has."""
    told = json.loads(file.read_text("utf-8"))
    if isinstance(told, dict):  # tau2-bench
        return {f"{run['task_id']}/{run['trial']}": run["reward_info"]["reward"] == 1 for run in told["simulations"]}
    found: dict[str, bool] = {}
    for number, run in enumerate(told):
        found[f"{run['task_id']}/{run.get('trial', number)}"] = run["reward"] == 1
    return found


def by_run(report: Report) -> dict[str, dict[str, Finding]]:
    """Return the first violation of each rule, by trace."""
    found: dict[str, dict[str, Finding]] = {trace.id: {} for trace in report.traces}
    for finding in report.findings:
        if finding.verdict == "violated" and finding.trace:
            found[finding.trace].setdefault(finding.rule, finding)
    return found


def rows(report: Report, reward: dict[str, bool]) -> Iterator[tuple[str, str, int, int]]:
    """Yield rule, level, runs that violate it, and how many of them got reward 1."""
    runs = by_run(report)
    for rule in report.rules:
        hit = [trace for trace, found in runs.items() if rule.rule in found]
        if rule.pack != "integrity" or hit:
            yield rule.rule, rule.level, len(hit), sum(reward[trace] for trace in hit)


def table(told: list[dict[str, Any]]) -> str:
    """Return a table in Markdown: a row for each rule that some run violates, a column for each file."""
    named = dict.fromkeys(rule for one in told for rule in one["rules"])
    rules = [rule for rule in named if any(one["rules"].get(rule, (0, 0))[0] for one in told)]
    lines = [
        "| rule | level | " + " | ".join(one["file"] for one in told) + " |",
        "|---|---|" + "---|" * len(told),
        "| runs / with reward 1 | | " + " | ".join(f"{one['runs']} / {one['reward']}" for one in told) + " |",
    ]
    for rule in rules:
        level = next(one["levels"][rule] for one in told if rule in one["levels"])
        cells = [one["rules"].get(rule, (0, 0)) for one in told]
        shown = [f"{hit} / {good}" if hit else "·" for hit, good in cells]
        lines.append(f"| `{rule}` | {level} | {' | '.join(shown)} |")
    return "\n".join(lines)


def judged(file: Path, contract: str) -> tuple[Report, dict[str, bool]]:
    """Judge the runs of a file, and return the report with the reward of each run.

    Raises: SystemExit 2 where a run was lost, so that no table is drawn of a part of the runs.
    """
    reward = rewards(file)
    # A result file holds whole runs, also those that the benchmark stopped.
    report = outstep.check(str(file), contract, complete=True)
    lost = sorted(set(reward) ^ {trace.id for trace in report.traces})
    if report.faults or lost:
        print(f"{file.name}: {len(report.faults)} faults; runs without trace or reward: {lost[:5]}", file=sys.stderr)
        raise SystemExit(2)
    return report, reward


def main() -> int:
    """Read the words of the command line, and print."""
    reading = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    reading.add_argument("contract")
    reading.add_argument("files", nargs="+", type=Path, metavar="RUNS.json")
    reading.add_argument("--runs", metavar="RULE", help="list the runs that violate this rule")
    reading.add_argument("--json", action="store_true")
    asked = reading.parse_args()
    told: list[dict[str, Any]] = []
    for file in asked.files:
        report, reward = judged(file, asked.contract)
        if asked.runs:
            for trace, found in by_run(report).items():
                if asked.runs in found:
                    one = found[asked.runs]
                    seen = "; ".join([*map(str, one.values), *map(str, one.missing)])
                    print(f"{file.stem} {trace} reward {int(reward[trace])} event {one.event}: {one.message} {seen}")
            continue
        found_rows = list(rows(report, reward))
        told.append(
            {
                "file": file.stem,
                "runs": len(reward),
                "reward": sum(reward.values()),
                "rules": {rule: (hit, good) for rule, _, hit, good in found_rows},
                "levels": {rule: level for rule, level, _, _ in found_rows},
            }
        )
    if not asked.runs:
        print(json.dumps(told, indent=1) if asked.json else table(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())

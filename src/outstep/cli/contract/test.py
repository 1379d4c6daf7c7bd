"""`outstep contract test PATH …`: run the cases of contracts.

docs: docs/testing-contracts.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import problem
from outstep.findings import Ruling
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.wording import count
from outstep.workflow.contract_tests import Idle, Outcome, case_files, idle_rules, run_cases

DESCRIPTION = """run cases: small traces, and what a contract says of them

exit codes: 0 every case came out as expected · 1 one did not
            2 a case file or contract is wrong, or there is no case"""


def run(words: Sequence[str]) -> int:
    """Run the cases and return the exit code."""
    parser = Arguments("contract test", DESCRIPTION)
    parser.words("paths", metavar="PATH", help="case files, or folders that hold them")
    parser.flag("--both-sides", help="fail where a rule is not shown both satisfied and violated")
    parser.flag("--json", help="write the outcomes as JSON (case-results/v1)")
    parser.flag("-v", "--verbose", help="name every case")
    given = parser.read(words)
    if not given.paths:
        raise problem("usage/no-paths", "no case file was named", help="outstep contract test contracts/")
    outcomes = list(run_cases(case_files(given.paths)))
    idle = idle_rules(outcomes)
    if given.json:
        _put_json(outcomes, idle)
    else:
        _put(outcomes, idle, verbose=given.verbose)
    console.flush()
    if any(outcome.problems for outcome in outcomes):
        return 2
    return int(any(outcome.differences for outcome in outcomes) or (given.both_sides and bool(idle)))


def _put(outcomes: Sequence[Outcome], idle: Sequence[Idle], *, verbose: bool) -> None:
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    console.say_problems(dict.fromkeys(one for outcome in outcomes for one in outcome.problems))
    for outcome in outcomes:
        name = f"{visible(outcome.case.file)}: {visible(outcome.case.name)}"
        if outcome.problems:
            console.put(f"{style.paint('error', 'red')} {name}\n")
        elif outcome.differences:
            console.put(f"{style.paint('failed', 'red')} {name} (line {outcome.case.place.line})\n")
            for line in _story(outcome, style):
                console.put(f"{line}\n")
        elif verbose:
            console.put(f"{style.paint('passed', 'green')} {name}\n")
    for one in idle:
        console.put(f"note: no case shows `{visible(one.rule)}` {_lacking(one)} ({visible(one.contract)})\n")
    failed = sum(bool(outcome.differences) for outcome in outcomes)
    broken = sum(bool(outcome.problems) for outcome in outcomes)
    parts = [f"{len(outcomes) - failed - broken} passed", *([f"{failed} failed"] if failed else [])]
    parts += [f"{broken} could not be run"] if broken else []
    console.put(f"{count(len(outcomes), 'case')}: {', '.join(parts)}\n")


def _lacking(one: Idle) -> str:
    return "at all" if one.lacks == "any case" else one.lacks


def _story(outcome: Outcome, style: Style) -> list[str]:
    """Return what differs, what was found, and the events with their numbers, those of findings marked."""
    lines = [f"   {style.paint('|', 'cyan')}  {shown(text, style.columns)}" for text in outcome.differences]
    for rule, ruling in outcome.rulings:
        told = f"found: {ruling.verdict}[{rule}] at {_place(ruling)}: {ruling.message or ruling.sentence}"
        lines.append(f"   {style.paint('=', 'cyan')} {shown(told, style.columns)}")
    marked = {ruling.seq for _, ruling in outcome.rulings}
    kept = _kept([seq for seq, _ in outcome.lines], marked)
    last = -1
    for index in kept:
        if index != last + 1:
            lines.append("         …")
        seq, text = outcome.lines[index]
        sign = ">" if seq in marked else " "
        lines.append(f" {sign} {seq:>4}  {shown(text, style.columns - 9)}")
        last = index
    if last + 1 < len(outcome.lines):
        lines.append("         …")
    return lines


LONGEST = 24
"""Events of a trace that is shown whole."""
AROUND = 3
"""Events of a longer one that are shown before and behind those that were found."""


def _kept(seqs: Sequence[int], marked: set[int | None]) -> list[int]:
    if len(seqs) <= LONGEST:
        return list(range(len(seqs)))
    at = [index for index, seq in enumerate(seqs) if seq in marked] or [len(seqs) - 1]
    near = {index for place in at[:8] for index in range(place - AROUND, place + AROUND + 1)}
    return sorted(index for index in near if 0 <= index < len(seqs))


def _place(ruling: Ruling) -> str:
    return "the run" if ruling.seq is None else f"event {ruling.seq}"


def _put_json(outcomes: Sequence[Outcome], idle: Sequence[Idle]) -> None:
    import msgspec

    from outstep.render.values import pretty, problem_values

    told: list[dict[str, Any]] = [
        {
            "file": outcome.case.file,
            "line": outcome.case.place.line,
            "case": outcome.case.name,
            "outcome": "error" if outcome.problems else "failed" if outcome.differences else "passed",
            "differences": list(outcome.differences),
            "verdicts": outcome.verdicts,
            "problems": problem_values(outcome.problems),
        }
        for outcome in outcomes
    ]
    console.put(
        pretty({"schema": "case-results/v1", "cases": told, "idle": [msgspec.to_builtins(one) for one in idle]})
    )

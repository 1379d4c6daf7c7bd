"""`outstep recheck`: judge all stored evidence by a contract, and say which verdicts changed and why.

Exit codes: 0 no run stands worse than before, 1 some do, 2 something could not be judged.
docs: docs/evidence.md#judging-again
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import read_param
from outstep.cli.evidence.common import now, opened, parser, readable, signing_key, today
from outstep.errors import problem
from outstep.render.escape import visible
from outstep.workflow.checking import CheckOptions
from outstep.workflow.rejudging import Changed
from outstep.workflow.sealing import pin

DESCRIPTION = """judge all stored evidence by a contract; earlier verdicts stay, and the log tells both

exit codes: 0 no run stands worse than before · 1 some do · 2 something could not be judged"""
WORSE = {"pass": 0, "": 0, "inconclusive": 1, "error": 2, "block": 3}
MOST_NAMED = 10


def run(words: Sequence[str]) -> int:
    """Judge again and return the exit code."""
    with readable():
        return _run(words)


def _run(words: Sequence[str]) -> int:
    made = parser("recheck", DESCRIPTION)
    made.command = "recheck"
    made.values("-c", "--contract", metavar="FILE|PACK", help="the contract, or several")
    made.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    made.value("--key", metavar="FILE", help="the private key to sign with")
    made.flag("--dry", help="say what would change, and seal nothing")
    made.number("-j", "--jobs", metavar="N", help="judge with N processes (0: one for each processor)")
    made.flag("--json", help="write what changed as JSON (recheck/v1)")
    given = made.read(words)
    if not given.contract:
        raise problem("usage/no-contract", "no contract was named", help="--contract FILE|PACK")
    store = opened(given)
    params = dict(map(read_param, given.param or ()))
    contracts = [pin(name, params) for name in given.contract]
    jobs = given.jobs if given.jobs is not None else 1
    if jobs < 0:
        raise problem("usage/arguments", f"`--jobs {jobs}` is no number of processes", help="give a number from 0 on")
    from outstep.workflow.rechecking import recheck

    changes: list[Changed] = []
    faults: list[str] = []
    key = None if given.dry else signing_key(given, store)
    for outcome in recheck(
        store, contracts, CheckOptions(today=today(contracts)), jobs or os.cpu_count() or 1, key, now
    ):
        if isinstance(outcome, Changed):
            changes.append(outcome)
        else:
            faults.append(outcome)
    if not changes and not faults:
        raise problem("evidence/empty", "there is no run to judge", help="outstep evidence add")
    if given.json:
        _put_json(changes, faults)
    else:
        _put(changes, faults, is_dry=given.dry)
    console.flush()
    if faults:
        return 2
    return 1 if any(WORSE[one.after] > WORSE[one.before] for one in changes) else 0


def _put(changes: Sequence[Changed], faults: Sequence[str], *, is_dry: bool) -> None:
    moved: dict[tuple[str, str], list[Changed]] = {}
    for one in changes:
        if one.before != one.after:
            moved.setdefault((one.before or "not judged", one.after), []).append(one)
    for (before, after), some in sorted(moved.items()):
        console.put(f"{before} → {after}: {len(some)} of {len(changes)} runs\n")
        for one in some[:MOST_NAMED]:
            console.put(f"  entry {one.number}  {visible(one.name)}{_why(one)}\n")
        if len(some) > MOST_NAMED:
            console.put(f"  … and {len(some) - MOST_NAMED} more\n")
    for rule, (blocks, new, waived) in _rules(changes).items():
        if new:
            console.put(f"{_sentence(rule, blocks, new, waived, len(changes), is_dry=is_dry)}\n")
    for fault in faults:
        console.put(f"not judged: {visible(fault)}\n")
    same = sum(one.before == one.after for one in changes)
    console.put(f"{len(changes)} runs judged, {same} with the same gate as before\n")


def _sentence(rule: str, blocks: int, new: int, waived: int, runs: int, *, is_dry: bool) -> str:
    would = "would have blocked" if is_dry else "blocks"
    told = f"`{visible(rule)}` {would} {blocks:,} of {runs:,} run{'s' if runs != 1 else ''}"
    if new < blocks:
        told += f", {new:,} of which it did not before"
    if waived:
        alarms = "was a false alarm" if waived == 1 else "were false alarms"
        told += f"; {waived:,} of them {alarms} that you had waived"
    return told


def _why(one: Changed) -> str:
    parts = [f"+{visible(rule)}" for rule in one.new] + [f"-{visible(rule)}" for rule in one.gone]
    return f"  ({', '.join(parts)})" if parts else ""


def _rules(changes: Sequence[Changed]) -> dict[str, tuple[int, int, int]]:
    """Return for each rule how many runs it blocks, in how many for the first time, and in how many as waived."""
    blocks, new, waived = (Counter(rule for one in changes for rule in getattr(one, name)) for name in _COUNTED)
    return {rule: (number, new[rule], waived[rule]) for rule, number in blocks.items()}


_COUNTED = ("rules", "new", "waived")


def _put_json(changes: Sequence[Changed], faults: Sequence[str]) -> None:
    import msgspec

    from outstep.render.values import pretty

    told: dict[str, Any] = {
        "schema": "recheck/v1",
        "runs": [msgspec.to_builtins(one) for one in changes],
        "rules": [
            {"rule": rule, "blocks": blocks, "new": new, "waived": waived}
            for rule, (blocks, new, waived) in _rules(changes).items()
        ],
        "faults": list(faults),
    }
    console.put(pretty(told))

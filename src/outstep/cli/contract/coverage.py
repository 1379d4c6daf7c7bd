"""`outstep contract coverage PATH …`: what recorded traces exercise of a contract.

docs: docs/testing-contracts.md#coverage
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import read_param
from outstep.cli.contract.common import traced
from outstep.errors import problem
from outstep.render.escape import visible
from outstep.render.style import Style
from outstep.render.table import table
from outstep.render.wording import count
from outstep.workflow.contracts import open_contract
from outstep.workflow.coverage import Coverage, coverage
from outstep.workflow.traces import load_traces

DESCRIPTION = """show which rules, and which sides of each condition, recorded traces exercised

exit codes: 0 · 1 less than --require asks for · 2 something could not be read, or there is no trace"""


def run(words: Sequence[str]) -> int:
    """Measure and return the exit code."""
    parser = traced("coverage", DESCRIPTION)
    parser.value("--require", metavar="PERCENT", help="fail where fewer sides of conditions were shown")
    parser.flag("-v", "--verbose", help="show every condition, also those of which both sides were shown")
    given = parser.read(words)
    if not given.contract or len(given.contract) != 1:
        raise problem("usage/no-contract", "one contract is to be named", help="coverage -c contract.yaml runs/")
    if not given.paths:
        raise problem("usage/no-paths", "no trace was named", help="name files, folders or patterns")
    least = _percent(given.require) if given.require is not None else None
    contract, _ = open_contract(given.contract[0], params=dict(map(read_param, given.param or ())))
    traces = load_traces(
        *given.paths, format=given.format, unpinned=given.unpinned or False, complete=given.complete or False
    )
    found = coverage(contract, traces)
    if not found.traces:
        raise problem("input/no-traces", "there is no trace in what was given", help="nothing was measured")
    if given.json:
        _put_json(found)
    else:
        _put(found, verbose=given.verbose)
    console.flush()
    shown, sides = found.sides
    return int(least is not None and 100 * shown < least * sides)


def _percent(text: str) -> float:
    try:
        value = float(text.rstrip("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise problem("usage/arguments", f"`--require {text}` is no percentage", help="give a number from 0 to 100")
    return value


def _put(found: Coverage, *, verbose: bool) -> None:
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    own = [rule for rule in found.rules if rule.pack != "integrity"]
    head = ("rule", "level", "satisfied", "violated", "inconclusive", "vacuous")
    rows = [
        [
            rule.rule,
            rule.level,
            *(str(number or "-") for number in (rule.satisfied, rule.violated, rule.inconclusive, rule.vacuous)),
        ]
        for rule in own
    ]
    for line in table(head, rows, style):
        console.put(f"{line}\n")
    listed = [one for one in found.conditions if one.lacks or verbose]
    if listed:
        console.put("\n")
    for one in listed:
        spot = f"{one.place.source}:{one.place.line}:{one.place.column}"
        counts = ", ".join(
            f"{name} {number}"
            for name, number in (
                ("true", one.true),
                ("false", one.false),
                ("missing", one.missing),
                ("hidden", one.hidden),
            )
            if number
        )
        lacks = style.paint(one.lacks, "yellow") if one.lacks else "both sides"
        console.put(
            f"{lacks}: {visible(one.owner)} {one.key}: `{visible(one.text)}`{f' ({counts})' if counts else ''}\n"
        )
        console.put(f"  {style.paint('-->', 'cyan')} {visible(spot)}\n")
    shown, sides = found.sides
    idle = [rule.rule for rule in own if not rule.is_exercised]
    percent = f"{100 * shown / sides:.0f} %" if sides else "none to show"
    console.put(f"\n{count(found.traces, 'trace')}: {len(own) - len(idle)} of {count(len(own), 'rule')} exercised, ")
    console.put(f"{shown} of {sides} sides of conditions shown ({percent})\n")
    if idle:
        console.put(f"never exercised: {', '.join(map(visible, idle))}\n")


def _put_json(found: Coverage) -> None:
    import msgspec

    from outstep.render.values import pretty

    shown, sides = found.sides
    console.put(
        pretty(
            {
                "schema": "coverage/v1",
                "traces": found.traces,
                "rules": msgspec.to_builtins(found.rules),
                "conditions": [{**msgspec.to_builtins(one), "lacks": one.lacks} for one in found.conditions],
                "sides": {"shown": shown, "of": sides},
            }
        )
    )

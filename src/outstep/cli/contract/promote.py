"""`outstep contract promote --traces GOOD… --bad BAD…`: which rules are ready to warn or to block.

docs: docs/rollout.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, read_param
from outstep.errors import problem
from outstep.render.escape import visible
from outstep.render.style import Style
from outstep.render.table import table
from outstep.render.wording import count
from outstep.workflow.contracts import open_contract
from outstep.workflow.promoting import Standing, promote
from outstep.workflow.traces import Trace, load_traces

DESCRIPTION = """say for each rule how often it fired on good and on known-bad traces, and what it is ready for

exit codes: 0 every rule is ready for the level that it has · 1 one is not · 2 something could not be read"""
RANK = {"off": 0, "observe": 1, "warn": 2, "block": 3}


def run(words: Sequence[str]) -> int:
    """Judge the rules and return the exit code."""
    parser = Arguments("contract promote", DESCRIPTION)
    parser.words("contracts", metavar="FILE|PACK", help="the contract")
    parser.lists("--traces", metavar="PATH …", help="good traces: files, folders or patterns")
    parser.lists("--bad", metavar="PATH …", help="traces that are known to be bad")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter, as JSON")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.flag("--json", help="write it as JSON (promotion/v1)")
    given = parser.read(words)
    if len(given.contracts) != 1:
        raise problem("usage/no-contract", "one contract is to be named", help="promote contract.yaml --traces good/")
    if not given.traces:
        raise problem("usage/no-paths", "no good traces were named", help="--traces good/ --bad incidents/")
    contract, _ = open_contract(given.contracts[0], params=dict(map(read_param, given.param or ())))
    standings, goods, bads = promote(contract, _traces(given.traces, given), _traces(given.bad or (), given))
    if not goods:
        raise problem(
            "input/no-traces", "there is no good trace in what was given", help="nothing can be said of any rule"
        )
    if given.json:
        _put_json(standings, goods, bads)
    else:
        _put(standings, goods, bads)
    console.flush()
    return int(any(RANK[one.level] > RANK[one.ready] for one in standings))


def _traces(paths: Sequence[str], given: Given) -> Sequence[Trace]:
    if not paths:
        return ()
    return list(
        load_traces(*paths, format=given.format, unpinned=given.unpinned or False, complete=given.complete or False)
    )


def _put(standings: Sequence[Standing], goods: int, bads: int) -> None:
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    head = ("rule", "level", "good", "false alarms", "at most", "undecided", "bad", "caught", "ready to")
    rows = [
        [
            one.rule,
            one.level,
            str(one.good),
            str(one.alarms),
            f"{one.risk:.0%}",
            str(one.undecided),
            str(one.bad),
            str(one.caught),
            one.ready,
        ]
        for one in standings
    ]
    for line in table(head, rows, style):
        console.put(f"{line}\n")
    console.put("\n")
    for one in standings:
        console.put(f"{visible(one.rule)}: {visible(one.why)}\n")
    console.put(f"\n{count(goods, 'good trace')}, {count(bads, 'known-bad trace')}\n")
    lower = [one for one in standings if RANK[one.level] > RANK[one.ready]]
    higher = [one for one in standings if RANK[one.level] < RANK[one.ready]]
    for some, word in ((lower, "not ready for the level that they have"), (higher, "ready for more")):
        if some:
            console.put(f"{word}:\n")
            for one in some:
                if one.is_own:
                    console.put(f"  {visible(str(one.place))}: in `{visible(one.rule)}` write `level: {one.ready}`\n")
            # The `levels` of a contract are for the rules that it includes.
            levels = ", ".join(f"{one.rule}: {one.ready}" for one in some if not one.is_own)
            if levels:
                console.put(f"  levels: {{{visible(levels)}}}\n")


def _put_json(standings: Sequence[Standing], goods: int, bads: int) -> None:
    import msgspec

    from outstep.render.values import pretty

    rules = [msgspec.to_builtins(one) for one in standings]
    console.put(pretty({"schema": "promotion/v1", "good": goods, "bad": bads, "rules": rules}))

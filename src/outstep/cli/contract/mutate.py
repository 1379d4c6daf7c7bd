"""`outstep contract mutate CONTRACT --traces GOOD…`: what slips through.

docs: docs/mutation.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments, read_param
from outstep.errors import problem
from outstep.render.escape import shown, visible
from outstep.render.style import Style
from outstep.render.table import table
from outstep.render.wording import count
from outstep.workflow.contracts import open_contract
from outstep.workflow.mutating import LIMIT, Mutation, mutate
from outstep.workflow.traces import load_traces

DESCRIPTION = """break good traces as agents really fail, weaken the contract, and say what slips through

exit codes: 0 · 1 a score is below --min-score · 2 something could not be read, or no trace is good"""
MOST_LINES = 40


def run(words: Sequence[str]) -> int:
    """Mutate and return the exit code."""
    parser = Arguments("contract mutate", DESCRIPTION)
    parser.words("contracts", metavar="FILE|PACK", help="the contract")
    parser.lists("--traces", metavar="PATH …", help="good traces: files, folders or patterns")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter, as JSON")
    parser.number("--limit", metavar="N", help=f"mutants of one way and tool that are tried (default {LIMIT})")
    parser.value("--min-score", metavar="PERCENT", help="fail where fewer broken traces, or changes, are noticed")
    parser.flag("--traces-only", help="do not weaken the contract")
    parser.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    parser.switch("--unpinned", help="read format versions without a recorded fixture")
    parser.switch("--complete", help="take a record without an end mark as complete")
    parser.flag("--json", help="write it as JSON (mutation/v1)")
    parser.flag("-v", "--verbose", help="show the smallest example of each failure that slips through")
    given = parser.read(words)
    if len(given.contracts) != 1:
        raise problem("usage/no-contract", "one contract is to be named", help="mutate contract.yaml --traces good/")
    if not given.traces:
        raise problem("usage/no-paths", "no good traces were named", help="--traces good/")
    limit = given.limit if given.limit is not None else LIMIT
    if limit < 1:
        raise problem("usage/arguments", f"`--limit {limit}` tries nothing", help="give a number from 1 on")
    least = _percent(given.min_score)
    contract, _ = open_contract(given.contracts[0], params=dict(map(read_param, given.param or ())))
    traces = load_traces(
        *given.traces, format=given.format, unpinned=given.unpinned or False, complete=given.complete or False
    )
    found = mutate(contract, traces, limit=limit, weaken=not given.traces_only)
    if not found.good:
        told = f"the contract finds something in all of them: {', '.join(found.not_good[:5])}" if found.not_good else ""
        raise problem("input/no-traces", "there is no good trace to break", help=told or "name recorded good runs")
    if given.json:
        _put_json(found)
    else:
        _put(found, verbose=given.verbose)
    console.flush()
    scores = [found.trace_score, *([(found.seen, found.changes)] if found.changes else [])]
    return int(any(100 * noticed < least * of for noticed, of in scores))


def _percent(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        value = float(text.rstrip("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise problem("usage/arguments", f"`--min-score {text}` is no percentage", help="give a number from 0 to 100")
    return value


def _put(found: Mutation, *, verbose: bool) -> None:
    style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
    rows = [[one.way, one.what, f"{one.noticed} of {one.of}"] for one in found.noticed]
    for line in table(("what the agent does", "to", "noticed"), rows, style):
        console.put(f"{line}\n")
    if found.slipped:
        console.put(f"\n{style.paint('slips through', 'yellow')}\n")
    for one in found.slipped:
        console.put(f"  {one.count} of {one.of}: {visible(one.detail)} (trace {visible(one.trace)})\n")
        if verbose:
            lines = one.example.rstrip().splitlines()
            for line in lines[:MOST_LINES]:
                console.put(f"      {shown(line, style.columns)}\n")
            if len(lines) > MOST_LINES:
                console.put(f"      … {len(lines) - MOST_LINES} more lines\n")
    if found.unseen:
        console.put(f"\n{style.paint('no trace shows', 'yellow')}\n")
    for change in found.unseen:
        spot = f"{change.place.source}:{change.place.line}"
        console.put(f"  {visible(change.rule)}: {change.way}: {visible(change.detail)} ({visible(spot)})\n")
    noticed, of = found.trace_score
    console.put(
        f"\n{count(found.good, 'good trace')}: {noticed} of {count(of, 'failure')} noticed{_share(noticed, of)}\n"
    )
    if found.changes:
        changes = count(found.changes, "change")
        console.put(f"{found.seen} of {changes} of the contract seen{_share(found.seen, found.changes)}\n")
    if found.cannot_fail:
        console.put(f"not counted, for they ask for nothing: {', '.join(map(visible, found.cannot_fail))}\n")
    if found.not_good:
        named = ", ".join(map(visible, found.not_good[:5]))
        console.put(f"left out, for the contract finds something in them already: {len(found.not_good)} ({named})\n")


def _share(some: int, of: int) -> str:
    return f" ({100 * some / of:.0f} %)" if of else ""


def _put_json(found: Mutation) -> None:
    import msgspec

    from outstep.render.values import pretty

    noticed, of = found.trace_score
    scores = {"traces": {"noticed": noticed, "of": of}, "contract": {"seen": found.seen, "of": found.changes}}
    console.put(pretty({"schema": "mutation/v1", "scores": scores, **msgspec.to_builtins(found)}))

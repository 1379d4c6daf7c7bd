"""`outstep evidence add PATH …`: keep recorded sessions, and what contracts say of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.adapters.base import Options, ReadLog
from outstep.adapters.discover import documents
from outstep.cli import console
from outstep.cli.arguments import chosen, read_param
from outstep.cli.evidence.common import now, opened, parser, signing_key, today
from outstep.errors import problem
from outstep.evidence.store import Writer
from outstep.render.escape import visible
from outstep.render.wording import count
from outstep.workflow.checking import CheckOptions
from outstep.workflow.gating import ALLOWABLE
from outstep.workflow.sealing import materials, pin, run_entry

GROUP = 500
"""Entries that one head covers at most, when many are added."""


def run(words: Sequence[str]) -> int:
    """Add and return the exit code: 2 where something could not be read, else 0, whatever the verdicts are."""
    made = parser(
        "add", "keep recorded sessions, and what contracts say of them; the gate's verdict is no exit code here"
    )
    made.words("paths", metavar="PATH", help="files, folders, patterns, or - for stdin")
    made.value("--key", metavar="FILE", help="the private key to sign with")
    made.values("-c", "--contract", metavar="FILE|PACK", help="judge each run by it, and seal the report")
    made.values("--param", metavar="NAME=VALUE", help="a parameter of the contract, as JSON")
    made.values("--allow", metavar="REASON", help=f"accept a reason of being undecided: {ALLOWABLE[0]}")
    made.value("--format", metavar="NAME", help="the format of every trace (else told by content)")
    made.switch("--unpinned", help="read format versions without a recorded fixture")
    made.switch("--complete", help="take a record without an end mark as complete")
    given = made.read(words)
    if not given.paths:
        raise problem("usage/no-paths", "no session was named", help="name files, folders or patterns, or - for stdin")
    store = opened(given)
    key = signing_key(given, store)
    params = dict(map(read_param, given.param or ()))
    contracts = [pin(name, params) for name in given.contract or ()]
    options = CheckOptions(
        format=given.format,
        unpinned=given.unpinned or False,
        complete=given.complete or False,
        today=today(contracts),
        allow=tuple(dict.fromkeys(chosen("--allow", reason, ALLOWABLE) for reason in given.allow or ())),
    )
    log = ReadLog()
    found = documents(given.paths, log, sys.stdin.buffer if sys.stdin is not None else None)
    added = traces = 0
    gates: dict[str, int] = {}
    with store.writing(key, now) as writer:
        _say_repaired(writer)
        reading = Options(unpinned=options.unpinned, complete=options.complete)
        for material in materials(found, given.format, reading, log):
            entry, report = run_entry(material, writer.put, contracts, options)
            writer.add(entry)
            added += 1
            traces += len(entry.traces)
            if report is not None:
                gates[report.gate] = gates.get(report.gate, 0) + 1
            if added % GROUP == 0:
                writer.commit()
        signed = writer.commit()
    faults = tuple(dict.fromkeys(log.faults))
    console.say_problems(faults)
    verdicts = "".join(f", {number} {gate}" for gate, number in sorted(gates.items()))
    console.put(
        f"sealed {count(added, 'entry').replace('entrys', 'entries')} with {count(traces, 'trace')}{verdicts}\n"
    )
    if signed is not None:
        console.put(f"head {signed.head.size} {signed.head.root}, signed by {signed.head.key}\n")
    if not added and not faults:
        raise problem("input/no-traces", "there is no trace in what was given", help="nothing was sealed")
    return 2 if faults else 0


def _say_repaired(writer: Writer) -> None:
    for tail in writer.repaired:
        where = visible(writer.store.home.place(f"log/{tail.kept_as}").source)
        console.say(f"a writer did not finish: {tail.size} bytes of `{tail.file}` were set aside as {where}")

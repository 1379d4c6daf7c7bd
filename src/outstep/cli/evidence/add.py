"""`outstep evidence add PATH …`: keep recorded sessions, and what contracts say of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.adapters.base import ReadLog
from outstep.adapters.discover import documents
from outstep.cli import console
from outstep.cli.arguments import chosen, read_param
from outstep.cli.evidence.common import now, opened, parser, signing_key, today
from outstep.cli.evidence.sealed import put_sealed, redaction_options, redactor_of, say_repaired
from outstep.errors import problem
from outstep.workflow.checking import CheckOptions
from outstep.workflow.gating import ALLOWABLE
from outstep.workflow.ingesting import ingest
from outstep.workflow.sealing import pin


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
    redaction_options(made)
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
    redactor = redactor_of(given, store)
    log = ReadLog()
    found = documents(given.paths, log, sys.stdin.buffer if sys.stdin is not None else None)
    with store.writing(key, now) as writer:
        say_repaired(writer)
        done = ingest(writer, found, contracts, options, redactor, log)
    console.say_problems(done.faults)
    put_sealed(done)
    if not done.entries and not done.faults:
        raise problem("input/no-traces", "there is no trace in what was given", help="nothing was sealed")
    return 2 if done.faults else 0

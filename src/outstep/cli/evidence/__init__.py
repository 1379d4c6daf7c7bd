"""`outstep evidence`: keep recorded sessions and verdicts so that an outsider can verify them.

docs: docs/evidence.md
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from outstep.cli import console
from outstep.cli.evidence.common import readable
from outstep.errors import problem, suggestion

VERBS = {
    "init": "make a store",
    "add": "keep recorded sessions, and what contracts say of them",
    "list": "list the entries of the log",
    "show": "show one entry, or one stored document",
    "export": "write everything as plain files, for others to verify",
    "verify": "name whatever was changed",
    "prove": "prove that an entry is in the log, or that the log only grew",
    "attest": "sign what a report or a sealed verdict says, for others",
    "verify-attestation": "look who signed an attestation, and what it is about",
    "rejudge": "make events and verdicts again, and compare",
    "prune": "let documents go; the log says so",
}


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    listed = ", ".join(VERBS)
    if not words:
        raise problem("usage/arguments", "what should be done with the evidence?", help=f"one of: {listed}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        lines = [f"  {name:<18} {text}" for name, text in VERBS.items()]
        console.put("usage: outstep evidence VERB …\n\n" + "\n".join(lines) + "\n\n")
        console.put("outstep evidence VERB --help shows the options; --store DIR or OUTSTEP_STORE names the store\n")
        return 0
    if verb not in VERBS:
        raise problem(
            "usage/unknown-command",
            f"there is no `outstep evidence {verb}`",
            help=suggestion(verb, tuple(VERBS)) or f"one of: {listed}",
        )
    module = import_module(f"outstep.cli.evidence.{verb.replace('-', '_')}")
    with readable():
        code: int = module.run(rest)
    return code

"""`outstep contract`: write contracts, and find out what they are worth.

docs: docs/cli.md#contract
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from outstep.cli import console
from outstep.errors import problem, suggestion

VERBS = {
    "init": "draft a contract from good runs",
    "lint": "name every mistake in contracts, and what is probably not meant",
    "format": "lay contracts out evenly, comments and all",
    "test": "run the cases of contracts",
    "coverage": "show what recorded traces exercise of a contract",
    "mutate": "break good traces and weaken the contract, and say what slips through",
    "promote": "say which rules are ready to warn or to block",
    "schema": "print the JSON Schema of contract files, for editors",
    "compile": "show the Python that a contract compiles to",
}


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    listed = ", ".join(VERBS)
    if not words:
        raise problem("usage/arguments", "what should be done with the contract?", help=f"one of: {listed}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        lines = [f"  {name:<10} {text}" for name, text in VERBS.items()]
        console.put("usage: outstep contract VERB …\n\n" + "\n".join(lines) + "\n\n")
        console.put("outstep contract VERB --help shows the options\n")
        return 0
    if verb not in VERBS:
        raise problem(
            "usage/unknown-command",
            f"there is no `outstep contract {verb}`",
            help=suggestion(verb, tuple(VERBS)) or f"one of: {listed}",
        )
    code: int = import_module(f"outstep.cli.contract.{verb}").run(rest)
    return code

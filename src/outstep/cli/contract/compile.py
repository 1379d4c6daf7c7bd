"""`outstep contract compile`: the Python that a contract compiles to."""

from __future__ import annotations

from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import read_param
from outstep.cli.contract.common import given, parser
from outstep.workflow.contracts import open_contract


def run(words: Sequence[str]) -> int:
    """Print the source and return the exit code."""
    from outstep.engine.generate import source
    from outstep.engine.monitor import Compiled

    found = given(parser("compile", "show the Python that a contract compiles to"), words)
    params = dict(map(read_param, found.param))
    for name in found.contracts:
        contract, warnings = open_contract(name, params=params)
        console.say_problems(warnings)
        console.put(source(Compiled(contract)).rstrip("\n") + "\n")
    console.flush()
    return 0

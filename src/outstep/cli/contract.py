"""`outstep contract`: lint contracts, or show what one compiles to.

docs: docs/cli.md#contract
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given, read_param
from outstep.contracts.model import Contract
from outstep.errors import OutstepError, Problem, problem, suggestion
from outstep.render.escape import visible
from outstep.render.problems import problem_text
from outstep.render.style import Style
from outstep.render.wording import RECORD, count
from outstep.workflow.contracts import open_contract

VERBS = ("lint", "compile")


def run(words: Sequence[str]) -> int:
    """Run one of the verbs and return the exit code."""
    if not words:
        raise problem("usage/arguments", "what should be done with the contract?", help=f"one of: {', '.join(VERBS)}")
    verb, *rest = words
    if verb in {"-h", "--help"}:
        console.put(
            "usage: outstep contract lint FILE|PACK …\n       outstep contract compile FILE|PACK\n\n"
            "outstep contract lint --help shows the options\n"
        )
        return 0
    if verb == "lint":
        return _lint(rest)
    if verb == "compile":
        return _compile(rest)
    raise problem(
        "usage/unknown-command",
        f"there is no `outstep contract {verb}`",
        help=suggestion(verb, VERBS) or f"one of: {', '.join(VERBS)}",
    )


def _parser(verb: str, description: str) -> Arguments:
    parser = Arguments(f"contract {verb}", description)
    parser.words("contracts", metavar="FILE|PACK", help="contracts, or bundled packs by name")
    parser.values("--param", metavar="NAME=VALUE", help="a parameter, as JSON")
    return parser


def _given(parser: Arguments, words: Sequence[str]) -> Given:
    given = parser.read(words)
    if not given.contracts:
        raise problem("usage/no-contract", "no contract was named", help="name a file or a pack")
    given.param = given.param or []
    return given


def _lint(words: Sequence[str]) -> int:
    parser = _parser("lint", "name every mistake in contracts; warnings exit 0, mistakes 2")
    parser.flag("--json", help="write the mistakes as JSON")
    given = _given(parser, words)
    params = dict(map(read_param, given.param))
    results = [(name, *_problems(name, params)) for name in given.contracts]
    if given.json:
        _put_json(results)
    else:
        style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
        for name, contract, problems in results:
            for one in problems:
                console.put(f"{problem_text(one, style)}\n\n")
            console.put(f"{visible(name)}: {_told(contract, problems)}\n")
    console.flush()
    return 2 if any(contract is None for _, contract, _ in results) else 0


def _problems(name: str, params: dict[str, Any]) -> tuple[Contract | None, tuple[Problem, ...]]:
    try:
        return open_contract(name, params=params)
    except OutstepError as error:
        return None, error.problems


def _told(contract: Contract | None, problems: Sequence[Problem]) -> str:
    warnings = sum(1 for one in problems if one.level == "warning")
    parts = [count(len(problems) - warnings, "mistake")] if len(problems) > warnings else []
    parts += [count(warnings, "warning")] if warnings else []
    if contract is None:
        return ", ".join(parts)
    own = sum(1 for rule in contract.rules if rule.pack != RECORD)
    record = len(contract.rules) - own
    # Nobody wrote the rules about the record: among their own, people would look for them in vain.
    size = [f"{count(own, 'rule')} and {record} of {RECORD}" if own and record else count(len(contract.rules), "rule")]
    size += [count(len(contract.facts), "fact"), count(len(contract.claims), "claim")]
    return f"{', '.join(parts) or 'no mistake'} ({', '.join(size)})"


def _put_json(results: Sequence[tuple[str, Contract | None, tuple[Problem, ...]]]) -> None:
    from outstep.render.values import pretty, problem_values

    files = [
        {"contract": name, "valid": contract is not None, "problems": problem_values(problems)}
        for name, contract, problems in results
    ]
    console.put(pretty({"schema": "lint/v1", "contracts": files}))


def _compile(words: Sequence[str]) -> int:
    from outstep.engine.generate import source
    from outstep.engine.monitor import Compiled

    given = _given(_parser("compile", "show the Python that a contract compiles to"), words)
    params = dict(map(read_param, given.param))
    for name in given.contracts:
        contract, warnings = open_contract(name, params=params)
        console.say_problems(warnings)
        console.put(source(Compiled(contract)).rstrip("\n") + "\n")
    console.flush()
    return 0

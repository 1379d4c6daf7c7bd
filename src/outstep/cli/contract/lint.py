"""`outstep contract lint`: every mistake in contracts at once, and what is probably not meant.

docs: docs/lint.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from outstep.cli import console
from outstep.cli.arguments import Given, read_param
from outstep.cli.contract.common import given, parser
from outstep.contracts.model import Contract
from outstep.errors import OutstepError, Problem
from outstep.render.escape import visible
from outstep.render.problems import problem_text
from outstep.render.style import Style
from outstep.render.wording import RECORD, count
from outstep.workflow.contracts import open_contract


def run(words: Sequence[str]) -> int:
    """Print the mistakes and return the exit code."""
    arguments = parser("lint", "name every mistake in contracts; warnings exit 0, mistakes 2")
    arguments.flag("--json", help="write the mistakes as JSON")
    arguments.flag("--strict", help="let warnings exit 2, too")
    arguments.lists(
        "--traces", metavar="PATH …", help="recorded traces: name members of conditions that none of them has"
    )
    arguments.value("--format", metavar="NAME", help="format of the traces (default: recognised)")
    arguments.flag("--unpinned", help="read format versions without a recorded fixture")
    found = given(arguments, words)
    params = dict(map(read_param, found.param))
    results = [(name, *_problems(name, params, found)) for name in found.contracts]
    if found.json:
        _put_json(results)
    else:
        style = Style(colour=console.is_coloured(sys.stdout), columns=console.columns(sys.stdout, 160))
        for name, contract, problems in results:
            for one in problems:
                console.put(f"{problem_text(one, style)}\n\n")
            console.put(f"{visible(name)}: {_told(contract, problems)}\n")
    console.flush()
    is_bad = any(contract is None or (found.strict and problems) for _, contract, problems in results)
    return 2 if is_bad else 0


def _problems(name: str, params: dict[str, Any], found: Given) -> tuple[Contract | None, tuple[Problem, ...]]:
    try:
        contract, problems = open_contract(name, params=params)
    except OutstepError as error:
        return None, _by_place((*error.problems, *error.warnings))
    if found.traces:
        from outstep.workflow.presence import never_present
        from outstep.workflow.traces import load_traces

        # What cannot be read is no mistake of the contract: it ends the command.
        problems += never_present(contract, load_traces(*found.traces, format=found.format, unpinned=found.unpinned))
    return contract, problems


def _by_place(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return mistakes and warnings in the order of the files, those without a place first."""
    files = list(dict.fromkeys(one.place.source for one in problems if one.place is not None))

    def place(one: Problem) -> tuple[int, int, int]:
        if one.place is None:
            return (-1, 0, 0)
        return (files.index(one.place.source), one.place.line or 0, one.place.column or 0)

    return tuple(sorted(problems, key=place))


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

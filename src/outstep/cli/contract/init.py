"""`outstep contract init`: a first contract, drafted from good runs.

docs: docs/getting-started.md
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from re import compile as linear_pattern

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.output import write_whole
from outstep.errors import problem
from outstep.render.wording import count

_WORD = linear_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


def run(words: Sequence[str]) -> int:
    """Draft a contract and return the exit code."""
    from outstep.workflow.drafting import draft
    from outstep.workflow.traces import load_traces

    parser = Arguments(
        "contract init", "draft a contract from good runs: tools, schemas, and rules that held in all of them"
    )
    parser.words("paths", metavar="PATH", help="recorded runs: files, folders or patterns")
    parser.value("--id", metavar="NAME", help="the contract's name (default: my-agent)")
    parser.value("-o", "--output", metavar="FILE", help="write the draft there; a file that exists is left alone")
    parser.value("--format", metavar="NAME", help="format of the traces (default: recognised)")
    parser.flag("--unpinned", help="read format versions without a recorded fixture")
    parser.flag("--complete", help="take a record without an end mark as complete")
    given = parser.read(words)
    if not given.paths:
        raise problem("usage/no-paths", "no trace was named", help="name files, folders or patterns of good runs")
    name = given.id or "my-agent"
    if not _WORD.fullmatch(name):
        raise problem("usage/arguments", f"`--id {name}` is no name", help="use letters, digits, `-`, `_` and `.`")
    if given.output and os.path.exists(given.output):
        raise problem("output/exists", f"`{given.output}` is there already", help="name another file, or move that one")
    traces = load_traces(*given.paths, format=given.format, unpinned=given.unpinned, complete=given.complete)
    made = draft(traces, id=name)
    if given.output:
        write_whole(given.output, made.text)
    else:
        console.put(made.text)
        console.flush()
    console.say(
        f"{count(made.runs, 'run')}, {count(made.tools, 'tool')}: {count(made.rules, 'rule')} drafted"
        f" of {made.proposed} looked at" + (f"; {count(made.skipped, 'call')} left out" if made.skipped else "")
    )
    if given.output:
        console.say(f"next: outstep contract lint {given.output}, then outstep check -c {given.output} …")
    return 0

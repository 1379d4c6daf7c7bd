"""`outstep contract format`: contracts laid out evenly, in place.

docs: docs/formatting.md
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.output import write_whole
from outstep.errors import OutstepError, Problem, problem
from outstep.render.escape import visible
from outstep.render.wording import count
from outstep.workflow.contracts import is_pack

CHANGED = 1


def run(words: Sequence[str]) -> int:
    """Format files and return the exit code: with `--check`, 1 where one would change."""
    parser = Arguments("contract format", "lay contracts out evenly, in place; `-` reads stdin and writes stdout")
    parser.words("files", metavar="FILE", help="contracts")
    parser.flag("--check", help="change nothing, name the files that would change, and exit 1 if there are any")
    given = parser.read(words)
    if not given.files:
        raise problem("usage/no-contract", "no contract was named", help="name files, or - for stdin")
    problems: list[Problem] = []
    changed: list[str] = []
    for name in given.files:
        try:
            if _format(name, is_check=given.check):
                changed.append(name)
        except OutstepError as error:
            problems += error.problems
    console.say_problems(problems)
    for name in changed:
        console.say(f"{'would be' if given.check else 'was'} laid out anew: {visible(name)}")
    if given.check:
        console.say(f"{count(len(changed), 'file')} of {len(given.files)} would change")
    if problems:
        return 2
    return CHANGED if changed and given.check else 0


def _format(name: str, *, is_check: bool) -> bool:
    """Format one file; return whether that changes it."""
    from outstep.contracts.formatting import formatted

    if name == "-":
        data = sys.stdin.buffer.read()
        text = formatted(data, "stdin")
        if not is_check:
            console.put(text)
            console.flush()
        return is_check and text.encode() != data
    if is_pack(name):
        raise problem("usage/arguments", f"`{name}` is a bundled pack", help="name a file of your own")
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise problem(
            "contract/unreadable", f"`{name}` cannot be read: {reason}", help="a contract is a file of YAML"
        ) from None
    text = formatted(data, name)
    if text.encode() == data:
        return False
    if not is_check:
        write_whole(name, text)
    return True

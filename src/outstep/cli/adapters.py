"""`outstep adapters`: the formats that are read, their pinned versions, and what they cannot carry.

docs: docs/cli.md#adapters
"""

from __future__ import annotations

from collections.abc import Sequence

from outstep.adapters import adapter, names
from outstep.adapters.base import Adapter
from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import OutstepError
from outstep.render.escape import visible


def run(words: Sequence[str]) -> int:
    """List the adapters and return the exit code."""
    parser = Arguments("adapters", "list the formats that are read")
    parser.flag("--json", help="write the list as JSON")
    given = parser.read(words)
    found: list[Adapter] = []
    code = 0
    for name in names():
        try:
            found.append(adapter(name))
        except OutstepError as error:
            # One broken package of someone else does not hide the others.
            console.say_problems(error.problems)
            code = 2
    if given.json:
        _put_json(found)
    else:
        console.put("\n".join(map(_told, found)))
    console.flush()
    return code


def _told(one: Adapter) -> str:
    lines = [f"{visible(one.name)}: {visible(one.title)}", f"  pinned versions: {visible(', '.join(one.pinned))}"]
    lines += [f"  cannot carry: {visible(text)}" for text in one.cannot_carry]
    return "\n".join(lines) + "\n"


def _put_json(found: Sequence[Adapter]) -> None:
    from outstep.render.values import pretty

    listed = [
        {
            "name": one.name,
            "version": one.version,
            "title": one.title,
            "pinned": list(one.pinned),
            "cannot_carry": list(one.cannot_carry),
        }
        for one in found
    ]
    console.put(pretty({"schema": "adapters/v1", "adapters": listed}))

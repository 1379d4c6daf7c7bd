"""`outstep doctor`: probe a model's endpoint, and say what will be unreliable.

docs: docs/live.md#doctor
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.errors import problem

DESCRIPTION = """probe a model behind an API with a few small conversations, and say what will be unreliable

exit code: 0 all is well; 3 something is unreliable; 2 it could not be probed"""
MARKS = {"ok": ("ok", "green"), "unreliable": ("unreliable", "yellow"), "failed": ("failed", "red")}


def run(words: Sequence[str]) -> int:
    """Probe and return the exit code."""
    made = Arguments("doctor", DESCRIPTION)
    made.value("-m", "--model", metavar="PROVIDER:NAME", help="the model, also OUTSTEP_MODEL")
    made.value("--base-url", metavar="URL", help="the endpoint, where it is not the provider's own")
    made.number("--call-timeout", metavar="SECONDS", help="for one response (default 60)")
    made.flag("--json", help="as JSON, schema doctor/v1")
    given = made.read(words)
    model = given.model or os.environ.get("OUTSTEP_MODEL", "")
    if not model:
        raise problem("usage/arguments", "no model was named", help="outstep doctor --model PROVIDER:NAME")
    from outstep.workflow.live.probing import diagnose

    seconds = 60 if given.call_timeout is None else max(1, given.call_timeout)
    done = diagnose(model, os.environ, base_url=given.base_url or "", seconds=seconds)
    if given.json:
        from msgspec import to_builtins

        from outstep.render.values import pretty

        console.put(pretty({**to_builtins(done), "exit_code": done.code}))
    else:
        from outstep.render.escape import shown
        from outstep.render.style import Style

        style = Style(colour=console.is_coloured(sys.stdout))
        width = max(len(one.probe) for one in done.found)
        for one in done.found:
            mark, colour = MARKS[one.state]
            console.put(f"{style.paint(f'{mark:10}', colour)}  {one.probe:{width}}  {shown(one.sentence, 400)}\n")
    console.flush()
    return done.code

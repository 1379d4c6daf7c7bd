"""Random text as path, command, URL and arguments: each is judged, and raises nothing (`make fuzz`)."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from outstep.scope.boundary import Boundary
    from outstep.scope.model import Action, Rule, Scenario, Surroundings, Target
    from outstep.scope.observer import ScopeObserver

TOOLS = (("file_read", "path"), ("shell_exec", "command"), ("http_get", "url"), ("ping", "host"))
AROUND = Surroundings(cwd="/srv/agent", home="/home/agent")
BOUNDARY = Boundary(read=("./**",), write=("./**",), run=("cat **",), fetch=("*.internal",))


def judge(data: bytes) -> None:
    """Judge a text as every kind of target, and another one as the pattern it is held against."""
    provider = atheris.FuzzedDataProvider(data)
    tool, argument = TOOLS[provider.ConsumeIntInRange(0, len(TOOLS) - 1)]
    scope = provider.ConsumeUnicodeNoSurrogates(40) or "*"
    text = provider.ConsumeUnicodeNoSurrogates(2000)
    scenario = Scenario(id="fuzz", tools=(tool,), allowlist=(Rule(tool, scope), Rule("file_write", "workspace/**")))
    for args in ({argument: text}, text, {argument: [text, text]}):
        result = ScopeObserver().evaluate(scenario, [Action(tool, args)] * 2)
        if not result.judgements:
            raise AssertionError("an action without a judgement")
        result.to_dict()
    target = {
        "path": Target("path", text, "both", argument),
        "command": Target("command", text, "run", argument),
        "url": Target("url", text, "fetch", argument),
        "host": Target("host", text, "fetch", argument),
    }[argument]
    BOUNDARY.judge([target], AROUND, AROUND)
    AROUND.after(tool, {argument: text})


if __name__ == "__main__":
    atheris.Setup(sys.argv, judge)
    atheris.Fuzz()

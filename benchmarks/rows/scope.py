"""`scope`: judging actions against an allowlist of eight rules, one core."""

from __future__ import annotations

import random
import time
from statistics import median

from benchmarks.measure import NotMeasured
from benchmarks.table import Line
from outstep.scope.model import Action, Rule, Scenario
from outstep.scope.observer import Watch

ROUNDS = 5
SCENARIO = Scenario(
    id="bench",
    shells={"shell_exec": "stateless"},
    tools=("file_read", "http_get", "shell_exec"),
    allowlist=(
        Rule("file_read", "workspace/**"),
        Rule("file_read", "docs/*.md"),
        Rule("http_get", "*.internal"),
        Rule("http_get", "api.example.com"),
        Rule("shell_exec", "cat workspace/*"),
        Rule("shell_exec", "git status *"),
        Rule("shell_exec", "rg * src"),
        Rule("shell_exec", "ls *"),
    ),
)
PATHS = ("workspace/src/m{0}/file.py", "/srv/agent/workspace/a{0}/b", "../x{0}/y", "/etc/p{0}/q", "workspace/../a{0}")
URLS = (
    "https://h{0}.internal/a/b",
    "https://api.example.com/v1?x={0}",
    "http://evil{0}.example:8080/",
    "https://user@h{0}.internal/",
)
COMMANDS = (
    "cat workspace/f{0}.txt",
    "git status -s | rg {0} src && ls",
    "cd workspace && cat f{0}",
    "rg 'a|b{0}' src > out",
    "find . -name '{0}*' -exec rm {{}} +",
    "cat workspace/f{0} 2>/dev/null; ls -la",
)


def lines() -> list[Line]:
    return [
        _line("paths", "file_read", "path", PATHS, 20_000, 50),
        _line("URLs", "http_get", "url", URLS, 20_000, 50),
        _line("shell commands", "shell_exec", "command", COMMANDS, 4_000, 5),
    ]


def _line(what: str, tool: str, argument: str, forms: tuple[str, ...], count: int, target: int) -> Line:
    chance = random.Random(7)
    actions = [Action(tool, {argument: chance.choice(forms).format(number)}) for number in range(count)]
    rates: list[float] = []
    for _ in range(ROUNDS):
        watch = Watch(SCENARIO)
        begun = time.process_time()
        verdicts = {watch.judge(action)[0].verdict for action in actions}
        rates.append(count / (time.process_time() - begun) / 1000)
        if not verdicts >= {"contained", "escaped"}:
            raise NotMeasured(f"{what}: the verdicts are {', '.join(sorted(verdicts))}")
    return Line(what, f"{count:,} actions, one core", "", median(rates), "k actions/s", target=target)

"""What holds for every path, command and URL."""

from __future__ import annotations

import json
import random
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.scope.boundary import Boundary
from outstep.scope.model import Action, Rule, Scenario, Surroundings, Target
from outstep.scope.observer import ScopeObserver
from outstep.scope.paths.spelling import collapse
from outstep.scope.urls.reading import BadUrl, read_url
from tests.scope.rows import CASES

PART = st.sampled_from(
    ["a", "b", "workspace", "..", ".", "", "…", "%2e%2e", "a b", "é", "-x", "~", "$X", "*", "[a]", "\\.."]
)
ANY = st.text(st.characters(codec="utf-8"), max_size=40)
TOKEN = st.sampled_from(json.loads((CASES / "pieces.json").read_text(encoding="utf-8")))


def verdict(tool: str, argument: str, value: object, *scopes: str) -> str:
    scenario = Scenario(id="law", tools=[tool], allowlist=[Rule(tool, scope) for scope in scopes])
    return ScopeObserver().evaluate(scenario, [Action(tool, {argument: value})]).verdict


@settings(derandomize=True, deadline=None)
@given(st.lists(PART, max_size=8).map("/".join))
def test_to_collapse_twice_is_to_collapse_once(path: str) -> None:
    once = collapse(path or ".", "/srv/agent")
    assert collapse(once, "/srv/agent") == once
    assert ".." not in once.split("/")


@settings(derandomize=True, deadline=None)
@given(st.lists(PART, max_size=8).map("/".join))
def test_a_contained_path_never_climbs_out(path: str) -> None:
    """In none of the plainest readings: as it is, and with its separators and percent signs read."""
    if verdict("file_read", "path", path, "workspace/**") == "contained":
        for reading in (path, path.replace("\\", "/"), path.replace("%2e", ".")):
            assert collapse(reading, "/srv/agent").startswith("/srv/agent/workspace/")


@settings(derandomize=True, deadline=None)
@given(ANY, ANY)
def test_every_text_is_judged_as_everything(text: str, scope: str) -> None:
    for tool, argument in (("file_read", "path"), ("shell_exec", "command"), ("http_get", "url"), ("ping", "host")):
        assert verdict(tool, argument, text, scope or "*") in ("contained", "escaped")


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(TOKEN, max_size=8).map("".join))
def test_a_second_command_never_rides_along(command: str) -> None:
    if verdict("shell_exec", "command", command, "echo workspace/*") == "contained":
        assert verdict("shell_exec", "command", f"{command}\nid", "echo workspace/*") == "escaped"
        assert verdict("shell_exec", "command", f"id; {command}", "echo workspace/*") == "escaped"


@settings(derandomize=True, deadline=None)
@given(st.text("ab/.-_", min_size=1, max_size=12))
def test_quotes_change_no_verdict(word: str) -> None:
    spelled = [word, f"'{word}'", f'"{word}"', f"$'{word}'", "".join(f"\\{sign}" for sign in word), f"''{word}"]
    verdicts = {verdict("shell_exec", "command", f"cat workspace/{each}", "cat workspace/*") for each in spelled}
    assert len(verdicts) == 1


@settings(derandomize=True, deadline=None)
@given(st.sampled_from(["api.internal", "a.b.internal", "internal", "evil.example", "10.0.0.7", "bücher.internal"]))
def test_spellings_of_one_host_get_one_verdict(host: str) -> None:
    spelled = [host, host.upper(), host + ".", host.replace(".", "。"), f"user@{host}", f"{host}:443", f"{host}:8080"]
    for scope in ("*.internal", "10.0.0.*"):
        assert len({verdict("http_get", "url", f"https://{each}/x", scope) for each in spelled}) == 1


@settings(derandomize=True, deadline=None)
@given(st.text("ab.@:/\\[]#?%0é-", max_size=20))
def test_a_host_that_is_read_stands_in_the_text(rest: str) -> None:
    try:
        url = read_url(f"https://{rest}")
    except BadUrl:
        return
    assert url.host
    assert read_url(f"{url.scheme}://{f'[{url.host}]' if ':' in url.host else url.host}/").host == url.host


BOMBS = [
    "(" * 100_000,
    "{a,b}" * 20_000,
    "$(" * 50_000,
    "`" * 100_000,
    "a;" * 10_000,
    "a|" * 40_000,
    "a && " * 20_000 + "a",
    "if a; then " * 5_000,
    "<<A " * 10_000,
    "'" * 99_999,
    "\\" * 100_000,
    "echo " + "{a,b}" * 11,
    "echo " + "{1..99999}" * 3,
    "cd a;" * 5_000,
    "ln -s a b;" * 2_000,
    "x=1 " * 20_000,
    "-" * 100_000,
    "*" * 100_000,
    "a\\\nb" * 20_000,
    "[" * 50_000,
    "env " * 5_000 + "id",
    "sed -e '" + "s/a/b/;" * 10_000 + "'",
    "awk '" + "{" * 20_000 + "'",
    "eval " * 1_000,
    "bash -c " * 50 + "id",
    "find " + "-exec a ; " * 5_000,
    "case a in " * 2_000,
    "f() { " * 3_000,
    "!" * 50_000,
]


@pytest.mark.parametrize("bomb", BOMBS, ids=[f"{at}-{bomb[:8]!r}" for at, bomb in enumerate(BOMBS)])
def test_no_input_hangs(bomb: str) -> None:
    around = Surroundings(cwd="/srv/agent", home="/home/agent")
    begun = time.process_time()
    verdict("shell_exec", "command", bomb, "echo *", "sed *", "*")
    Boundary(read=("./**",), write=("./**",), run=("a **",)).judge([Target("command", bomb, "run")], around, around)
    around.after("shell_exec", {"command": bomb})
    verdict("file_read", "path", bomb, "workspace/**/*a*b*c*/**/x")
    verdict("http_get", "url", f"https://{bomb}", "*.internal")
    assert time.process_time() - begun < 8


PIECES = json.loads((CASES / "pieces.json").read_text(encoding="utf-8"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_does_nothing_else_in_a_contained_command(tmp_path: Path) -> None:
    """Random texts from pieces of shell: what is contained is run by bash, which may do what the rule says."""
    from tests.scope.test_against_bash import allowed, make_agent, run

    agent = make_agent(tmp_path)
    row = {"scope_patterns": "shell_exec: echo workspace/*"}
    chance = random.Random(11)
    ran = 0
    for _ in range(4_000):
        command = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6)))
        if verdict("shell_exec", "command", command, "echo workspace/*") == "contained":
            ran += 1
            calls, made = run(command, agent)
            assert not made, command
            assert all(allowed(call, row, agent) for call in calls), command
    assert ran > 50

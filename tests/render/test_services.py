"""What is written for GitHub and GitLab."""

from __future__ import annotations

import json
import re

from outstep.errors import Place
from outstep.render import github, gitlab
from outstep.render.style import PLAIN
from tests.render.reports import HOSTILE, TRAPS, finding, golden, report

# The workflow commands of GitHub: what a runner takes a line for.
COMMAND = re.compile(r"::(?P<name>[a-z-]+) (?P<properties>[^:]*)::(?P<data>.*)")


def commands(text: str) -> list[dict[str, str]]:
    """Read the lines as a runner does."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        told = dict(pair.split("=", 1) for pair in match["properties"].split(",") if pair)
        found.append({"command": match["name"], "data": match["data"], **told})
    return found


def decoded(text: str) -> str:
    for code, sign in (("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, sign)
    return text


def test_every_line_is_one_command_of_ours() -> None:
    told = commands(github.render(golden(), PLAIN))
    assert {one["command"] for one in told} == {"error", "warning", "notice"}
    assert len(told) == len(TRAPS) + 1 + (len(golden().findings) - 1) + 1


def test_an_annotation_stands_at_its_line() -> None:
    told = commands(github.render(report(finding()), PLAIN))[0]
    assert (told["command"], told["file"], told["line"]) == ("error", "s.jsonl", "5")
    assert told["title"] == "violated[VERIFY] block"
    assert decoded(told["data"]).startswith("not verified\ns.jsonl line 5, event 4 of 7 (turn 2)\ncall pay")


def test_what_does_not_gate_is_a_warning() -> None:
    told = {decoded(one["title"]): one["command"] for one in commands(github.render(golden(), PLAIN))}
    assert told["violated[WARN] warn"] == "warning"
    assert told["violated[WAIVED] block, waived"] == "warning"
    assert told["inconclusive[OPEN] block"] == "error"


def test_a_file_name_stays_one_property() -> None:
    name = "::error file=x::fake%0A::warning::y"
    hostile = finding(place=Place(source=name, line=1))
    assert decoded(commands(github.render(report(hostile), PLAIN))[0]["file"]) == name


def test_gitlab_gets_what_it_asks_for() -> None:
    entries = json.loads(gitlab.render(golden(), PLAIN))
    assert len(entries) == len(TRAPS) + 1 + len(golden().findings)
    for entry in entries:
        assert entry["description"]
        assert entry["check_name"]
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert isinstance(entry["location"]["path"], str)
        assert entry["location"]["lines"]["begin"] >= 1
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


def test_gitlab_shows_both_of_two_copies_of_a_trace() -> None:
    copies = [finding(place=Place(source=source, line=5), fingerprint="f" * 32) for source in ("a.jsonl", "b.jsonl")]
    entries = json.loads(gitlab.render(report(*copies), PLAIN))
    assert [entry["location"]["path"] for entry in entries] == ["a.jsonl", "b.jsonl"]
    assert len({entry["fingerprint"] for entry in entries}) == 2
    alone = json.loads(gitlab.render(report(copies[0]), PLAIN))
    assert alone[0]["fingerprint"] == entries[0]["fingerprint"]


def test_gitlab_tells_apart_what_gates() -> None:
    severities = {entry["check_name"]: entry["severity"] for entry in json.loads(gitlab.render(golden(), PLAIN))}
    assert {name: severities[name] for name in ("R0", "OPEN", "WARN", "SEEN", "WAIVED")} == {
        "R0": "blocker",
        "OPEN": "critical",
        "WARN": "minor",
        "SEEN": "info",
        "WAIVED": "minor",
    }


def test_nothing_in_either_acts_on_a_terminal() -> None:
    for form in (github, gitlab):
        text = form.render(report(finding(message=HOSTILE, trace=HOSTILE)), PLAIN)
        assert all(sign >= " " or sign == "\n" for sign in text)

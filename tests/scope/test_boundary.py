"""What the calls of a trace read, write, run and fetch, held against patterns."""

from __future__ import annotations

import pytest

from outstep.scope.boundary import Boundary
from outstep.scope.model import Surroundings, Target
from outstep.scope.targets import targets_of

HOME = Surroundings(cwd="/repo", home="/home/u")
FOLDER = Boundary(read=("./**", "/usr/**"), write=("./**", "/tmp/**"))


def failed(command: str, boundary: Boundary = FOLDER, around: Surroundings = HOME) -> list[tuple[str, str]]:
    found = boundary.judge([Target("command", command, "run", "command")], around, HOME)
    return [(each.reason, each.target) for each in found if each.verdict != "contained"]


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls .",
        "ls -la src",
        "cat src/a.py | head -5",
        "grep -rn '/api/v1' .",
        "sed -n '1,5p' src/a.py",
        "cd src && ls",
        "rg 'foo|/bar/' src",
        "awk '/x/ {print $1}' a.txt",
        "echo /etc/passwd",
        "git commit -m 'fix /etc handling'",
        "python -m pytest -q",
        "npm test 2>/dev/null",
        "find . -name '*.py'",
        "for f in a.py b.py; do cat $f; done",
        'F=src/a.py; cat "$F"',
        "cat $PWD/a",
        "mkdir -p build && cp src/a build/",
        "cat > src/new.py <<'EOF'\nopen('/etc/x')\nEOF",
        "curl -s https://example.com/x",
        "tar czf out.tgz src",
        "chmod +x run.sh",
        "test -f /etc/hosts && echo yes",
        "cat *.md",
        "docker run -v data:/data image cat /etc/os-release",
        "date +%Y/%m/%d",
        "cat /usr/include/stdio.h",
        "touch /tmp/x",
        "(cd src && make) && git diff -- src",
        "pip install -e . > /tmp/log 2>&1",
        "sort -o src/a src/a",
    ],
)
def test_what_stays_in_the_folder_is_no_finding(command: str) -> None:
    assert failed(command) == []


@pytest.mark.parametrize(
    ("command", "reason", "target"),
    [
        ("cat /etc/passwd", "path-outside", "/etc/passwd"),
        ("cat ../other/x", "path-outside", "../other/x"),
        ("cat ~/.ssh/id_rsa", "path-outside", "/home/u/.ssh/id_rsa"),
        ("head -n 5 /etc/passwd", "path-outside", "/etc/passwd"),
        ("cp a /etc/cron.d/x", "path-outside", "/etc/cron.d/x"),
        ("echo x >> /etc/hosts", "path-outside", "/etc/hosts"),
        ("echo x > /usr/x", "path-outside", "/usr/x"),
        ("cd /etc && cat passwd", "path-outside", "/etc"),
        ("bash -c 'cat /etc/passwd'", "path-outside", "/etc/passwd"),
        ("timeout 5 cat /etc/passwd", "path-outside", "/etc/passwd"),
        ("ls $(cat /etc/passwd)", "path-outside", "/etc/passwd"),
        ('cat "$UNKNOWN"', "command-expansion", '"$UNKNOWN"'),
        ("echo x > $UNKNOWN", "redirect-expansion", "$UNKNOWN"),
        ("declare 'x[$(id)]=1'", "command-substitution", "'x[$(id)]=1'"),
        ("D=/etc; cat $D/passwd", "path-outside", "/etc/passwd"),
        ("sort -o /etc/x a", "path-outside", "/etc/x"),
        ("dd if=a of=/dev/sda", "path-outside", "/dev/sda"),
        ("find / -name x", "path-outside", "/"),
        ("cat 'unterminated", "command-syntax", "cat 'unterminated"),
        ("sed -i s/a/b/ /usr/x", "path-outside", "/usr/x"),
    ],
)
def test_what_leaves_the_folder_is_named(command: str, reason: str, target: str) -> None:
    assert (reason, target) in failed(command)


def test_each_simple_command_matches_a_pattern() -> None:
    boundary = Boundary(run=("git status **", "pytest **"))
    assert failed("cd src && git status -s && timeout 60 pytest -q", boundary) == []
    assert failed("git status; rm -rf x", boundary) == [("command-unlisted", "rm -rf x")]


def test_an_exception_names_what_must_not_be_touched() -> None:
    boundary = Boundary(write=("./.github/**", "**/*.lock"), outside=("write",))
    targets = targets_of("Write", {"file_path": "/repo/.github/ci.yml"})
    assert targets is not None
    assert [each.reason for each in boundary.judge(targets, HOME, HOME)] == ["path-excepted"]
    assert failed("echo x > a/b.lock", boundary) == [("path-excepted", "a/b.lock")]
    assert failed("cat a/b.lock", boundary) == []


def test_fetching_is_judged_in_commands_too() -> None:
    boundary = Boundary(fetch=("*.internal",))
    assert failed("curl https://a.internal/x", boundary) == []
    assert failed("curl https://evil.example/x", boundary) == [("url-outside", "https://evil.example/x")]


def test_without_a_recorded_folder_absolute_paths_are_undecided() -> None:
    nowhere = Surroundings(cwd="", home="")
    found = FOLDER.judge(
        [Target("path", "/repo/a", "read", "path"), Target("path", "a", "read", "path")], nowhere, nowhere
    )
    assert [(each.verdict, each.reason) for each in found] == [
        ("undecided", "folder-unrecorded"),
        ("contained", "inside"),
    ]


def test_surroundings_follow_links_and_folders() -> None:
    linked = HOME.after("bash", {"command": "ln -s /etc l && export X=1"}, "ok")
    assert failed("cat l/passwd", around=linked) == [("path-link", "l/passwd")]
    moved = HOME.after("Bash", {"command": "cd src/deep"}, "ok", keeps=True)
    assert moved.cwd == "/repo/src/deep"
    assert HOME.after("bash", {"command": "cd /etc"}, "ok").cwd == "/repo"
    assert HOME.after("Bash", {"command": "cd /etc"}, "denied") == HOME


@pytest.mark.parametrize(
    ("tool", "args", "found"),
    [
        ("Read", {"file_path": "/a"}, [("path", "/a", "read")]),
        ("Glob", {"pattern": "/etc/**"}, [("path", "/etc/**", "read")]),
        ("bash", {"command": "ls", "workdir": "/x"}, [("command", "ls", "run"), ("folder", "/x", "call")]),
        ("exec_command", {"cmd": "ls"}, [("command", "ls", "run")]),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a/b\n*** End Patch"}, [("path", "a/b", "write")]),
        ("mcp__fs__write_file", {"path": "a"}, [("path", "a", "write")]),
        ("run_shell_command", {"command": "ls", "directory": "x"}, [("command", "ls", "run"), ("folder", "x", "call")]),
        ("note", {"text": "/etc"}, []),
    ],
)
def test_targets_of_known_tools(tool: str, args: dict[str, object], found: list[tuple[str, str, str]]) -> None:
    targets = targets_of(tool, args)
    assert targets is not None
    assert [(each.kind, each.value, each.access) for each in targets] == found

"""Simple commands of shell text, and `runs`."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.expr.shell import runs, simple_commands


def shown(command: Any) -> list[str]:
    """One line a command; what the shell computes stands in angle brackets."""
    return [
        " ".join(word.text if word.literal else f"<{word.text}>" for word in words)
        for words in simple_commands(command)
    ]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("ls", ["ls"]),
        ("", []),
        ("# only a comment", []),
        ("FOO=1 BAR=2", []),
        ("FOO=1 ls", ["ls"]),
        ("a && b || c; d & e | f |& g", ["a", "b", "c", "d", "e", "f", "g"]),
        ("(a; b) ; { c; }", ["a", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("for i in 1 2; do echo x; done", ["echo x"]),
        ("case $x in a) b;; *) c;; esac", ["b", "c"]),
        ("f() { git push -f; }; f", ["git push -f", "f"]),
        ("! a", ["a"]),
        ("echo $(rm x) `rm y` <(rm z)", ["echo <$(rm x)> <`rm y`> <<(rm z)>", "rm x", "rm y", "rm z"]),
        ("x=$(rm a)", ["rm a"]),
        ('echo "${x:-$(rm a)}"', ['echo <"${x:-$(rm a)}">', "rm a"]),
        ("cat <<EOF\n$(rm x)\nEOF", ["cat", "rm x"]),
        ("cat <<'EOF'\n$(rm x)\nEOF", ["cat"]),
        ("python - <<'EOF'\nx = 1\nEOF", ["python -"]),
        ("cat <<EOF > out.txt\nx\nEOF", ["cat"]),
        ("[ -f a ] && [[ $(b) == c ]]", ["[ -f a ]", "[[ <$(b)> == c ]]", "b"]),
        ("export A=$B C=d; unset E", ["export <A=$B> C=d", "unset E"]),
        # words
        ("git \"pu\"s'h' \\-f", ["git push -f"]),
        ("echo $'\\x2df' $'a\\tb' $\"c\"", ["echo -f a\tb c"]),
        ('echo "a \\"b\\" \\$c"', ['echo a "b" $c']),
        ("git \\\n  push", ["git push"]),
        ("echo $X a$X ${X}", ["echo <$X> <a$X> <${X}>"]),
        ("echo {a,b} {1..3} HEAD@{1} {}", ["echo <{a,b}> <{1..3}> HEAD@{1} {}"]),
        ("ls *.py ~/x", ["ls *.py ~/x"]),
        # redirections
        ("a 2>&1 > out | tee b", ["a", "tee b"]),
        ("git push > log --force", ["git push --force"]),
        ("a && git push > log --force", ["a", "git push --force"]),
        ("> out ls -l", ["ls -l"]),
        ("< in cat x", ["cat x"]),
        ("git push <<EOF > log --force\nEOF", ["git push --force"]),
        # wrappers
        ("sudo -u root ls", ["sudo -u root ls", "ls"]),
        ("sudo -nE -- ls -l", ["sudo -nE -- ls -l", "ls -l"]),
        ("sudo --unknown x ls", ["sudo --unknown x ls"]),
        ("sudo -l", ["sudo -l"]),
        ("env -i A=b ls", ["env -i A=b ls", "ls"]),
        ("env", ["env"]),
        ("timeout -k 3 5 ls", ["timeout -k 3 5 ls", "ls"]),
        ("timeout --signal=KILL 5 ls", ["timeout --signal=KILL 5 ls", "ls"]),
        ("time -p ls", ["time -p ls", "ls"]),
        ("nice -n 5 ls; nice -5 ls", ["nice -n 5 ls", "ls", "nice -5 ls", "ls"]),
        ("nohup setsid ls", ["nohup setsid ls", "setsid ls", "ls"]),
        ("command -v ls", ["command -v ls"]),
        ("command ls", ["command ls", "ls"]),
        ("xargs -0 -n1 git push", ["xargs -0 -n1 git push", "git push <…>"]),
        ("bash -lc 'a; b'", ["bash -lc a; b", "a", "b"]),
        ("/bin/sh -c 'a'", ["/bin/sh -c a", "a"]),
        ('bash -c "$X"', ['bash -c <"$X">']),
        ("bash script.sh -c 'a'", ["bash script.sh -c a"]),
        ("eval 'git push' -f", ["eval git push -f", "git push -f"]),
        ("find . -exec rm {} \\; -exec ls {} +", ["find . -exec rm {} ; -exec ls {} +", "rm <{}>", "ls <{}>"]),
        ("uv run pytest -q", ["uv run pytest -q", "pytest -q"]),
        ("uv sync", ["uv sync"]),
        (["bash", "-lc", "a; b"], ["bash -lc a; b", "a", "b"]),
    ],
)
def test_every_simple_command_is_seen(text: Any, commands: list[str]) -> None:
    assert shown(text) == commands


@pytest.mark.parametrize(
    "text",
    ["if", "echo 'x", "a &&", "exec 3<>/dev/tcp/a/1", "ls\0", "$(", "bash -c 'if'", "x" * 1_000_001, None, 5, [], [1],
     "sudo " * 20 + "ls"],
)  # fmt: skip
def test_what_cannot_be_read_is_missing_evidence(text: Any) -> None:
    with pytest.raises(ValueError, match="unreadable command"):
        runs(text, "ls")


FORCE = ["git push ** --force **", "git push ** -f **"]


@pytest.mark.parametrize(
    ("command", "patterns", "expected"),
    [
        ("git push --force", FORCE, True),
        ("git push origin main -f", FORCE, True),
        ("cd x && git push -f origin", FORCE, True),
        ("git push >log -f", FORCE, True),
        ("bash -c 'git push -f'", FORCE, True),
        ("echo $(git push -f)", FORCE, True),
        ("/usr/bin/git push -f", FORCE, True),
        ("./git push -f", FORCE, False),
        ("git push origin --force-with-lease", FORCE, False),
        ("echo 'git push -f'", FORCE, False),
        ("git push $FLAG", FORCE, False),
        ("git push origin", FORCE, False),
        ("pytest", "pytest **", True),
        ("pytest -q tests/a.py", "pytest **", True),
        ("python -m pytest -q", ["pytest **", "python -m pytest **"], True),
        ("rm a/b", "rm *", True),
        ("rm", "rm *", False),
        ("rm a b", "rm *", False),
        ("rm $X", "rm *", True),
        ("rm a/b", "rm a*", False),
        ("rm a/b", "rm a/*", True),
        ("rm a/b", "rm */*", True),
        ("rm abc", "rm a*c", True),
        ("rm ac", "rm a*b*c", False),
        ("rm aba", "rm ab*ba", False),
        ("a b c d", "a ** c **", True),
        ("a", "** ** a **", True),
        ("a b", "** ** c", False),
        ("", "**", False),
        ("ls", [], False),
    ],
)
def test_a_command_matches_word_by_word(command: str, patterns: Any, expected: bool) -> None:
    assert runs(command, patterns) is expected


@pytest.mark.parametrize("patterns", ["", "  ", [""], [1], None, 5])
def test_patterns_are_texts(patterns: Any) -> None:
    with pytest.raises(ValueError, match="pattern"):
        runs("ls", patterns)


PARTS = ["echo", " ", ";", "&&", "|", "$(", ")", "'", '"', "`", "\\", "\n",
         "<<EOF", "{", "}", "${", ">", "x", "if", "fi", "$", "é", "\0"]  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(PARTS), st.text(st.characters(), max_size=3)), max_size=15).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        commands = simple_commands(text)
    except ValueError:
        with pytest.raises(ValueError, match="unreadable command"):
            simple_commands(text)
    else:
        assert all(commands)


@pytest.mark.parametrize("text", [
    "$(" * 50_000, "a;" * 50_000, "(" * 50_000,
    "echo " + "a " * 100_000, "$(echo " * 10_000 + ")" * 10_000, "{" * 50_000,
    "echo '" * 50_000, "a|" * 50_000 + "b", "bash -c " * 3000, "echo {" * 20_000, "cat <<A\n" * 10_000, "eval " * 5000,
])  # fmt: skip
def test_time_is_linear_in_the_text(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(ValueError):
        runs(text, ["** b ** c ** d", "*a*b*"])
    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["{\U000c78f3", "{\U0010ffff", "echo {1..\U0010ffff}", "echo {\U0003fffd,b}"])
def test_no_character_ends_the_process(text: str) -> None:
    told = ""
    with contextlib.suppress(ValueError):
        told = str(runs(text, "echo **"))
    assert told in {"", "True", "False"}


def test_words_beyond_ascii_are_read_as_they_are() -> None:
    assert runs("echo 退款 é", "echo 退款 é")

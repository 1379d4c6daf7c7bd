"""Doubts about patterns of commands."""

from __future__ import annotations

from collections.abc import Iterator
from re import compile as linear_pattern

from outstep.battery.lint.base import Doubt
from outstep.battery.lint.hosts import host_doubts

_QUOTED = linear_pattern(r"'[^']*'|\"[^\"]*\"|\\\\.")
_OPERATOR = linear_pattern(r"[;|&<>\n]")
_EXPANSION = linear_pattern(r"`|\$\(|\$\{?\w+")
_URL = linear_pattern(r"(?:^|\s)https?://([^\s/:]+)")

_INTERPRETERS = """
sh bash dash zsh ksh fish ash csh tcsh python python2 python3 pypy pypy3 node nodejs deno bun perl ruby php lua
tclsh osascript pwsh powershell awk gawk mawk nawk eval source . make just npx pnpx bunx uvx pipx
"""
_WRAPPERS = """
env sudo doas su xargs find fd nohup nice ionice timeout time setsid stdbuf exec command builtin parallel watch
ssh docker podman kubectl chroot unshare nsenter flock script strace ltrace gdb tmux screen at batch crontab
systemd-run runuser busybox entr uv poetry pipenv
"""
_FILE_TOOLS = """
cat head tail less more tac nl od xxd strings grep egrep fgrep rg ag sed sort uniq cut wc diff cmp ls tree stat
file cp mv rm ln dd tee tar zip unzip gzip rsync install chmod chown chgrp touch mkdir truncate shred vi vim nano
ed emacs base64 sha256sum md5sum jq
"""
_NETWORK_TOOLS = """
curl wget nc ncat netcat socat scp sftp ftp telnet ping dig nslookup host nmap aria2c
"""
INTERPRETERS = frozenset(_INTERPRETERS.split())
"""Programs that run what they are given."""
WRAPPERS = frozenset(_WRAPPERS.split())
"""Programs that can run another command."""
FILE_TOOLS = frozenset(_FILE_TOOLS.split())
"""Programs whose operands are files."""
NETWORK_TOOLS = frozenset(_NETWORK_TOOLS.split())
SPEAKERS = frozenset(("echo", "printf"))


def doubts(scope: str) -> Iterator[Doubt]:
    """Yield what is doubtful about a pattern."""
    if found := _OPERATOR.search(_QUOTED.sub("", scope)) or _EXPANSION.search(scope):
        sign = found.group().strip() or "a line end"
        sentence = f"`{sign}` joins or expands commands, and a scope is one plain command: it can never match"
        yield Doubt("dead-rule", sentence, "write a rule for each command; what a redirect writes has a file rule")
        return
    if len(_QUOTED.sub("", scope)) != len(_QUOTED.sub("", scope).replace("'", "").replace('"', "")):
        yield Doubt("dead-rule", "a quote is never closed: the scope can never match", "close it, or leave it out")
        return
    words = scope.split()
    program = words[0] if words else ""
    if "*" in program:
        yield from _any_program(scope, program)
        return
    for found in _URL.finditer(scope):
        yield from host_doubts(found.group(1))
    has_free_rest = words[-1] == "*"
    yield from _wrapped(scope, words, has_free_rest=has_free_rest)


def _any_program(scope: str, program: str) -> Iterator[Doubt]:
    if scope in ("*", "**", "* *"):
        yield Doubt(
            "unbounded", f"`{scope}` is every command there is", "name the commands that are meant: `ls workspace/*`"
        )
    else:
        yield Doubt("unbounded", f"`{program}` as the program is any of many", "name the program")


def _wrapped(scope: str, words: list[str], *, has_free_rest: bool) -> Iterator[Doubt]:
    program = words[0].rpartition("/")[2]
    operands = [word for word in words[1:] if not word.startswith("-")]
    is_first_free = operands[:1] in (["*"], ["**"])
    if program in INTERPRETERS and is_first_free:
        sentence = f"`{program}` runs whatever program it is given: `{scope}` allows anything"
        yield Doubt("interpreter", sentence, f"name the script and its arguments: `{program} workspace/check`")
    elif program in WRAPPERS and (is_first_free or (has_free_rest and program not in ("find", "fd"))):
        sentence = f"`{program}` can run any other command: `{scope}` means little"
        yield Doubt("wrapper", sentence, "write rules for the commands that are meant, without what wraps them")
    elif not has_free_rest or len(words) > 2:
        return
    elif program == "git":
        sentence = f"`{scope}` is every git command: push, settings and hooks with them"
        yield Doubt("unbounded", sentence, "name the commands: `git status`, `git diff *`")
    elif program in FILE_TOOLS:
        sentence = f"`{scope}` names no file: `{program}` may touch every file of the machine"
        yield Doubt("free-rest", sentence, f"name what it may touch: `{program} workspace/*`")
    elif program in NETWORK_TOOLS:
        sentence = f"`{scope}` names no host: `{program}` may reach every host there is"
        yield Doubt("free-rest", sentence, "give the agent `http_get` with a rule for the host")
    elif program in SPEAKERS:
        sentence = f"`{scope}` prints anything: globs list any folder, and what is printed can go to the next command"
        yield Doubt("free-rest", sentence, f"name what it may say: `{program} workspace/*`")

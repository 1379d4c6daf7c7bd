"""Doubts about patterns of paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from re import compile as linear_pattern

from outstep.battery.lint.base import Doubt
from outstep.scope.paths.patterns import path_pattern

_CLASS = linear_pattern(r"(?<!\\)\[[^\]/]+\]")
_SCHEME = linear_pattern(r"[A-Za-z][A-Za-z0-9+.-]*://")


def doubts(scope: str) -> Iterator[Doubt]:
    """Yield what is doubtful about a pattern."""
    if _SCHEME.match(scope):
        yield Doubt(
            "dead-rule", "the scope is a URL, and the tool's target is a path: it can never match", "name a path"
        )
        return
    if found := _CLASS.search(scope):
        inner = found.group()[1:-1]
        sentence = f"`[{inner}]` stands for one character of `{inner}`, not for a name in brackets"
        yield Doubt(
            "character-class", sentence, f"for the name write `\\[{inner}\\]`; for one of several, a rule for each"
        )
    parts = _collapsed(scope)
    if scope == "*":
        sentence = "`*` is every file of the working directory itself, and none below"
        yield Doubt("unbounded", sentence, "name the folder that is meant: `workspace/**`")
    elif _is_rooted_wide(scope, parts):
        yield Doubt("unbounded", f"`{scope}` reaches every folder of the machine", _NARROWER)
    elif parts == ["**"] and not scope.startswith("./"):
        sentence = f"`{scope}` is everything below the working directory"
        yield Doubt("unbounded", sentence, f"{_NARROWER}; write `./**` if all of it is")
    elif parts == ["~", "**"]:
        sentence = f"`{scope}` is everything below the home directory, keys and settings with it"
        yield Doubt("unbounded", sentence, _NARROWER)
    elif scope.endswith("/"):
        sentence = f"`{scope}` is the folder itself, and nothing in it"
        yield Doubt("dead-rule", sentence, f"write `{scope}**` for everything below it")


def protected_by(scope: str, protected: Sequence[str], cwd: str) -> str:
    """Return the protected pattern in which all that a scope matches lies, or nothing."""
    # Any name will do for what a wildcard stands for: a protected pattern that wants a certain one does not cover it.
    example = scope.replace("**", "a/b").replace("*", "a")
    path = path_pattern(example, cwd).spelled
    return next((pattern for pattern in protected if path_pattern(pattern, cwd).matches(path)), "")


_NARROWER = "name the folder that is meant: `workspace/**`"


def _is_rooted_wide(scope: str, parts: list[str]) -> bool:
    """Return whether a pattern can begin at any folder of the machine."""
    climbs = parts[:1] == [".."]
    if not (scope.startswith("/") or climbs):
        return False
    named = [part for part in parts if part != ".."]
    return not named or "*" in named[0]


def _collapsed(scope: str) -> list[str]:
    """Return the parts of a path, `.` and inner `..` resolved."""
    parts: list[str] = []
    for part in scope.split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "**"):
            parts.pop()
        elif part not in ("", ".") and not (part == ".." and scope.startswith("/") and not parts):
            parts.append(part)
    return parts

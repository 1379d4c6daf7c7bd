"""Which targets a call has: every argument that names a path, a command, a URL or a host.

docs: docs/scope.md, section *Targets*
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from outstep.scope import names
from outstep.scope.arguments import read_arguments
from outstep.scope.harnesses import TOOLS, ToolMap
from outstep.scope.model import Access, Target, TargetKind

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_FILES: Final = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]+://", re.IGNORECASE)
_PATCHED: Final = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_DEEPEST: Final = 8
_MOST: Final = 10_000

Declared = Mapping[str, Sequence[str]]
"""Kind of target (path, command, url, host) to the arguments that hold one."""


def targets_of(
    tool: str, args: Any, declared: Declared | None = None, *, effect: Access | None = None
) -> list[Target] | None:
    """Return the targets of a call in the order of its arguments; none when its arguments cannot be read.

    `declared` adds to the bundled names and outweighs them; `effect` says what the tool does with its paths where it
    is known. An argument that is null is not there.
    """
    given = read_arguments(args)
    if given is None:
        return None
    known = TOOLS.get(tool) or _NOTHING
    access = effect or known.effect or effect_of(tool)
    found: list[Target] = []
    own = _declared_names(declared)
    _collect(given, tool, known, own, access, found, 0)
    if tool == "apply_patch" or (isinstance(given.get("input"), str) and "*** Begin Patch" in given["input"]):
        text = given.get("input") or given.get("patch") or ""
        found += [Target("path", path.strip(), "write", "patch") for path in _PATCHED.findall(str(text))]
    folder = next((each for each in found if each.kind == "folder" and isinstance(each.value, str)), None)
    if folder is None:
        return found
    return [
        each if each is folder else Target(each.kind, each.value, each.access, each.argument, folder.value)
        for each in found
    ]


@lru_cache(maxsize=1024)
def effect_of(tool: str) -> Access:
    """Return what a tool does with paths, judged by its name: read, write, or both where the name does not say."""
    words = _name(tool.rpartition("__")[2]).split("_")
    reads = any(word in names.READING for word in words)
    writes = any(word in names.WRITING for word in words)
    return "read" if reads and not writes else "write" if writes and not reads else "both"


_NOTHING: Final = ToolMap()


def _declared_names(declared: Declared | None) -> dict[str, TargetKind]:
    return {_name(argument): kind for kind, listed in (declared or {}).items() for argument in listed}  # type: ignore[misc]


def _collect(
    given: Mapping[str, Any],
    tool: str,
    known: ToolMap,
    own: dict[str, TargetKind],
    access: Access,
    found: list[Target],
    depth: int,
) -> None:
    for argument, value in given.items():
        if value is None or len(found) > _MOST:
            continue
        kind, reach = _kind(argument, tool, known, own, access)
        if kind == "sandbox":
            if not _is_modest(argument, value):
                found.append(Target("sandbox", value, "call", argument))
        elif kind is not None:
            _add(kind, value, reach, argument, found)
        elif depth < _DEEPEST:
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, Mapping):
                    _collect(item, tool, known, own, access, found, depth + 1)


def _add(kind: TargetKind, value: Any, access: Access, argument: str, found: list[Target]) -> None:
    if kind == "folder" and value == "":
        return
    words = kind == "command" and isinstance(value, list | tuple) and _name(argument) in ("command", "cmd", "argv")
    if isinstance(value, list | tuple) and not words:
        for item in value:
            _add(kind, item, access, argument, found)
    elif isinstance(value, Mapping) and kind in ("path", "url", "host"):
        found.extend(_within(kind, value, access, argument))
    elif kind == "path" and isinstance(value, str) and _NOT_FILES.match(value):
        found.append(Target("url", value, "fetch", argument))
    elif (
        kind == "url" and isinstance(value, str) and _name(argument) in ("uri", "uris") and value[:5].lower() == "file:"
    ):
        found.append(Target("path", value, access, argument))
    elif kind == "url" and _name(argument) in names.PROXIES and value in ("", False):
        return
    else:
        found.append(Target(kind, list(value) if words else value, access, argument))


def _within(kind: TargetKind, value: Mapping[str, Any], access: Access, argument: str) -> list[Target]:
    """Return the targets in an object: `proxies: {http: …}`, `files: {path: …}`."""
    found: list[Target] = []
    for inner in value.values():
        _add(kind, inner if isinstance(inner, str) else str(type(inner)), access, argument, found)
    return found or [Target(kind, dict(value), access, argument)]


def _kind(
    argument: str, tool: str, known: ToolMap, own: dict[str, TargetKind], access: Access
) -> tuple[TargetKind | None, Access]:
    name = _name(argument)
    if own and name in own:
        kind = own[name]
        return kind, access if kind == "path" else _ACCESS.get(kind, "call")
    if argument in known.none:
        return None, "call"
    if argument in known.folders:
        return "folder", "call"
    if argument in known.globs:
        return "path", "read"
    if argument in known.paths:
        return "path", known.paths[argument]
    kind_by_name = _BY_NAME.get(name)
    if kind_by_name == "path":
        return "path", access
    if kind_by_name is None and name in names.MAYBE_PATHS and any(word in tool.lower() for word in names.FILE_WORDS):
        return "path", access
    return kind_by_name, _ACCESS.get(kind_by_name, "call")


_BY_NAME: Final[dict[str, TargetKind]] = {
    **dict.fromkeys(names.PATHS, "path"),
    **dict.fromkeys(names.FOLDERS, "folder"),
    **dict.fromkeys(names.URLS, "url"),
    **dict.fromkeys(names.PROXIES, "url"),
    **dict.fromkeys(names.HOSTS, "host"),
    **dict.fromkeys(names.COMMANDS, "command"),
    **dict.fromkeys(names.SANDBOX, "sandbox"),
}
_ACCESS: Final[dict[TargetKind | None, Access]] = {"command": "run", "url": "fetch", "host": "fetch"}


def _is_modest(argument: str, value: Any) -> bool:
    allowed = names.SANDBOX[_name(argument)]
    return isinstance(value, str | bool) and value in allowed


@lru_cache(maxsize=4096)
def _name(argument: str) -> str:
    if argument.islower() and "-" not in argument:
        return argument.lstrip("_")
    return _CAMEL.sub("_", argument).replace("-", "_").lower().lstrip("_")

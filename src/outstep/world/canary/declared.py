"""What an agent is told of a canary tool: description, arguments, effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outstep.world.given import Given
from outstep.world.tools import Tool

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 0}
_DECLARED: dict[str, tuple[str, tuple[str, ...], dict[str, dict[str, Any]]]] = {
    "file_read": ("Read a file and return its text.", ("path",), {"path": _TEXT}),
    "file_write": (
        "Write text to a file; what was there is replaced, and folders are made.",
        ("path", "content"),
        {"path": _TEXT, "content": _TEXT},
    ),
    "shell_exec": ("Run a command of the shell and return what it prints.", ("command",), {"command": _TEXT}),
    "git": ("Run a command of git, as `git status`.", ("command",), {"command": _TEXT}),
    "http_get": ("Fetch a URL.", ("url",), {"url": _TEXT, "headers": {"type": "object"}}),
    "http_post": ("Send a body to a URL.", ("url",), {"url": _TEXT, "body": {}, "headers": {"type": "object"}}),
    "package_install": ("Install a package.", ("package",), {"package": _TEXT, "index": _TEXT}),
    "email_send": ("Send a mail.", ("to",), {"to": {}, "subject": _TEXT, "body": _TEXT}),
    "mail_read": ("Read a mail of the inbox; 0 is the newest.", (), {"index": _NUMBER}),
    "subagent": ("Give a task to a helper and return its report.", ("task",), {"task": _TEXT}),
}
KNOWN = tuple(_DECLARED)
"""Tools that act; any other one answers what its scenario prepares."""
_READ = ("read", "get", "search", "status", "list", "weather")


def declared_tool(name: str, given: Given, targets: Mapping[str, Sequence[str]]) -> Tool:
    """Return a tool; of one that nobody knows, the arguments are those that the scenario speaks of."""
    if name in _DECLARED:
        description, required, properties = _DECLARED[name]
    else:
        description, required, properties = name.rpartition("__")[2].replace("_", " "), (), {}
    properties = dict(properties)
    for reply in given.replies:
        if reply.tool == name:
            properties.update({arg: {} for arg in reply.args if arg not in properties})
    for arguments in targets.values():
        properties.update({arg: {} for arg in arguments if arg not in properties})
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = list(required)
    last = name.rpartition("__")[2]
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        effect="read" if any(word in last for word in _READ) else "write",
        targets={kind: tuple(arguments) for kind, arguments in targets.items()},
    )

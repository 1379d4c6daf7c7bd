"""What the checks of scopes share."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from outstep.scope.harnesses import TOOLS

Kinds = tuple[str, ...]


class Doubt(Struct, frozen=True):
    """Why a scope is probably not what was meant."""

    code: str
    sentence: str
    help: str = ""


def kinds_of(tool: str, declared: Mapping[str, tuple[str, ...]] | None) -> Kinds:
    """Return which kinds of targets the calls of a tool have, as far as its name or its declaration tells."""
    if declared is not None:
        return tuple(declared)
    known = TOOLS.get(tool)
    if known is not None and (known.shell or known.effect):
        return ("command",) if known.shell else ("path",)
    name = tool.rpartition("__")[2].lower()
    return next((kinds for words, kinds in _BY_NAME if name in words), ())


_PATHS = "file_edit file_list edit_file view"
_COMMANDS = "shell_exec exec sh run_command execute_command terminal"
_URLS = """
http_get http_post http_put http_delete http_request fetch web_fetch webfetch browse open_url
"""
_BY_NAME: tuple[tuple[frozenset[str], Kinds], ...] = (
    (frozenset(_PATHS.split()), ("path",)),
    (frozenset(_COMMANDS.split()), ("command",)),
    (frozenset(_URLS.split()), ("url",)),
)
"""Tools of nobody in particular, whose names say what they touch."""

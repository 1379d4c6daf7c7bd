"""What the checks of scopes share."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

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
    name = tool.rpartition("__")[2].lower()
    return next((kinds for words, kinds in _BY_NAME if name in words), ())


_PATHS = """
file_read file_write file_edit file_delete file_list read write edit ls glob grep read_file write_file edit_file
list_directory view notebookedit multiedit str_replace_editor apply_patch
"""
_COMMANDS = """
shell_exec shell exec bash sh run_command run_shell_command execute_command terminal bash-persistent local_shell
exec_command
"""
_URLS = """
http_get http_post http_put http_delete http_request fetch web_fetch webfetch browse open_url
"""
_BY_NAME: tuple[tuple[frozenset[str], Kinds], ...] = (
    (frozenset(_PATHS.split()), ("path",)),
    (frozenset(_COMMANDS.split()), ("command",)),
    (frozenset(_URLS.split()), ("url",)),
)

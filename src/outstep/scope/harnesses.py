"""Tools of known harnesses whose arguments need more than their names: data.

dsh 1.x, Claude Code 2.x, Codex CLI 0.4x, Gemini CLI 0.1x, Qwen Code, OpenHands, as their documentation lists the tools.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from outstep.scope.model import Access


class ToolMap(Struct, frozen=True):
    """What is known of one tool."""

    paths: dict[str, Access] = {}
    """Arguments that are paths although their names do not say so, or with an access of their own."""
    effect: Access | None = None
    folders: tuple[str, ...] = ()
    none: tuple[str, ...] = ()
    """Arguments whose names look like targets and are none."""
    shell: Literal["", "stateless", "persistent"] = ""
    globs: tuple[str, ...] = ()
    """Patterns of file names, whose folder counts."""


_READ: Final = ToolMap(effect="read")
_WRITE: Final = ToolMap(effect="write")

TOOLS: Final[dict[str, ToolMap]] = {
    # dsh: `bash` starts anew with each call, `bash-persistent` does not.
    "bash": ToolMap(shell="stateless", none=("file", "source")),
    "bash-persistent": ToolMap(shell="persistent"),
    "read": _READ, "write": _WRITE, "edit": _WRITE, "ls": _READ,
    "grep": ToolMap(effect="read", globs=("include",)),
    "glob": ToolMap(effect="read", globs=("pattern",)),
    "file_read": _READ, "file_write": _WRITE, "file_append": _WRITE, "file_delete": _WRITE,
    # Claude Code: the working directory of Bash stays; a session can reset it.
    "Bash": ToolMap(shell="persistent"),
    "Read": _READ, "Write": _WRITE, "Edit": _WRITE, "MultiEdit": _WRITE, "NotebookEdit": _WRITE,
    "Grep": ToolMap(effect="read", globs=("glob",)),
    "Glob": ToolMap(effect="read", globs=("pattern",)),
    "LS": _READ, "WebFetch": ToolMap(), "WebSearch": ToolMap(none=("allowed_domains", "blocked_domains")),
    # Codex CLI
    "shell": ToolMap(shell="stateless"), "exec_command": ToolMap(shell="stateless"),
    "local_shell": ToolMap(shell="stateless"), "apply_patch": ToolMap(effect="write"), "view_image": _READ,
    # Gemini CLI, Qwen Code
    "run_shell_command": ToolMap(shell="stateless", folders=("directory", "dir_path")),
    "read_file": _READ, "read_many_files": ToolMap(effect="read", globs=("include",)), "write_file": _WRITE,
    "replace": _WRITE, "list_directory": _READ, "search_file_content": _READ,
    # OpenHands and SWE-agent
    "str_replace_editor": ToolMap(effect="both"), "execute_bash": ToolMap(shell="persistent"),
    # MCP filesystem server
    "move_file": ToolMap(paths={"source": "both", "destination": "write"}),
    "read_text_file": _READ, "read_media_file": _READ, "read_multiple_files": _READ, "edit_file": _WRITE,
    "create_directory": _WRITE, "list_directory_with_sizes": _READ, "directory_tree": _READ, "search_files": _READ,
    "get_file_info": _READ,
}  # fmt: skip

NEEDS_TARGET: Final = frozenset(
    {
        *("file_read", "file_write", "file_append", "file_delete", "shell_exec", "http_get", "http_post"),
        *("read", "write", "edit", "bash", "bash-persistent"),
        *("Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "WebFetch"),
        *("shell", "exec_command", "local_shell", "view_image", "run_shell_command", "execute_bash"),
        *("read_file", "write_file", "replace", "read_text_file", "read_media_file", "edit_file", "create_directory"),
    }
)
"""Tools that do nothing without a path, a command or a URL: a call that names none was not understood."""

"""What the arguments of tools are called, in every harness: data.

Names are compared in lower case with words joined by `_`: `filePath`, `file-path` and `file_path` are one.
"""

from __future__ import annotations

from typing import Final

PATHS: Final = frozenset(
    ("path", "paths", "file", "file_path", "file_paths", "filepath", "filepaths", "filename", "file_name", "filenames",
     "dir", "dir_path", "dirs", "directory", "directories", "directory_path", "folder", "folder_path", "folders",
     "old_path", "new_path", "source_path", "src_path", "destination_path", "dest_path", "target_path", "target_file",
     "from_path", "to_path", "source_file", "destination_file", "notebook_path", "absolute_path", "abs_path",
     "relative_path", "relative_workspace_path", "output_path", "output_file", "input_path", "input_file",
     "input_paths", "input_files", "image_path", "local_path", "link_path", "save_path", "download_path", "log_path",
     "log_file", "config_path", "config_file", "root_path", "base_path", "repo_path", "project_path", "workspace_path",
     "realpath", "real_path", "files_to_edit", "include_files")
)  # fmt: skip

MAYBE_PATHS: Final = frozenset(("source", "destination", "src", "dst", "dest", "from", "to", "target", "old", "new",
                                "files", "link", "link_name"))  # fmt: skip
"""Paths in tools whose name speaks of files; elsewhere words like any other."""

FOLDERS: Final = frozenset(("cwd", "workdir", "work_dir", "working_dir", "working_directory", "chdir", "current_dir"))
"""Where a call wants to be; nothing is read or written there yet."""

URLS: Final = frozenset(
    ("url", "urls", "uri", "uris", "href", "endpoint", "endpoint_url", "base_url", "baseurl", "api_url", "server_url",
     "target_url", "remote_url", "repo_url", "repository_url", "image_url", "image_urls", "upload_url", "download_url",
     "source_url", "destination_url", "start_url", "page_url", "final_url", "referer_url", "callback", "callback_url",
     "callback_uri", "redirect_uri", "redirect_url", "webhook", "webhook_url", "post_url", "submit_url", "feed_url")
)  # fmt: skip

PROXIES: Final = frozenset(("proxy", "proxies", "proxy_url", "http_proxy", "https_proxy", "all_proxy", "proxy_server"))
"""URLs that may be written without a scheme."""

HOSTS: Final = frozenset(("host", "hosts", "hostname", "hostnames", "remote_host", "target_host", "host_name", "ip",
                          "ip_address", "ip_addresses", "smtp_host", "proxy_host", "domain", "domains",
                          "allowed_domains"))  # fmt: skip

COMMANDS: Final = frozenset(("command", "commands", "cmd", "cmds", "command_line", "commandline", "shell_command",
                             "bash_command", "argv"))  # fmt: skip

SANDBOX: Final[dict[str, frozenset[object]]] = {
    "sandbox_permissions": frozenset((None, "", "default", "read-only", "workspace-write", "use_default", "sandboxed")),
    "sandbox_mode": frozenset((None, "", "default", "read-only", "workspace-write")),
    "with_escalated_permissions": frozenset((None, False, "")),
    "dangerously_disable_sandbox": frozenset((None, False, "")),
    "disable_sandbox": frozenset((None, False, "")),
    "require_escalated": frozenset((None, False, "")),
    "escalate": frozenset((None, False, "")),
}
"""Arguments that ask to widen the sandbox, and the values with which they do not."""

FILE_WORDS: Final = ("file", "path", "dir", "folder", "move", "copy", "rename", "symlink", "mv", "cp")
"""What the name of a tool says that moves or links files."""

READING: Final = ("read", "view", "list", "ls", "cat", "open", "get", "search", "grep", "glob", "find", "show", "stat",
                  "tree", "head", "tail", "download", "fetch", "load", "inspect", "describe", "diff")  # fmt: skip
WRITING: Final = ("write", "edit", "create", "append", "delete", "remove", "replace", "patch", "save", "insert",
                  "update", "mkdir", "touch", "truncate", "put", "upload", "export", "move", "rename", "copy", "chmod",
                  "multi_edit", "multiedit", "unlink", "str_replace")  # fmt: skip

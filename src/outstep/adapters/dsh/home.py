"""The newest session in the folder where dsh keeps them, with its sub-agents."""

from __future__ import annotations

import os
from collections.abc import Iterator

from outstep.adapters.base import Document
from outstep.adapters.dsh.records import Head
from outstep.adapters.dsh.storage import LOG_NAME
from outstep.adapters.dsh.text import TextLog


def newest_session(home: str) -> list[str]:
    """Return the logs of the family of sessions that was written to last; none where there is none."""
    logs = sorted((os.stat(path).st_mtime_ns, path) for path in _logs(os.path.join(home, "sessions")))
    while logs:
        _, newest = logs.pop()
        family = _family(newest)
        if family:
            return family
    return []


def _logs(folder: str) -> Iterator[str]:
    """Yield every log: `sessions/--<cwd>--/<id>/session[.vN].jsonl[.zstd]`."""
    for of_cwd in _folders(folder):
        for of_session in _folders(of_cwd):
            yield from _logs_in(of_session)


def _logs_in(folder: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(folder) if LOG_NAME.fullmatch(entry.name) and entry.is_file()]
    except OSError:
        return []


def _folders(folder: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []


def _family(newest: str) -> list[str]:
    """Return the logs of the root above a log and of everything below it; none where the log cannot be read."""
    heads: dict[str, Head] = {}
    logs: dict[str, list[str]] = {}
    for folder in _folders(os.path.dirname(os.path.dirname(newest))):
        for path in _logs_in(folder):
            head = TextLog(Document(path, path)).head()
            if isinstance(head, Head):
                heads[head.id] = head
                logs.setdefault(head.id, []).append(path)
    root = next((id for id, paths in logs.items() if newest in paths), None)
    seen: set[str] = set()
    while root is not None and root not in seen and heads[root].parent_session in heads:
        seen.add(root)
        root = heads[root].parent_session
    return sorted(path for id, paths in logs.items() if _is_below(id, root, heads) for path in paths)


def _is_below(id: str, root: str | None, heads: dict[str, Head]) -> bool:
    seen: set[str] = set()
    at: str | None = id
    while at is not None and at in heads and at not in seen:
        if at == root:
            return True
        seen.add(at)
        at = heads[at].parent_session
    return False

"""The boundary of a contract's kind `scope`: what calls may read, write, run and fetch.

docs: docs/kinds/scope.md
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from outstep.scope.commands.judging import UNKNOWN, kind_of
from outstep.scope.commands.running import RunLimit
from outstep.scope.limits import PathLimit, UrlLimit, at, path_limit, url_limit
from outstep.scope.model import Access, Judgement, Surroundings, Target

ACCESSES: Final = ("read", "write", "run", "fetch")


class Boundary(Struct, frozen=True, kw_only=True):
    """Patterns for each access; none: not restricted."""

    read: tuple[str, ...] | None = None
    write: tuple[str, ...] | None = None
    run: tuple[str, ...] | None = None
    fetch: tuple[str, ...] | None = None
    outside: tuple[str, ...] = ()
    """Which of them are exceptions: targets have to lie outside of them."""

    def judge(self, targets: Iterable[Target], around: Surroundings, base: Surroundings) -> list[Judgement]:
        """Return one judgement for each target, and for each path, URL and simple command within a command.

        `base` is where relative patterns lie: the working directory of the session. Its `cwd` is empty where none was
        recorded; absolute paths are then undecided where a relative pattern might hold them.
        """
        return _fence(self, base).judge(targets, around)


@lru_cache(maxsize=64)
def _fence(boundary: Boundary, base: Surroundings) -> _Fence:
    return _Fence(boundary, base)


class _Fence:
    def __init__(self, boundary: Boundary, base: Surroundings) -> None:
        self._known = bool(base.cwd)
        if not base.cwd:
            base = replace(base, cwd=UNKNOWN)
        self._base = base
        self._boundary = boundary
        self._paths = {access: self._path_limit(access) for access in ("read", "write")}
        fetch = boundary.fetch
        self._urls: UrlLimit | None = None if fetch is None else url_limit(fetch, outside="fetch" in boundary.outside)

    def judge(self, targets: Iterable[Target], around: Surroundings) -> list[Judgement]:
        if not around.cwd:
            around = replace(around, cwd=UNKNOWN)
        found: list[Judgement] = []
        for target in targets:
            inside = around
            if target.folder is not None and target.kind != "folder":
                inside = _moved(around, target.folder)
            found += self._target(target, inside)
        return found

    def path(self, text: str, access: Access, around: Surroundings, argument: str) -> list[Judgement]:
        """Judge a path for each access that is restricted; one judgement, the first that is not contained."""
        accesses = ("read", "write") if access == "both" else (access,)
        limits = [limit for each in accesses if (limit := self._paths.get(each)) is not None]
        judged = [self._one(limit, text, access, around, argument) for limit in limits]
        return [next((each for each in judged if each.verdict != "contained"), judged[0])] if judged else []

    def url(self, text: str, argument: str, kind: Any = "url") -> list[Judgement]:
        """Judge a URL or a host, where fetching is restricted."""
        scheme = "http" if "prox" in argument.lower() else ""
        return [] if self._urls is None else [self._urls.judge(text, kind, argument, scheme=scheme)]

    def _target(self, target: Target, around: Surroundings) -> list[Judgement]:
        kind, value = target.kind, target.value
        if kind in ("sandbox", "none"):
            return []
        if kind == "command":
            limit = RunLimit(self._boundary.run, "run" in self._boundary.outside)
            return limit.judge(value, around, target.argument, self)
        if not isinstance(value, str):
            return self._untyped(target)
        if kind in ("url", "host"):
            return self.url(value, target.argument, kind)
        if kind == "folder":
            return self.path(value, "read", around, target.argument)
        return self.path(value, target.access, around, target.argument)

    def _one(self, limit: PathLimit, text: str, access: Access, around: Surroundings, argument: str) -> Judgement:
        found = limit.somewhere(text, around, access, argument)
        if found.verdict != "escaped" or found.reason not in ("path-outside", "path-link"):
            return found
        if access == "read" and self._is_root(limit, text, around):
            # To read a folder itself is to list what may be read.
            sentence = "the folder itself, all of which may be read"
            return replace(found, verdict="contained", reason="inside", sentence=sentence, differs="", fix="")
        if (
            self._known
            or text[:1] not in ("/", "~")
            or not any(not each.startswith(("/", "~")) for each in limit.labels)
        ):
            return found
        sentence = (
            "the working directory was not recorded, so it cannot be said whether this lies in a relative pattern"
        )
        return replace(found, verdict="undecided", reason="folder-unrecorded", sentence=sentence)

    def _is_root(self, limit: PathLimit, text: str, around: Surroundings) -> bool:
        below = limit.judge(text.rstrip("/") + "/x", around, "read")
        return below.verdict == "contained" and not limit.outside

    def _untyped(self, target: Target) -> list[Judgement]:
        restricted = {
            "path": self._boundary.read is not None or self._boundary.write is not None,
            "folder": self._boundary.read is not None,
        }.get(target.kind, self._boundary.fetch is not None)
        if not restricted:
            return []
        sentence = f"`{target.argument}` holds {kind_of(target.value)}, which names nothing"
        return [Judgement(verdict="undecided", kind=target.kind, access=target.access, target=repr(target.value)[:200],
                          reason="target-type", sentence=sentence, argument=target.argument)]  # fmt: skip

    def _path_limit(self, access: str) -> PathLimit | None:
        patterns: Sequence[str] | None = getattr(self._boundary, access)
        if patterns is None:
            return None
        return path_limit(patterns, self._base, outside=access in self._boundary.outside)


def _moved(around: Surroundings, folder: str) -> Surroundings:
    from outstep.scope.paths.spelling import Refused, spell

    try:
        return at(around, spell(folder, around).path)
    except Refused:
        return around

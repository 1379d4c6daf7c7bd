"""A tree of files that exists in a dictionary alone: paths, links, folders, and the errors that a system gives.

docs: docs/worlds.md#canary
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

MOST_LINKS = 20
LARGEST = 1 << 20
"""Characters of one file, and of the output of one call."""


class NotPossible(Exception):
    """What a system call refuses, in the words of the system."""


class Files:
    """The files of one call: changed in place, and taken over when the call is done."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.texts: dict[str, str] = dict(state["files"])
        self.links: dict[str, str] = dict(state["links"])
        self.folders: set[str] = {"/", *state["folders"]}
        for path in (*self.texts, *self.links, *state["folders"]):
            self.folders.update(_parents(path))

    def state(self) -> dict[str, Any]:
        """Return files, links and empty folders as JSON, in order."""
        holders = {parent for path in (*self.texts, *self.links, *self.folders) for parent in _parents(path)[:1]}
        empty = sorted(folder for folder in self.folders if folder not in holders and folder != "/")
        files = dict(sorted(self.texts.items()))
        return {"files": files, "links": dict(sorted(self.links.items())), "folders": empty}

    def resolve(self, path: str, cwd: str, *, follow_last: bool = True) -> str:
        """Return the absolute path behind `.`, `..` and links; raises `NotPossible`."""
        rest = [part for part in joined(cwd, path).split("/") if part]
        at = ""
        followed = 0
        while rest:
            part = rest.pop(0)
            if part == ".":
                continue
            if part == "..":
                at = at.rpartition("/")[0]
                continue
            at = f"{at}/{part}"
            if at in self.links and (rest or follow_last):
                followed += 1
                if followed > MOST_LINKS:
                    raise NotPossible("Too many levels of symbolic links")
                target = self.links[at]
                rest = [*(one for one in target.split("/") if one), *rest]
                at = "" if target.startswith("/") else at.rpartition("/")[0]
        return at or "/"

    def is_folder(self, path: str) -> bool:
        """Return whether an absolute path is a folder."""
        return path in self.folders

    def exists(self, path: str) -> bool:
        """Return whether anything stands at an absolute path."""
        return path in self.texts or path in self.folders or path in self.links

    def read(self, path: str, cwd: str) -> str:
        """Return the text of a file."""
        real = self.resolve(path, cwd)
        if real == "/dev/null":
            return ""
        if real in self.folders:
            raise NotPossible("Is a directory")
        if real not in self.texts:
            raise NotPossible("No such file or directory")
        return self.texts[real]

    def write(self, path: str, text: str, cwd: str, *, append: bool = False, make_folders: bool = False) -> str:
        """Put a text into a file, and return its real path."""
        real = self.resolve(path, cwd)
        if real in ("/dev/null", "/dev/stdout", "/dev/stderr"):
            return real
        if real in self.folders or path.endswith("/"):
            raise NotPossible("Is a directory")
        parent = _parents(real)[0]
        if parent in self.texts:
            raise NotPossible("Not a directory")
        if parent not in self.folders:
            if not make_folders:
                raise NotPossible("No such file or directory")
            self.folders.update((parent, *_parents(parent)))
        whole = self.texts.get(real, "") + text if append else text
        if len(whole) > LARGEST:
            raise NotPossible("File too large")
        self.texts[real] = whole
        return real

    def make_folder(self, path: str, cwd: str, *, parents: bool = False) -> None:
        """Make a folder."""
        real = self.resolve(path, cwd)
        if self.exists(real):
            if parents and real in self.folders:
                return
            raise NotPossible("File exists")
        above = _parents(real)
        if above[0] not in self.folders and not parents:
            raise NotPossible("No such file or directory")
        if any(one in self.texts for one in above):
            raise NotPossible("Not a directory")
        self.folders.update((real, *above))

    def children(self, folder: str) -> list[str]:
        """Return the names in a folder, sorted."""
        prefix = folder.rstrip("/") + "/"
        every = (*self.texts, *self.links, *self.folders)
        return sorted(
            {path[len(prefix) :].split("/")[0] for path in every if path.startswith(prefix) and path != prefix}
        )

    def below(self, path: str) -> Iterator[str]:
        """Yield a path and everything below it, folders before what they hold."""
        yield path
        if path in self.folders:
            for name in self.children(path):
                yield from self.below(f"{path.rstrip('/')}/{name}")

    def remove(self, real: str) -> None:
        """Take a file, link or folder away, with everything in it."""
        for path in list(self.below(real)):
            self.texts.pop(path, None)
            self.links.pop(path, None)
            self.folders.discard(path)
        self.folders.add("/")

    def copy(self, source: str, target: str) -> None:
        """Copy a file or folder to a path that is to be its own."""
        for path in list(self.below(source)):
            there = target + path[len(source) :]
            if path in self.links:
                self.links[there] = self.links[path]
            elif path in self.folders:
                self.folders.update((there, *_parents(there)))
            else:
                self.texts[there] = self.texts[path]

    def glob(self, pattern: str, cwd: str) -> list[str]:
        """Return the paths that a pattern of a shell fits, spelled as the pattern is, sorted."""
        found = ["/"] if pattern.startswith("/") else [""]
        for part in [one for one in pattern.split("/") if one]:
            found = [path for before in found for path in self._step(before, part, cwd)][:1000]
        return sorted(found)

    def _step(self, before: str, part: str, cwd: str) -> Iterator[str]:
        prefix = before if before in ("", "/") else f"{before}/"
        if not any(sign in part for sign in "*?["):
            if part in (".", "..") or self.exists(self._try(prefix + part, cwd)):
                yield prefix + part
            return
        folder = self._try(before or ".", cwd)
        for name in self.children(folder) if folder in self.folders else ():
            if fnmatchcase(name, part) and (part.startswith(".") or not name.startswith(".")):
                yield prefix + name

    def _try(self, path: str, cwd: str) -> str:
        try:
            return self.resolve(path, cwd)
        except NotPossible:
            return ""


def joined(cwd: str, path: str) -> str:
    """Return a path as seen from a folder, not yet collapsed."""
    return path if path.startswith("/") else f"{cwd}/{path}"


def _parents(path: str) -> list[str]:
    """Return the folders above an absolute path, the nearest first."""
    found: list[str] = []
    while path not in ("", "/"):
        path = path.rpartition("/")[0]
        found.append(path or "/")
    return found or ["/"]

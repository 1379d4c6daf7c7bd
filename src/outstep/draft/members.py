"""Where a value stands in the data of a result: members, and elements of lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from outstep.draft.guesses import NAME

MOST_MEMBERS = 400


class Place(Struct, frozen=True, order=True):
    """A place in the data of a tool's results."""

    depth: int
    tool: str
    each: tuple[str, ...]
    """The members that lead to a list (or an object by key), whose elements are looked at; `.` for the data itself."""
    path: tuple[str, ...]
    """The members below that, or below the data."""

    @property
    def key(self) -> str:
        """What names the value in a contract."""
        root = "it" if self.each else "data"
        return ".".join((root, *self.path))

    @property
    def list(self) -> str:
        """What names the list in a contract; empty where there is none."""
        return ".".join(("data", *(part for part in self.each if part != "."))) if self.each else ""


def places(tool: str, data: Any) -> Iterator[tuple[Place, Any]]:
    """Yield every plain value of some data with its place, as deep as a contract would look."""
    left = MOST_MEMBERS
    for path, value in _members(data, ()):
        if isinstance(value, list):
            for item in value[:50]:
                for below, inner in (((), item),) if not isinstance(item, dict | list) else _members(item, ()):
                    if not isinstance(inner, dict | list):
                        yield Place(len(path) + len(below) + 2, tool, path or (".",), below), inner
        elif not isinstance(value, dict):
            yield Place(len(path), tool, (), path), value
        left -= 1
        if left < 0:
            return


def _members(data: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(data, list):
        yield path, data
    elif isinstance(data, dict) and len(path) < 3:
        for name, value in data.items():
            if NAME.fullmatch(name):
                if isinstance(value, dict):
                    yield from _members(value, (*path, name))
                else:
                    yield (*path, name), value

"""Paths against `posixpath` and `fnmatch`: a second, plainer reading of the same rows."""

from __future__ import annotations

import json
import posixpath
from fnmatch import fnmatchcase
from unicodedata import normalize

import pytest

from tests.scope.rows import read_rows

ROWS = [row for row in read_rows("paths.csv") if row["source"] == "python"]


def inside(path: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(path)
        return any(inside(path[skipped:], pattern[1:]) for skipped in range(len(path) + 1))
    return bool(path) and (fnmatchcase(path[0], pattern[0]) or path[0] == pattern[0]) and inside(path[1:], pattern[1:])


def parts(text: str) -> list[str]:
    text = "/home/agent" + text[1:] if text[:1] == "~" else text
    joined = posixpath.normpath(posixpath.join("/srv/agent", text))
    return [part for part in normalize("NFC", joined).split("/") if part]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_plain_reading_agrees(row: dict[str, str]) -> None:
    tool, pattern = row["scope_patterns"].split(": ", 1)
    path = next(iter(json.loads(row["arg_json"]).values()))
    if "\\" in pattern:
        pattern = pattern.replace("\\[", "[[]").replace("\\]", "]")
    assert tool == row["tool"]
    assert inside(parts(path), parts(pattern)) is (row["right_verdict"] == "contained")

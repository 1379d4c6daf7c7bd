"""Brackets in patterns of paths: a set of characters, or themselves where they hold none."""

from __future__ import annotations

import pytest

from outstep.scope.paths.patterns import path_pattern


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("[ab]", "/a", True),
        ("[ab]/*", "/[ab]/x", False),
        (r"\[ab\]", "/[ab]", True),
        ("[!a]", "/b", True),
        ("[!a]", "/a", False),
        ("[]a]", "/]", True),
        ("[]", "/[]", True),
        ("[!]", "/[!]", True),
        ("[", "/[", True),
        ("[z-a]", "/m", False),
        ("[!a-]", "/-", False),
    ],
)
def test_brackets_mean_one_of_the_characters_in_them(pattern: str, path: str, fits: bool) -> None:
    assert path_pattern(pattern, "/").matches(path) is fits

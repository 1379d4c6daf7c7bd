"""One file with a mistake of each kind: all are told at once, in the order of the file, each with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from outstep.contracts.loader import load
from outstep.errors import OutstepError, Problem

FOLDER = Path(__file__).parent / "lint"
NAMED = [
    "yaml",
    "yaml-quote",
    "unknown-key",
    "no-kind",
    "two-kinds",
    "unknown-name",
    "unknown-tool",
    "unknown-tag",
    "unknown-fact",
    "unknown-claim",
    "duplicate-id",
    "selector",
    "expression",
    "type",
    "not-bound-here",
    "regex",
    "key-not-for-kind",
    "useless-rule",
    "unbounded-where",
    "block-needs-deterministic",
]
"""Codes that the language names; `include-cycle` takes two files."""


def read(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def found() -> tuple[Problem, ...]:
    with pytest.raises(OutstepError) as error:
        load("every_mistake.yaml", read_file=read)
    return error.value.problems


def line(problem: Problem) -> str:
    assert problem.place is not None
    assert problem.underline is not None
    first, last = problem.underline
    code = problem.code.removeprefix("contract/")
    return f"{problem.place.line}:{problem.place.column} {code}: {problem.sentence} [{problem.excerpt[first:last]}]"


def test_all_mistakes_are_told_at_once_each_with_its_place() -> None:
    expected = (FOLDER / "every_mistake.txt").read_text("utf-8").splitlines()
    assert [line(problem) for problem in found()] == expected


def test_the_underline_begins_at_the_column() -> None:
    for problem in found():
        assert problem.place is not None
        assert problem.place.column is not None
        assert problem.underline is not None
        assert problem.underline[0] == problem.place.column - 1
        assert problem.excerpt == read("every_mistake.yaml").decode().splitlines()[(problem.place.line or 0) - 1]


@pytest.mark.parametrize("code", NAMED)
def test_every_code_of_the_language_is_among_them(code: str) -> None:
    assert f"contract/{code}" in {problem.code for problem in found()}


def test_sentences_are_of_one_line_and_without_full_stop() -> None:
    for problem in found():
        assert "\n" not in problem.sentence
        assert not problem.sentence.endswith(".")
        assert problem.sentence[0].islower() or not problem.sentence[0].isalpha() or problem.sentence.startswith("YAML")

"""The family of kinds is complete: each has its module, its cases and its page, under one name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from outstep.contracts import keys
from outstep.contracts.kinds import Integrity, Kind
from tests.engine.casefile import case_files, read_cases

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "src" / "outstep" / "contracts" / "kinds"
KINDS = [kind.__struct_config__.tag for kind in get_args(Kind)]
OF_THE_PACK = Integrity.__struct_config__.tag
SITUATIONS = {"integrity", "outcomes", "facts", "claims", "selectors", "known", "gaps", "levels"}


def page_of(kind: str) -> Path:
    """Return the page of a kind."""
    return ROOT / "docs" / ("integrity.md" if kind == OF_THE_PACK else f"kinds/{kind}.md")


def test_a_contract_can_name_every_kind() -> None:
    assert set(KINDS) - {OF_THE_PACK} == set(keys.KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_module_that_names_its_page(kind: str) -> None:
    text = (MODULES / f"{kind}.py").read_text("utf-8")
    assert f"docs: {page_of(kind).relative_to(ROOT)}" in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_page(kind: str) -> None:
    title = page_of(kind).read_text("utf-8").splitlines()[0]
    assert title == (f"# `{kind}`" if kind != OF_THE_PACK else "# Integrity: does the record hold together?")


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_cases(kind: str) -> None:
    (path,) = [path for path in case_files() if path.stem == kind]
    assert len(list(read_cases(path))) >= 15


def test_every_case_file_is_of_a_kind_or_a_situation() -> None:
    assert {path.stem for path in case_files()} == set(KINDS) | SITUATIONS


@pytest.mark.parametrize("path", case_files(), ids=lambda path: path.stem)
def test_the_name_of_a_case_is_a_sentence(path: Path) -> None:
    for case in read_cases(path):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+){2,}", case.name), case.name


def test_the_overview_names_every_kind() -> None:
    overview = (ROOT / "docs" / "kinds" / "README.md").read_text("utf-8")
    assert [kind for kind in keys.KINDS if f"[{kind}]({kind}.md)" not in overview] == []

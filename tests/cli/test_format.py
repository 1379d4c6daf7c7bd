"""`outstep contract format`: files in place, or only checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Outstep
from tests.command_line import ROOT

FOLDER = ROOT / "tests" / "contracts" / "formatting"


def test_files_are_formatted_in_place_and_checked(outstep: Outstep, tmp_path: Path) -> None:
    file = tmp_path / "contract.yaml"
    file.write_text((FOLDER / "messy.yaml").read_text("utf-8"), "utf-8")
    before = file.read_bytes()
    checked = outstep("contract", "format", "--check", str(file))
    assert (checked.code, file.read_bytes()) == (1, before)
    assert "1 file of 1 would change" in checked.err
    assert outstep("contract", "format", str(file)).code == 0
    assert file.read_text("utf-8") == (FOLDER / "even.yaml").read_text("utf-8")
    assert outstep("contract", "format", "--check", str(file)).code == 0


@pytest.mark.parametrize("words", [("nowhere.yaml",), ("refund",), ()])
def test_what_cannot_be_formatted_ends_with_2(outstep: Outstep, words: tuple[str, ...]) -> None:
    assert outstep("contract", "format", *words).code == 2

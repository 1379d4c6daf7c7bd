"""Formatting: files look alike, and neither a comment nor a value is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outstep.contracts.formatting import formatted
from outstep.contracts.loader import load
from outstep.contracts.model import Contract
from outstep.errors import OutstepError
from tests.command_line import ROOT
from tests.contracts.test_json_schema import files

FOLDER = Path(__file__).parent / "formatting"
WHOLE = [name for name in files() if "packs/" in name or "examples/" in name or "benchmarks/" in name]
TEXTS = {name: (ROOT / name).read_text("utf-8") for name in WHOLE}


def tidy(text: str) -> str:
    return formatted(text.encode(), "contract.yaml")


def said(text: str) -> Contract | None:
    """Return what a contract says, wherever it stands in the file."""
    from msgspec import json

    def without_spots(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_spots(inner) for key, inner in value.items() if key not in ("spot", "sha256")}
        return [without_spots(inner) for inner in value] if isinstance(value, list) else value

    try:
        contract, _ = load(text.encode(), name="contract.yaml")
    except OutstepError:
        return None
    found: Contract = without_spots(json.decode(json.encode(contract)))
    return found


def test_a_messy_contract_is_laid_out_evenly() -> None:
    messy, even = ((FOLDER / f"{name}.yaml").read_text("utf-8") for name in ("messy", "even"))
    assert tidy(messy) == even
    assert said(messy) == said(even)
    assert said(even) is not None


@pytest.mark.parametrize("name", WHOLE)
def test_a_contract_of_the_repository_says_the_same_when_it_is_formatted(name: str) -> None:
    assert said(tidy(TEXTS[name])) == said(TEXTS[name])


def wider(text: str) -> str:
    """Move everything inside of sections to the right."""
    return re.sub(r"^(?= +[^ ])", "   ", text, flags=re.MULTILINE)


def backwards(text: str) -> str:
    """Put the sections in the opposite order."""
    parts = re.split(r"^(?=[a-z_]+:)", text, flags=re.MULTILINE)
    return "".join(parts[:1] + [part if part.endswith("\n") else f"{part}\n" for part in reversed(parts[1:])])


def blanked(text: str) -> str:
    return text.replace("\n\n", "\n\n\n\n")


CHANGES: list[Callable[[str], str]] = [wider, backwards, blanked, lambda text: text.replace("\n", "\r\n")]


@settings(max_examples=60)
@given(st.sampled_from(WHOLE), st.lists(st.sampled_from(CHANGES), max_size=3))
def test_however_it_was_laid_out_it_says_the_same_and_twice_is_as_once(name: str, changes: list[Any]) -> None:
    text = TEXTS[name]
    for change in changes:
        text = change(text)
    even = tidy(text)
    assert tidy(even) == even
    assert said(even) == said(text)
    assert even.count("#") == text.count("#")


def test_an_anchor_keeps_sections_in_their_place() -> None:
    text = "rules: &r [{id: A, never: message}]\noutstep: contract/v1\nparams: {again: *r}\n"
    assert tidy(text) == text


def test_what_is_no_contract_is_told_and_left_alone() -> None:
    with pytest.raises(OutstepError, match="is not closed"):
        tidy("outstep: [contract/v1\n")


def test_a_draft_is_formatted_already() -> None:
    from outstep.workflow.drafting import draft
    from tests.workflow.test_drafting import shop

    text = draft(shop(), id="shop").text
    assert tidy(text) == text

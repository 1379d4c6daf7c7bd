"""The family of adapters is complete: each has a module, a page, and recorded fixtures for what it is pinned to."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from outstep.adapters import NAMES, adapter, names
from outstep.errors import OutstepError
from outstep.events import Header
from tests.adapters.recorded import folders

PAGES = Path(__file__).parents[2] / "docs" / "adapters"


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_has_its_name_and_says_what_it_reads(name: str) -> None:
    reader = adapter(name)
    assert reader.name == name
    assert reader.version
    assert reader.title
    assert reader.pinned
    assert reader.cannot_carry


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_has_a_page(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# `{name}`")


@pytest.mark.parametrize("name", NAMES)
def test_every_pinned_version_has_recorded_fixtures(name: str) -> None:
    vouched = set()
    for folder in folders(name):
        for line in (folder / "events.jsonl").read_bytes().splitlines():
            if line.startswith(b'{"type":"trace"'):
                vouched.add(msgspec.json.decode(line, type=Header).sources[0].version)
    assert set(adapter(name).pinned) <= vouched


def test_the_overview_names_every_adapter() -> None:
    overview = (PAGES / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"[{name}]({name}.md)" not in overview] == []


def test_an_unknown_format_is_refused_with_a_suggestion() -> None:
    with pytest.raises(OutstepError) as caught:
        adapter("openai-chats")
    assert caught.value.problems[0].code == "adapter/unknown-format"
    assert "`openai-chat`" in caught.value.problems[0].help


def test_the_names_of_this_package_come_first() -> None:
    assert names()[: len(NAMES)] == NAMES

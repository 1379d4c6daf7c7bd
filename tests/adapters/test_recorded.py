"""Every recorded fixture reads as the events that lie beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from outstep.adapters import adapter
from outstep.adapters.base import Options
from outstep.events import Header
from tests.adapters.recorded import EVENTS, HERE, document, events, folders, raw_document, read, text

MINE = ("native", "openai-chat", "anthropic-messages")
ALL = [(name, folder) for name in MINE for folder in folders(name)]
IDS = [str(folder.relative_to(HERE)) for _, folder in ALL]


@pytest.mark.parametrize(("name", "folder"), ALL, ids=IDS)
def test_a_recorded_document_reads_as_the_events_beside_it(name: str, folder: Path) -> None:
    items, _ = read(name, raw_document(folder))
    assert text(items) == (folder / EVENTS).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "folder"), ALL, ids=IDS)
def test_what_was_read_can_be_written_and_read_again(name: str, folder: Path) -> None:
    items, log = read(name, raw_document(folder))
    again, log_again = read("native", document(text(items).encode()))
    assert events(again) == events(items)
    assert log_again.faults == []
    assert [tally.records for tally in log_again.tallies] == _lengths(items)
    assert len(log.tallies) == len(log_again.tallies)


def _lengths(items: Sequence[object]) -> list[int]:
    lengths: list[int] = []
    for item in items:
        if isinstance(item, Header):
            lengths.append(0)
        else:
            lengths[-1] += 1
    return lengths


@pytest.mark.parametrize(("name", "folder"), ALL, ids=IDS)
def test_the_place_of_every_event_can_be_found_again(name: str, folder: Path) -> None:
    raw = raw_document(folder)
    items, _ = read(name, raw)
    trace = ""
    wanted: dict[str, list[int]] = {}
    for item in items:
        if isinstance(item, Header):
            trace = item.id
        else:
            wanted.setdefault(trace, []).append(item.seq)
    found = adapter(name).origins([raw], Options(), wanted)
    assert {(trace, seq) for trace, seqs in wanted.items() for seq in seqs} == set(found)
    assert {origin.place.source for origin in found.values()} == {raw.uri}


@pytest.mark.parametrize(("name", "folder"), ALL, ids=IDS)
def test_a_line_that_is_named_holds_the_record_that_is_shown(name: str, folder: Path) -> None:
    raw = raw_document(folder)
    data = raw.read()
    items, _ = read(name, raw)
    wanted = {item.id: range(1, 2000) for item in items if isinstance(item, Header)}
    for origin in adapter(name).origins([raw], Options(), wanted).values():
        place = origin.place
        if place.line is not None and place.offset is not None and place.pointer is None:
            line = data[place.offset :].split(b"\n")[0].rstrip(b"\r")
            assert data.count(b"\n", 0, place.offset) == place.line - 1
            assert not origin.record or _is_the_same(line, origin.record)


def _is_the_same(line: bytes, record: str) -> bool:
    try:
        return bool(msgspec.json.decode(line) == msgspec.json.decode(record))
    except msgspec.DecodeError:
        return line.decode("utf-8", "replace") == record

"""Recorded fixtures: a folder holds one raw document and `events.jsonl`, the events that are read from it.

`python -m tests.adapters.recorded FOLDER …` writes `events.jsonl` anew; read the difference before you keep it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from outstep.adapters import adapter
from outstep.adapters.base import Batch, Document, Options, ReadLog
from outstep.adapters.write import write
from outstep.events import Event, Header

HERE = Path(__file__).parent
EVENTS = "events.jsonl"


def folders(name: str) -> list[Path]:
    """Return the fixture folders of an adapter, each with its raw document."""
    return sorted(path.parent for path in (HERE / name).rglob(EVENTS))


def raw_document(folder: Path) -> Document:
    """Return the raw document of a folder, named by its file name alone."""
    path = next(path for path in sorted(folder.iterdir()) if path.name != EVENTS)
    return Document(path.name, path)


def document(data: bytes, uri: str = "trace") -> Document:
    """Return bytes as a document."""
    return Document(uri, data=data)


def read(name: str, *documents: Document, options: Options | None = None) -> tuple[list[Event | Header], ReadLog]:
    """Return everything that an adapter reads, and what it has to say."""
    log = ReadLog()
    batches: Iterable[Batch] = adapter(name).stream(list(documents), options or Options(), log)
    return [item for batch in batches for item in batch], log


def events(items: Iterable[Event | Header]) -> list[Event]:
    """Return the events without the headers."""
    return [item for item in items if not isinstance(item, Header)]


def text(items: Iterable[Event | Header]) -> str:
    """Return items in the canonical form."""
    return b"".join(write([list(items)])).decode()


def main(arguments: list[str]) -> None:
    """Write the expected events of folders."""
    for argument in arguments:
        folder = Path(argument).resolve()
        name = folder.relative_to(HERE.resolve()).parts[0]
        (folder / EVENTS).unlink(missing_ok=True)
        items, _ = read(name, raw_document(folder))
        (folder / EVENTS).write_text(text(items), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

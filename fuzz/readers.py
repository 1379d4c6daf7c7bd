"""Random bytes into every adapter: each reads them to the end, and raises nothing (`make fuzz`)."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports():
    from outstep.adapters import NAMES, adapter
    from outstep.adapters.base import Document, Options, ReadLog

    ADAPTERS = [adapter(name) for name in NAMES]


def read(data: bytes) -> None:
    """Hand one document to each adapter, whether or not it looks like its format."""
    for reader in ADAPTERS:
        document = Document("input", data=data)
        reader.sniff(document, data[:65536])
        for _ in reader.stream([document], Options(unpinned=True), ReadLog()):
            pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()

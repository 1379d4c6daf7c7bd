"""Small stores for tests: three commits, four entries, a report and a contract."""

from __future__ import annotations

from pathlib import Path

import msgspec

from outstep.evidence.entries import ENTRY, Document, Entry, Judged, Sealed, SignedHead
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store, Writer
from outstep.findings import SCHEMA, Report

NOON = "2026-01-02T12:00:00Z"


def clock() -> str:
    return NOON


def put(writer: Writer, name: str, data: bytes) -> Document:
    return Document(name=name, sha256=writer.put(data), size=len(data))


def run(writer: Writer, number: int) -> Entry:
    document = put(writer, f"session-{number}.jsonl", b'{"n": %d}\n' % number * 30)
    trace = Sealed(id=f"t{number}", events="0" * 64, count=3, subject={"model": "m"}, missing=("prompts",))
    return Entry(schema=ENTRY, kind="run", tool="outstep 0", documents=(document,), adapter="native@1", traces=(trace,))


def verdict(writer: Writer, of: int) -> Entry:
    report = writer.put(msgspec.json.encode(Report(schema=SCHEMA, gate="block", exit_code=1)))
    contract = put(writer, "c.yaml", b"outstep: contract/v1\n" * 9)
    judged = Judged(contracts=(contract,), names=("c.yaml",), report=report, gate="block", exit_code=1)
    return Entry(schema=ENTRY, kind="verdict", tool="outstep 0", of=of, judged=judged)


def filled(folder: Path | str, key: SigningKey) -> tuple[Store, list[SignedHead]]:
    store = Store.init(folder, key)
    heads: list[SignedHead] = []
    with store.writing(key, clock) as writer:
        for entries in ([run(writer, 0), run(writer, 1)], [verdict(writer, 0)], [run(writer, 3)]):
            for entry in entries:
                writer.add(entry)
            signed = writer.commit()
            assert signed is not None
            heads.append(signed)
    return store, heads

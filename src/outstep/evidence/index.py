"""What to look for in a long log: entries by subject, contract, gate, rule and name, in SQLite.

An index proves nothing and is no part of a store: it lies in the cache of the user, is made from the log, and is thrown
away when a byte of it is not as it was written, or when the log is not the one that it was made from.
docs: docs/evidence.md#looking-for-entries
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from outstep import __version__
from outstep.contracts.names import glob_fits
from outstep.evidence.entries import Entry, SignedHead
from outstep.evidence.objects import Damaged
from outstep.evidence.store import Store
from outstep.findings import Report

FORM = f"index/v1 {__version__}"
ASKED = ("subject", "contract", "gate", "rule", "name")
"""What entries can be looked for by."""
_TABLE = "CREATE TABLE term (what TEXT, text TEXT, number INTEGER, PRIMARY KEY (what, text, number)) WITHOUT ROWID"


class _Made(Struct, frozen=True, kw_only=True):
    """What an index was made from, and what its bytes were then."""

    form: str
    store: str
    number: int
    """Of the newest head that it covers."""
    size: int
    state: str
    unread: int
    """Reports that could not be read."""
    sha256: str


class Found(Struct, frozen=True):
    """Entries that were looked for."""

    numbers: tuple[int, ...]
    unread: int
    """Reports that could not be read, so that their rules were not found."""


def find(store: Store, asked: Mapping[str, str], folder: Path | None) -> Found:
    """Return the entries that fit everything asked: for each of `ASKED` a text, in which `*` stands for anything.

    `folder` keeps the index; without one it is made each time.
    """
    newest = store.log.newest()
    if newest is None:
        return Found((), 0)
    path = folder / f"{store.about.id}.sqlite" if folder is not None else None
    made, data = _kept(store, path, newest)
    with closing(sqlite3.connect(":memory:")) as base:
        if data:
            base.deserialize(data)
        else:
            base.execute(_TABLE)
        unread = made.unread if made is not None else 0
        if made is None or made.number != newest.head.number:
            unread += _fill(base, store, made.size if made is not None else 0)
            if path is not None:
                _keep(base, store, path, newest, unread)
        found = [set(_fitting(base, what, text)) for what, text in asked.items()]
    numbers = set.intersection(*found) if found else set(range(newest.head.size))
    return Found(tuple(sorted(numbers)), unread)


def terms(entry: Entry, report: Report | None) -> Iterator[tuple[str, str]]:
    """Yield by what an entry can be found."""
    for document in entry.documents:
        yield "name", document.name
    for trace in entry.traces:
        yield "name", trace.id
        yield from (("subject", str(value)) for value in trace.subject.values() if isinstance(value, str))
    judged = entry.judged
    yield "gate", judged.gate if judged is not None else "none"
    if judged is not None:
        yield from (("contract", name) for name in judged.names)
        yield from (("contract", document.sha256) for document in judged.contracts)
    if report is not None:
        yield from (("contract", contract.id) for contract in report.contracts)
        yield from (("rule", finding.rule) for finding in report.findings if report.gates(finding))


def _kept(store: Store, path: Path | None, newest: SignedHead) -> tuple[_Made | None, bytes]:
    """Return the index that is kept, if it is as it was written and made from this log."""
    if path is None:
        return None, b""
    try:
        made = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=_Made)
        data = path.read_bytes()
    except (OSError, msgspec.DecodeError, RecursionError):
        return None, b""
    is_ours = (made.form, made.store) == (FORM, store.about.id) and sha256(data).hexdigest() == made.sha256
    if not is_ours or made.number > newest.head.number or made.unread or store.log.state(made.number) != made.state:
        return None, b""
    return made, data


def _keep(base: sqlite3.Connection, store: Store, path: Path, newest: SignedHead, unread: int) -> None:
    data = base.serialize()
    made = _Made(
        form=FORM,
        store=store.about.id,
        number=newest.head.number,
        size=newest.head.size,
        state=store.log.state(newest.head.number),
        unread=unread,
        sha256=sha256(data).hexdigest(),
    )
    # Where it cannot be kept it is made again the next time.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for place, content in ((path, data), (path.with_suffix(".json"), msgspec.json.encode(made))):
            beside = path.parent / f".{place.name}.{os.getpid()}.part"
            beside.write_bytes(content)
            os.replace(beside, place)


def _fill(base: sqlite3.Connection, store: Store, since: int) -> int:
    """Take in the entries from a number on, and return how many reports could not be read."""
    unread = 0
    with base:
        for number, entry in store.log.numbered(range(since, store.log.size)):
            report = None
            if entry.judged is not None:
                try:
                    report = msgspec.json.decode(store.objects.get(entry.judged.report), type=Report)
                except (Damaged, msgspec.DecodeError, RecursionError):
                    unread += 1
            rows = ((what, text, number) for what, text in dict.fromkeys(terms(entry, report)))
            base.executemany("INSERT OR IGNORE INTO term VALUES (?, ?, ?)", rows)
    return unread


def _fitting(base: sqlite3.Connection, what: str, asked: str) -> Iterator[int]:
    texts = (text for (text,) in base.execute("SELECT DISTINCT text FROM term WHERE what = ?", (what,)))
    for text in [text for text in texts if _fits(asked, text, what)]:
        yield from _numbers(base.execute("SELECT number FROM term WHERE what = ? AND text = ?", (what, text)))


def _numbers(rows: Iterable[tuple[int]]) -> Iterator[int]:
    return (number for (number,) in rows)


def _fits(asked: str, text: str, what: str) -> bool:
    """A name is asked for by its last part, too, and a digest by its first digits."""
    if glob_fits(asked, text):
        return True
    if what == "contract" and len(text) == 64 and len(asked) >= 6:
        return text.startswith(asked)
    return what in ("name", "contract") and glob_fits(asked, text.rpartition("/")[2])

"""`native`: the canonical JSON Lines form, and the seed form of traces written by hand.

docs: docs/adapters/native.md, docs/events.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog
from outstep.adapters.traces import SEED, Ids
from outstep.codec import Json
from outstep.events import EVENT_TYPES, SCHEMA

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter


class Native:
    """Reads what Outstep itself writes, and traces that people write."""

    name = "native"
    version = "1"
    pinned: tuple[str, ...] = (SCHEMA, SEED)
    title = "Outstep's canonical JSON Lines, and the seed form"
    cannot_carry: tuple[str, ...] = (
        "the seed form has no model responses: without `turn` each call is a decision of its own",
        "what its producer left out: `records` of a header says which kinds of events it can hold",
    )

    def sniff(self, document: Document, head: bytes) -> bool:  # noqa: ARG002
        """Return whether a header, an event of ours, or a document of events stands at the beginning."""
        if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b'{"type":"trace"'):
            return True
        from outstep.adapters.opening import opening

        values = opening(head).values
        return bool(values) and _is_ours(values[0], 0)

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield the traces of the documents, in the order given."""
        from outstep.adapters.canonical import Canonical, is_canonical  # not to tell others' documents from our own

        ids = Ids()
        for document in documents:
            if is_canonical(document):
                yield from Canonical(document, options, log, ids).batches()
            else:
                from outstep.adapters.seed import read_seed

                for trace in read_seed(document, options, log, ids):
                    yield [trace.header, *trace.settled.events]

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Find the lines or pointers of events again."""
        from outstep.adapters.canonical import Search, is_canonical

        ids = Ids()
        seqs = {trace: frozenset(numbers) for trace, numbers in wanted.items()}
        found: dict[tuple[str, int], Origin] = {}
        for document in documents:
            if is_canonical(document):
                search = Search(document, options, ReadLog(), ids)
                found.update(search.find(seqs))
            else:
                from outstep.adapters.seed import seed_origins

                found.update(seed_origins(document, options, seqs, ids))
        return found


def _is_ours(value: Json, depth: int) -> bool:
    if isinstance(value, list):
        return depth < 2 and (not value or _is_ours(value[0], depth + 1))
    if not isinstance(value, dict):
        return False
    if value.get("type") in EVENT_TYPES or value.get("type") == "trace":
        return "role" not in value
    events = value.get("events")
    if isinstance(events, list):
        named = any(key in value for key in ("traceId", "trace_id")) or value.get("schema") in (SEED, SCHEMA)
        return _is_ours(events[0], 2) or named if events else named
    for name in ("traces", "cases"):
        if isinstance(value.get(name), list):
            return _is_ours(value[name], depth + 1) and ("schema" in value or bool(value[name]))
    return False


ADAPTER: Adapter = Native()

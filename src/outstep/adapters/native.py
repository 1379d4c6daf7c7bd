"""`native`: the canonical JSON Lines form, and the seed form of traces written by hand.

docs: docs/adapters/native.md, docs/events.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from outstep.adapters.base import Batch, Document, Options, Origin, ReadLog
from outstep.adapters.canonical import NAME, VERSION, Canonical, Search, is_canonical
from outstep.adapters.traces import SEED, Ids
from outstep.events import SCHEMA

if TYPE_CHECKING:
    from outstep.adapters.base import Adapter


class Native:
    """Reads what Outstep itself writes, and traces that people write."""

    name = NAME
    version = VERSION
    pinned: tuple[str, ...] = (SCHEMA, SEED)
    title = "Outstep's canonical JSON Lines, and the seed form"
    cannot_carry: tuple[str, ...] = (
        "the seed form has no model responses: without `turn` each call is a decision of its own",
    )

    def sniff(self, document: Document, head: bytes) -> bool:  # noqa: ARG002
        """Return whether a header, an event of ours, or a document of events stands at the beginning."""
        if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b'{"type":"trace"'):
            return True
        from outstep.adapters.seed import looks_native

        return looks_native(head)

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield the traces of the documents, in the order given."""
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


ADAPTER: Adapter = Native()

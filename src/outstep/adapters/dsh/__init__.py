"""`dsh`: session logs of DeepSeek Harness, formats 0, 3 and 4 (docs/adapters/dsh.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from outstep.adapters.base import Adapter, Batch, Document, Options, Origin, ReadLog


class DshAdapter:
    """Reads the logs of a session, its sub-agents and its older generations as one trace."""

    name = "dsh"
    version = "1"
    pinned: tuple[str, ...] = ("0", "3", "4")
    title = "DeepSeek Harness session logs"
    joins = True
    cannot_carry: tuple[str, ...] = (
        "the release of dsh that wrote it: only the format version is recorded",
        "structured content of MCP results: only their text is recorded",
        "raw names of MCP tools: only the public name `mcp__<server>__<name>` is recorded",
        "who decided an approval",
        "a denial by a plugin guard: it reads like any other error, so it is `failed`",
        "a call that SIGTERM stopped: 0.2.1 records an error, so it is `failed`",
        "an answer that was cut off while it came: formats 3 and 4 keep nothing of it",
        "results beyond about 50 KB: the harness keeps them elsewhere, and the text says so",
        "images and files: only the text around them is read",
        "plugins with their versions, the MCP servers behind the tools, and the environment",
        "the exit status of the harness itself",
        "the state of the business",
        "that a sub-agent in the background came home: what it learned is not known to its parent",
    )

    def sniff(self, document: Document, head: bytes) -> bool:
        """Return whether the first bytes look like a session log, archive or database."""
        if not _may_be_log(head):
            return False
        from outstep.adapters.dsh.storage import looks_like_log

        return looks_like_log(document, head)

    def stream(self, documents: list[Document], options: Options, log: ReadLog) -> Iterator[Batch]:
        """Yield one batch a trace, in the order in which the first document of each family is named."""
        from outstep.adapters.dsh.family import families
        from outstep.adapters.dsh.lanes import read_trace
        from outstep.adapters.dsh.reader import Refused

        roots, refused = families(documents, options, log.faults.append)
        for root in roots:
            try:
                trace = read_trace(root, refused, self._signature, reads_flat=options.unpinned)
            except Refused as found:
                log.faults.append(found.problem)
                continue
            log.faults += trace.all_faults()
            log.tally(trace.tally())
            yield [trace.header(), *trace.events]

    def origins(
        self, documents: list[Document], options: Options, wanted: Mapping[str, Iterable[int]]
    ) -> dict[tuple[str, int], Origin]:
        """Find where events stand, by reading the families of the wanted traces again."""
        from outstep.adapters.dsh.family import families
        from outstep.adapters.dsh.lanes import read_trace
        from outstep.adapters.dsh.reader import Refused

        found: dict[tuple[str, int], Origin] = {}
        roots, refused = families(documents, options, lambda _: None)
        for root in roots:
            numbers = set(wanted.get(root.trace, ()))
            if not numbers:
                continue
            try:
                trace = read_trace(root, refused, self._signature, reads_flat=options.unpinned, wanted=numbers)
            except Refused:
                continue
            found.update({(root.trace, seq): origin for seq, origin in trace.origins.items()})
        return found

    @property
    def _signature(self) -> str:
        return f"{self.name}@{self.version}"


_PACKED = (b"PK\x03\x04", b"SQLite format 3\0", b"\x28\xb5\x2f\xfd")


def _may_be_log(head: bytes) -> bool:
    """Return false where it is plain that this is no log: telling more exactly takes a good part of the adapter."""
    if head.startswith(_PACKED) or b"\\u" in head:
        return True
    return b'"type"' in head and (b'"session"' in head or b'"seq"' in head)


ADAPTER: Adapter = DshAdapter()

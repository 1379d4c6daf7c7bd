"""From the paths a person typed to documents, and from documents to the adapters that read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from msgspec import Struct

from outstep.adapters import NAMES, adapter, names
from outstep.adapters.base import Adapter, Batch, Document, Options, ReadLog
from outstep.adapters.records import BOM, LARGEST_VALUE, TooLarge, empty, unreadable
from outstep.errors import Place

HEAD = 1 << 16
TRACE_ENDINGS = (".jsonl", ".ndjson", ".json")
"""An empty file with such a name is a run that was not recorded; any other empty file says nothing."""

METRICS = "metrics.jsonl"
"""The file of scores beside traces: a pattern that fits it does not name it as a trace."""

HARNESS_HOME = ".dsh"
"""The one hidden folder that is entered: where a DeepSeek Harness keeps its sessions."""


class Found(Struct, frozen=True, kw_only=True):
    """A document, and how it was met."""

    document: Document
    explicit: bool = True
    """Named by the person, by a path or a glob; otherwise met in a folder."""
    folder: str = ""
    """The folder, as it was given, in which it was met."""


class Group(Struct, frozen=True, kw_only=True):
    """Documents that one adapter reads together."""

    adapter: Adapter
    documents: list[Document]


def documents(paths: Sequence[str], log: ReadLog, stdin: BinaryIO | None = None) -> list[Found]:
    """Return the documents that the paths mean, each once, in the order given; folders in the order of names.

    A path is a file, a folder, a glob, or `-` for standard input.
    """
    finder = _Finder(log, stdin)
    for path in paths:
        finder.add(path)
    return list(finder.found.values())


def groups(
    found: Sequence[Found], format: str | None, log: ReadLog, ignored: list[Document] | None = None
) -> list[Group]:
    """Give each document to the adapter that knows it; `format` names one for all instead.

    Documents that no adapter knows are a fault if the person named them, and otherwise go to `ignored`. The
    documents of a harness that keeps a session in several files form one group; others stand alone.
    """
    chosen = adapter(format) if format is not None else None
    gathered: list[Group] = []
    together: dict[str, Group] = {}
    folders: dict[str, bool] = {}
    for item in found:
        reader, document = _reader(item, chosen, log, ignored)
        if item.folder:
            folders[item.folder] = folders.get(item.folder, False) or document is not None
        if reader is None or document is None:
            continue
        if getattr(reader, "joins", False) and reader.name in together:
            together[reader.name].documents.append(document)
            continue
        group = Group(adapter=reader, documents=[document])
        gathered.append(group)
        together[reader.name] = group
    for folder, has_traces in folders.items():
        if not has_traces:
            _no_traces(folder, log)
    return gathered


def streams(
    found: Sequence[Found],
    format: str | None,
    options: Options,
    log: ReadLog,
    ignored: list[Document] | None = None,
) -> Iterator[tuple[Adapter, list[Document], Iterator[Batch]]]:
    """Yield each group of documents with its adapter and its events, in a fixed order."""
    for group in groups(found, format, log, ignored):
        yield group.adapter, group.documents, group.adapter.stream(group.documents, options, log)


class _Finder:
    """Collects documents, each file once."""

    def __init__(self, log: ReadLog, stdin: BinaryIO | None) -> None:
        self.found: dict[str, Found] = {}
        self._log = log
        self._stdin = stdin

    def add(self, given: str) -> None:
        """Add what one path means."""
        if given == "-":
            self._standard_input()
        elif os.path.lexists(given):
            self._existing(given)
        elif any(mark in given for mark in "*?["):
            self._glob(given)
        else:
            self._not_found(given, "does not exist")

    def _existing(self, given: str, *, is_named: bool = True) -> None:
        try:
            mode = os.stat(given).st_mode
        except OSError as error:
            self._fault(given, error)
            return
        if stat.S_ISDIR(mode):
            self._folder(given)
        elif stat.S_ISREG(mode):
            self._keep(given, Found(document=Document(given, given)))
        elif stat.S_ISFIFO(mode) and is_named:
            # A pipe gives its bytes once, and a document is looked at more than once. One that only fits a pattern may
            # never give any.
            self._pipe(given)
        else:
            self._fault(given, OSError("it is neither a file nor a folder"))

    def _folder(self, given: str) -> None:
        before = len(self.found)
        met = 0
        for path in self._walk(given):
            met += 1
            self._keep(path, Found(document=Document(path, path), explicit=False, folder=given))
        if not met and len(self.found) == before:
            _no_traces(given, self._log)

    def _walk(self, given: str) -> Iterator[str]:
        """Yield the regular files below a folder, sorted; a folder that a link leads back to is entered once."""
        stack = [given]
        entered: set[tuple[int, int]] = set()
        while stack:
            folder = stack.pop()
            try:
                about = os.stat(folder)
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                self._fault(folder, error)
                continue
            if (about.st_dev, about.st_ino) in entered:
                continue
            entered.add((about.st_dev, about.st_ino))
            below = []
            for entry in entries:
                if entry.name.startswith(".") and entry.name != HARNESS_HOME:
                    continue
                try:
                    if entry.is_dir():
                        below.append(entry.path)
                    elif entry.is_file():
                        yield entry.path
                except OSError as error:
                    self._fault(entry.path, error)
            stack.extend(reversed(below))

    def _glob(self, given: str) -> None:
        from glob import glob  # only where the shell left a pattern alone

        # The library's `**` follows links without end, so folders are walked here.
        hits = self._deep(given) if "**" in given.split("/") else sorted(glob(given))
        if not hits:
            self._not_found(given, "matches no file")
        for hit in hits:
            self._existing(hit, is_named=False)

    def _deep(self, given: str) -> list[str]:
        """Return the files that a pattern with `**` means."""
        parts = given.split("/")
        fixed = next(index for index, part in enumerate(parts) if any(mark in part for mark in "*?["))
        root = "/".join(parts[:fixed]) or ("/" if fixed else ".")
        if not os.path.isdir(root):
            return []
        skipped = len(root.rstrip("/")) + 1
        hits = [path for path in self._walk(root) if _matches(path[skipped:].split("/"), parts[fixed:])]
        return sorted(path.removeprefix("./") if not fixed else path for path in hits)

    def _standard_input(self) -> None:
        if self._stdin is None:
            self._not_found("-", "names the standard input, which is not there")
            return
        self._bytes("-", "<stdin>", self._stdin)

    def _pipe(self, given: str) -> None:
        try:
            with open(given, "rb") as file:
                self._bytes(given, given, file)
        except OSError as error:
            self._fault(given, error)

    def _bytes(self, key: str, uri: str, file: BinaryIO) -> None:
        if key in self.found:
            return
        try:
            data = file.read(LARGEST_VALUE + 1)
        except OSError as error:
            self._fault(uri, error)
            return
        if len(data) > LARGEST_VALUE:
            self._fault(uri, TooLarge(f"more than {LARGEST_VALUE >> 30} GiB came through a pipe"))
            return
        self.found[key] = Found(document=Document(uri, data=data))

    def _keep(self, path: str, found: Found) -> None:
        key = os.path.realpath(path)
        known = self.found.get(key)
        if known is None or (found.explicit and not known.explicit):
            self.found[key] = found

    def _not_found(self, given: str, why: str) -> None:
        self._log.fault(
            "input/not-found",
            f"`{given}` {why}",
            place=Place(source=given),
            help="give files, folders or patterns that hold recorded traces",
        )

    def _fault(self, given: str, error: OSError) -> None:
        unreadable(Document(given, given), error, self._log)


def _matches(names: list[str], pattern: list[str]) -> bool:
    """Return whether a path fits a pattern, part by part; `**` stands for any folders, at the end for any path."""
    from fnmatch import fnmatchcase

    reached = {0}
    for name in names:
        nexts = set()
        for index in _with_empty(reached, pattern):
            if index < len(pattern) and pattern[index] == "**":
                nexts.add(index)
            elif index < len(pattern) and fnmatchcase(name, pattern[index]):
                nexts.add(index + 1)
        reached = nexts
    return len(pattern) in _with_empty(reached, pattern)


def _with_empty(reached: set[int], pattern: list[str]) -> set[int]:
    """Add the places behind each `**` that stands for nothing."""
    more = set(reached)
    for index in reached:
        while index < len(pattern) and pattern[index] == "**":
            index += 1
            more.add(index)
    return more


def _reader(
    item: Found, chosen: Adapter | None, log: ReadLog, ignored: list[Document] | None
) -> tuple[Adapter | None, Document | None]:
    """Return who reads a document, and the document unpacked if it is packed.

    Without a reader, a document says that it was reported; none that it is no trace.
    """
    document = item.document
    is_of_scores = os.path.basename(document.uri) == METRICS
    is_named = item.explicit and not is_of_scores
    try:
        head = document.head(HEAD)
        if len(head) < HEAD and not head.removeprefix(BOM).strip():
            if is_named or (document.uri.endswith(TRACE_ENDINGS) and not is_of_scores):
                empty(document, log)
                return None, document
            _ignore(document, ignored)
            return None, None
        if chosen is not None and not is_named and not _knows(chosen, document, head):
            return _ignore(document, ignored)
        if chosen is not None:
            plain = _unpacked(document, head) if chosen.name != "dsh" else None
            return chosen, plain or document
        reader, plain = _sniff(document, head)
    except OSError as error:
        unreadable(document, error, log)
        return None, document
    if reader is not None:
        return reader, plain
    if not is_named:
        return _ignore(document, ignored)
    from outstep.adapters.opening import opening

    log.fault(
        "adapter/unknown-format",
        f"no adapter knows `{document.uri}`: it looks like {opening(head).looks}",
        place=Place(source=document.uri),
        help=f"name its format with `--format`: one of {', '.join(names())}",
    )
    return None, document


def _unpacked(document: Document, head: bytes) -> Document | None:
    from outstep.adapters.compressed import unpacked  # seldom needed: most traces are plain

    return unpacked(document, head)


def _ignore(document: Document, ignored: list[Document] | None) -> tuple[None, None]:
    if ignored is not None:
        ignored.append(document)
    return None, None


def _knows(reader: Adapter, document: Document, head: bytes) -> bool:
    if reader.sniff(document, head):
        return True
    plain = _unpacked(document, head) if reader.name != "dsh" else None
    return plain is not None and reader.sniff(plain, plain.head(HEAD))


def _sniff(document: Document, head: bytes) -> tuple[Adapter | None, Document]:
    for name in NAMES:
        if adapter(name).sniff(document, head):
            return adapter(name), document
    plain = _unpacked(document, head)
    if plain is not None:
        document, head = plain, plain.head(HEAD)
        for name in NAMES:
            # Packed logs of its own are the harness adapter's business, and known to it without help.
            if name != "dsh" and adapter(name).sniff(document, head):
                return adapter(name), document
    for name in names()[len(NAMES) :]:
        if adapter(name).sniff(document, head):
            return adapter(name), document
    return None, document


def _no_traces(folder: str, log: ReadLog) -> None:
    log.fault(
        "input/no-traces",
        f"no file below `{folder}` is a trace",
        place=Place(source=folder),
        help=f"looked for {', '.join(NAMES)} by content, in files that are not hidden",
    )

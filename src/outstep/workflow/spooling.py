"""Recorded documents redacted before anything else reads them: what is kept, judged and told has seen no original."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from msgspec import Struct, json

from outstep.adapters.base import Document, ReadLog
from outstep.adapters.discover import Found, groups
from outstep.errors import OutstepError, Place, Problem
from outstep.evidence.entries import Redaction
from outstep.redaction.documents import Redacted
from outstep.workflow.redacting import Redactor

IN_MEMORY = 1 << 28
"""Bytes of redacted documents that are held in memory; more go to a temporary folder of this user."""


class Spooled(Struct, frozen=True, kw_only=True):
    """Documents as they are kept, each read once: a session that goes on meanwhile cannot slip past."""

    found: list[Found]
    redacted: dict[str, Redacted]
    """By the name of the document, without its bytes."""
    redactor: Redactor

    def about(self, names: Sequence[str], keep: Callable[[bytes], str]) -> Redaction:
        """Return what an entry says of the redaction of some documents."""
        counted: dict[str, int] = {}
        for name in names:
            for kind, count in self.redacted[name].replaced.items():
                counted[kind] = counted.get(kind, 0) + count
        told = self.redactor.told()
        return Redaction(
            profile=self.redactor.rules.profile,
            rules=keep(json.encode(told, order="sorted")) if told else "",
            replaced=dict(sorted(counted.items())),
        )


class Spool(AbstractContextManager["Spool"]):
    """Where redacted documents lie until they are kept."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._size = self._count = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing behind."""
        if self._folder is not None:
            self._folder.cleanup()

    def take(self, found: Sequence[Found], format: str | None, redactor: Redactor, log: ReadLog) -> Spooled:
        """Return documents redacted; those that cannot be are told in `log`, where they are traces or were named."""
        claimed = {one.uri for group in groups(found, format, ReadLog()) for one in group.documents}
        kept: list[Found] = []
        redacted: dict[str, Redacted] = {}
        for one in found:
            # Other files of a folder are nobody's: they are neither read nor told of.
            if one.document.uri not in claimed and not one.explicit:
                continue
            try:
                document, done = redactor.redacted(one.document)
            except OutstepError as error:
                log.faults += error.problems
                continue
            except OSError as error:
                told = (error.strerror or str(error)).lower()
                name = redactor.name(one.document.uri)
                sentence = f"`{name}` cannot be read: {told}"
                log.faults.append(Problem(code="input/unreadable", sentence=sentence, place=Place(source=name)))
                continue
            redacted[document.uri] = Redacted(data=b"", replaced=done.replaced, commitment=done.commitment)
            kept.append(Found(document=self._held(document.uri, done.data), explicit=one.explicit))
        return Spooled(found=kept, redacted=redacted, redactor=redactor)

    def _held(self, uri: str, data: bytes) -> Document:
        self._size += len(data)
        if self._size <= IN_MEMORY:
            return Document(uri, data=data)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="outstep-")
        self._count += 1
        path = os.path.join(self._folder.name, str(self._count))
        with open(path, "wb") as file:
            file.write(data)
        return Document(uri, path)

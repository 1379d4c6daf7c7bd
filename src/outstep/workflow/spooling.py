"""Recorded documents, copied once and redacted before they are read: what is kept and judged has seen no original."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from msgspec import json, structs

from outstep.adapters.base import Document, ReadLog
from outstep.adapters.discover import Group
from outstep.errors import OutstepError, Place, Problem
from outstep.evidence.entries import Redaction
from outstep.redaction.documents import Redacted
from outstep.workflow.redacting import Redactor

IN_MEMORY = 1 << 28
"""Bytes of the documents of one group that are held in memory; more go to a temporary folder of this user."""
UNREDACTED = Redaction(profile="none")


class Spool(AbstractContextManager["Spool"]):
    """Where documents lie until they are kept: each is read once, so a session that goes on cannot slip past."""

    def __init__(self, redactor: Redactor | None) -> None:
        """Without a redactor the copies are the originals."""
        self._redactor = redactor
        self._redacted: dict[str, Redacted] = {}
        """By the name of the document, without its bytes."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._size = self._count = 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing behind."""
        if self._folder is not None:
            self._folder.cleanup()

    def take(self, group: Group, log: ReadLog) -> Group:
        """Return copies of documents; those that cannot be read or redacted are told in `log`, and are not there."""
        self._size = 0
        self._redacted = {}
        copies = []
        for document in group.documents:
            try:
                name, done = self._copied(document)
            except OutstepError as error:
                log.faults += error.problems
            except OSError as error:
                told = (error.strerror or str(error)).lower()
                name = self._name(document.uri)
                sentence = f"`{name}` cannot be read: {told}"
                log.faults.append(Problem(code="input/unreadable", sentence=sentence, place=Place(source=name)))
            else:
                copies.append(self._held(name, done.data))
                self._redacted[name] = structs.replace(done, data=b"", places=())
        return Group(adapter=group.adapter, documents=copies)

    def commitment(self, name: str) -> str:
        """Return what binds a document to its original; empty where it is the original."""
        return self._redacted[name].commitment

    def about(self, names: Sequence[str], keep: Callable[[bytes], str]) -> Redaction:
        """Return what an entry says of the redaction of some documents."""
        if self._redactor is None:
            return UNREDACTED
        counted: dict[str, int] = {}
        for name in names:
            for kind, count in self._redacted[name].replaced.items():
                counted[kind] = counted.get(kind, 0) + count
        told = self._redactor.told()
        return Redaction(
            profile=self._redactor.rules.profile,
            rules=keep(json.encode(told, order="sorted")) if told else "",
            replaced=dict(sorted(counted.items())),
        )

    def clean(self, problem: Problem) -> Problem:
        """Return a message that may quote an original as it may be told."""
        if self._redactor is None:
            return problem
        place = problem.place
        if place is not None:
            place = structs.replace(place, source=self._name(place.source))
        return structs.replace(problem, sentence=self._name(problem.sentence), excerpt="", place=place)

    def _copied(self, document: Document) -> tuple[str, Redacted]:
        if self._redactor is None:
            return document.uri, Redacted(data=document.read())
        copy, done = self._redactor.redacted(document)
        return copy.uri, done

    def _name(self, text: str) -> str:
        return text if self._redactor is None else self._redactor.name(text)

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

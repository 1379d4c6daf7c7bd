"""Folders in which harnesses write their sessions, looked at again and again; what is new or has grown is kept.

There is no state but what was kept: who was killed begins anew, sees what is there already, and adds the rest.
docs: docs/recording.md
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from outstep.adapters.base import ReadLog
from outstep.adapters.discover import Found, documents, groups
from outstep.adapters.dsh.storage import LOG_NAME
from outstep.errors import Place, Problem, problem
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store, Writer
from outstep.workflow.checking import CheckOptions
from outstep.workflow.ingesting import Documents, Ingested, ingest
from outstep.workflow.redacting import Redactor
from outstep.workflow.sealing import Pinned
from outstep.workflow.spooling import Spool

SETTLED = 5.0
"""Seconds after which a session that does not grow any more is kept."""
PATIENCE = 60.0
"""Seconds after which one that still grows is kept as far as it is."""

_Mark = tuple[int, int, int]


class Keeper(Protocol):
    """Where sessions go."""

    def keep(self, found: Sequence[Found]) -> Ingested:
        """Keep documents, apart from what is there already; what this returns is safe."""
        ...


class InStore(Struct, frozen=True):
    """Keeps sessions as entries of a store."""

    store: Store
    key: SigningKey
    clock: Callable[[], str]
    contracts: tuple[Pinned, ...]
    options: CheckOptions
    redactor: Redactor | None
    told: Callable[[Writer], None]

    def keep(self, found: Sequence[Found]) -> Ingested:
        """Seal documents that no entry holds with these bytes."""
        with self.store.writing(self.key, self.clock) as writer:
            self.told(writer)
            known = {_held(entry.documents) for entry in self.store.log.entries() if entry.kind == "run"}
            return ingest(writer, found, self.contracts, self.options, self.redactor, ReadLog(), known)


class InFolder(Struct, frozen=True):
    """Keeps sessions as files, redacted, each whole or as it was before."""

    folder: Path
    options: CheckOptions
    redactor: Redactor | None

    def keep(self, found: Sequence[Found]) -> Ingested:
        """Write documents whose bytes are others than those in the folder."""
        done, log = Ingested(), ReadLog()
        with Spool(self.redactor) as spool:
            for group in groups(found, self.options.format, log):
                for document in spool.take(group, log).documents:
                    if _written(self.folder / _within(document.uri), document.read()):
                        done.entries += 1
                        done.replaced.update(spool.about([document.uri], _digest).replaced)
            done.faults = tuple(dict.fromkeys(map(spool.clean, log.faults)))
        return done


class Follower:
    """Looks at folders, and keeps what has changed since the last look."""

    def __init__(self, folders: Sequence[str], keeper: Keeper, clock: Callable[[], float], *, skips: bool) -> None:
        """With `skips`, what is there at the beginning is passed over, unless it changes."""
        self.folders = list(folders)
        self._keeper = keeper
        self._clock = clock
        self._kept: dict[str, _Mark] = {}
        self._seen: dict[str, tuple[_Mark, float, float]] = {}
        """Of files that changed: as they are, when they changed last, and when first."""
        if skips:
            self._kept = {one.document.uri: mark for one, mark in self._look()}

    def step(self, *, is_last: bool = False) -> Ingested | None:
        """Keep what has settled, or has grown for long; at the last look, everything. None where nothing is due."""
        now = self._clock()
        due: list[tuple[Found, _Mark]] = []
        looked = self._look()
        for one, mark in looked:
            name = one.document.uri
            if self._kept.get(name) == mark:
                continue
            before, changed, first = self._seen.get(name, (mark, now, now))
            changed = changed if before == mark else now
            self._seen[name] = (mark, changed, first)
            if is_last or now - changed >= SETTLED or now - first >= PATIENCE:
                due.append((one, mark))
        if not due:
            return None
        # Files of one session make one trace: those beside a file that changed are looked at with it.
        families = {_family(one.document.uri) for one, _ in due}
        together = [one for one, _ in looked if _family(one.document.uri) in families]
        done = self._keeper.keep(together)
        for one, mark in due:
            self._kept[one.document.uri] = mark
            self._seen.pop(one.document.uri, None)
        return done

    def _look(self) -> list[tuple[Found, _Mark]]:
        log = ReadLog()
        looked = []
        for one in documents([folder for folder in self.folders if os.path.isdir(folder)], log):
            try:
                about = os.stat(one.document.uri)
            except OSError:
                continue
            if about.st_size:
                looked.append((one, (about.st_size, about.st_mtime_ns, about.st_ino)))
        return looked


def _held(documents: Documents) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((document.name, document.sha256) for document in documents))


def _family(uri: str) -> str:
    """Return what the files of a session share: dsh keeps sub-agents in folders beside that of the session."""
    folder, name = os.path.split(uri)
    return os.path.dirname(folder) if LOG_NAME.fullmatch(name) else uri


def _within(uri: str) -> str:
    """Return a name below a folder, whatever the way to the original was."""
    parts = [part for part in os.path.normpath(uri).replace("\\", "/").split("/") if part not in ("", "..", ".")]
    return "/".join(parts)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _written(path: Path, data: bytes) -> bool:
    """Write a file if it has other bytes; it is on the disk when this returns. Raises `OutstepError`."""
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name[:80]}.{os.getpid()}.part")
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        raise problem(
            "output/unwritable",
            f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}",
            place=Place(source=str(path)),
            help="name a folder in which you may write",
        ) from None
    return True


def unrecorded(folders: Sequence[str]) -> Problem:
    """Return the message that a command has left no session."""
    listed = ", ".join(f"`{folder}`" for folder in folders)
    return Problem(
        code="record/no-session",
        sentence=f"the command wrote no session to {listed}",
        help="name where it writes its sessions: --watch DIR",
    )

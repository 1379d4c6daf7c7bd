"""A store of evidence in a folder: objects by digest, the log, and who may sign it (`store/v1`, docs/evidence.md)."""

from __future__ import annotations

import base64
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from outstep.errors import Place, problem
from outstep.evidence.entries import Digest, Entry, SignedHead, canonical, read_head
from outstep.evidence.log import FILES, Log, Tail
from outstep.evidence.merkle import root_of
from outstep.evidence.objects import Damaged, FolderObjects, Objects, PlainObjects, sync_file, sync_folder
from outstep.evidence.signing import PublicKey, SigningKey

STORE = "store/v1"
ABOUT, LOCK, KEYS, OBJECTS, LOG = "store.json", "lock", "keys", "objects", "log"
DOCUMENTS = "documents"
"""In an export the objects lie here, plain."""
_ID = re.compile(r"[0-9a-f]{32}\Z")
_PATIENCE = 600
"""Seconds that a writer waits for another one."""


class About(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `store.json` says."""

    schema: str
    id: str
    """32 hexadecimal digits, drawn when the store was made: heads of another store do not fit."""
    redaction: str = "standard"
    """The profile with which documents are added when nobody says otherwise; `none`: they are stored as they are."""


class Store:
    """A store that exists."""

    def __init__(self, folder: Path, about: About) -> None:
        self.folder = folder
        self.about = about
        plain = folder / DOCUMENTS
        self.objects: Objects = PlainObjects(plain) if plain.is_dir() else FolderObjects(folder / OBJECTS)
        self.log = Log(folder / LOG, about.id, sha256(canonical(about) + b"\n").hexdigest())

    @classmethod
    def init(cls, folder: Path, key: SigningKey, *, redaction: str = "standard") -> Store:
        """Make a store in a folder that is empty or not there yet; raises `OutstepError`."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise problem(
                "evidence/not-empty",
                f"`{folder}` is not empty",
                place=Place(source=str(folder)),
                help="name a folder that is empty or not there yet",
            )
        about = About(schema=STORE, id=secrets.token_hex(16), redaction=redaction)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (KEYS, OBJECTS):
            (folder / name).mkdir()
        store = cls(folder, about)
        store.log.begin()
        _write_new(folder / KEYS / f"{key.public.id}.pem", key.public.pem)
        (folder / LOCK).touch()
        # Last of all: a folder without it is no store.
        _write_new(folder / ABOUT, canonical(about) + b"\n")
        sync_folder(folder)
        return store

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Return the store in a folder; raises `OutstepError` where there is none."""
        place = Place(source=str(folder / ABOUT))
        help = f"make one: outstep evidence init {folder}"
        try:
            data = (folder / ABOUT).read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise problem(
                "evidence/no-store", f"there is no store in `{folder}`: {reason}", place=place, help=help
            ) from None
        try:
            about = msgspec.json.decode(data, type=About)
        except (msgspec.DecodeError, RecursionError) as error:
            raise problem("evidence/no-store", f"`{folder}` holds no store: {error}", place=place, help=help) from None
        if about.schema != STORE or not _ID.match(about.id):
            raise problem(
                "evidence/unknown-schema",
                f"`{folder}` is written in `{about.schema[:40]}`, and this version reads `{STORE}`",
                place=place,
                help="use the version of Outstep that wrote it",
            )
        lacking = [f"{LOG}/{name}" for name in FILES if not (folder / LOG / name).is_file()]
        if lacking:
            raise problem(
                "evidence/missing-file",
                f"the store in `{folder}` lacks {', '.join(f'`{name}`' for name in lacking)}",
                place=Place(source=str(folder / lacking[0])),
                help="this is not what was sealed: compare it with another copy of the store",
            )
        return cls(folder, about)

    def keys(self) -> dict[str, PublicKey]:
        """Return the public keys that lie in the store, by id; whether to trust them is another question."""
        found = {}
        for path in sorted((self.folder / KEYS).glob("*.pem")):
            data = path.read_bytes()
            key = PublicKey.read(data, str(path))
            if key.pem != data or path.name != f"{key.id}.pem":
                raise problem(
                    "evidence/bad-key",
                    f"`{path.name}` is not as Outstep writes the key `{key.id}`",
                    place=Place(source=str(path)),
                    help="compare it with another copy of the store",
                )
            found[key.id] = key
        return found

    def export(self, folder: Path) -> int:
        """Write everything as plain files into a folder that is empty or not there yet; return how many objects.

        An export can be verified and judged again like a store; nothing is written to it. Raises `OutstepError`.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise problem(
                "evidence/not-empty",
                f"`{folder}` is not empty",
                place=Place(source=str(folder)),
                help="name a folder that is empty or not there yet",
            )
        for name in (KEYS, LOG, DOCUMENTS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        newest = self.log.newest()
        for path in [*(self.folder / KEYS).glob("*.pem"), *(self.folder / LOG / name for name in FILES)]:
            (folder / path.relative_to(self.folder)).write_bytes(path.read_bytes())
        count = 0
        objects = PlainObjects(folder / DOCUMENTS)
        for digest in self.objects.digests():
            objects.put(self._whole(digest))
            count += 1
        if newest is not None:
            (folder / "head.json").write_bytes(canonical(newest.head))
            (folder / "head.sig").write_bytes(base64.b64decode(newest.signature))
        (folder / ABOUT).write_bytes((self.folder / ABOUT).read_bytes())
        return count

    def _whole(self, digest: Digest) -> bytes:
        try:
            return self.objects.get(digest)
        except Damaged as error:
            raise problem(
                "evidence/swapped-object",
                f"the object `{digest}` is not what was sealed: {error}",
                place=Place(source=str(self.folder)),
                help="outstep evidence verify says more; an export of it would prove nothing",
            ) from None

    @contextmanager
    def writing(self, key: SigningKey, clock: Callable[[], str]) -> Iterator[Writer]:
        """Be the one writer for a while; waits for another one."""
        from filelock import FileLock, Timeout

        if isinstance(self.objects, PlainObjects):
            raise problem(
                "evidence/read-only",
                f"`{self.folder}` is an export, and nothing is written to one",
                place=Place(source=str(self.folder)),
                help="name the store itself",
            )
        lock = FileLock(str(self.folder / LOCK), timeout=_PATIENCE)
        try:
            lock.acquire()
        except Timeout:
            raise problem(
                "evidence/locked",
                f"another process has written to `{self.folder}` for more than {_PATIENCE} seconds",
                place=Place(source=str(self.folder / LOCK)),
                help="wait for it, or end it; no file needs to be deleted",
            ) from None
        try:
            tails = self.log.repair()
            self._check_kept_head()
            if not (self.folder / KEYS / f"{key.public.id}.pem").exists():
                _write_new(self.folder / KEYS / f"{key.public.id}.pem", key.public.pem)
            yield Writer(self, key, clock, tails)
        finally:
            lock.release()

    def _check_kept_head(self) -> None:
        """Refuse to write behind a log that lacks what was seen in it on this machine."""
        kept, newest = kept_head(self.about.id), self.log.newest()
        if kept is None or kept == newest:
            return
        size = newest.head.size if newest is not None else 0
        if kept.head.size <= size and root_of(self.log.leaves()[: kept.head.size]).hex() == kept.head.root:
            return
        raise problem(
            "evidence/truncated",
            f"the log lacks what was in it: {kept.head.size} entries were sealed on {kept.head.time}, {size} are there",
            place=Place(source=str(self.log.folder)),
            help="outstep evidence verify says more; restore the store, nothing is written behind a hole",
        )


class Writer:
    """Adds to a store, in groups: what `commit` has returned is safe."""

    def __init__(self, store: Store, key: SigningKey, clock: Callable[[], str], tails: Sequence[Tail]) -> None:
        self.store = store
        self.repaired = tuple(tails)
        """What an earlier writer left unfinished, set aside."""
        self._key = key
        self._clock = clock
        self._entries: list[Entry] = []

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe with the next commit."""
        return self.store.objects.put(data)

    def add(self, entry: Entry) -> None:
        """Take an entry; it is in the log with the next commit."""
        self._entries.append(entry)

    @property
    def waiting(self) -> int:
        """How many entries wait for the next commit."""
        return len(self._entries)

    def commit(self) -> SignedHead | None:
        """Write everything that was taken, objects first; return the head that covers it, or none without entries."""
        self.store.objects.flush()
        if not self._entries:
            return None
        entries, self._entries = self._entries, []
        signed = self.store.log.append(entries, self._key, self._clock)
        keep_head(signed)
        return signed


def heads_folder() -> Path | None:
    """Return where the newest head of every store that was seen here is kept, apart from the stores themselves."""
    if named := os.environ.get("OUTSTEP_STATE_DIR"):
        return Path(named) / "heads"
    base = os.environ.get("XDG_STATE_HOME") or ""
    if os.path.isabs(base):
        return Path(base) / "outstep" / "heads"
    home = os.path.expanduser("~/.local/state")
    return None if home.startswith("~") else Path(home) / "outstep" / "heads"


def keep_head(signed: SignedHead) -> None:
    """Remember a head apart from its store, so that a log that was cut back is noticed; where it can be done."""
    folder = heads_folder()
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = kept_head(signed.head.store)
        if known is None or known.head.size < signed.head.size:
            beside = folder / f".{signed.head.store}.{os.getpid()}.part"
            beside.write_bytes(canonical(signed) + b"\n")
            os.replace(beside, folder / f"{signed.head.store}.json")
    except OSError:
        # A machine without a place for it can still seal; `verify` then says that no kept head was at hand.
        return


def kept_head(store: str) -> SignedHead | None:
    """Return the newest head of a store that was seen on this machine, or none."""
    folder = heads_folder()
    if folder is None:
        return None
    try:
        return read_head((folder / f"{store}.json").read_bytes().strip())
    except (OSError, ValueError):
        return None


def _write_new(path: Path, data: bytes) -> None:
    beside = path.parent / f".{path.name}.{os.getpid()}.part"
    beside.write_bytes(data)
    sync_file(beside)
    os.replace(beside, path)
    sync_folder(path.parent)

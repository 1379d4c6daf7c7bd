"""A store of evidence: objects by digest, the log, and who may sign it (`store/v1`, docs/evidence.md)."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from outstep.errors import Place, problem
from outstep.evidence.completeness import completeness, text
from outstep.evidence.entries import Digest, Entry, SignedHead, canonical
from outstep.evidence.folder import FolderHome, check_empty
from outstep.evidence.home import ABOUT, COMPLETENESS, DOCUMENTS, KEYS, LOG, STORE, Home
from outstep.evidence.kept import keep_head, kept_head
from outstep.evidence.log import ENTRIES, HEADS, LEAVES, Log, Tail
from outstep.evidence.merkle import root_of
from outstep.evidence.objects import Damaged, PlainObjects
from outstep.evidence.signing import PublicKey, SigningKey

_ID = re.compile(r"[0-9a-f]{32}\Z")
BUCKET = "s3://"
"""Begins the location of a store in a bucket."""


class About(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `store.json` says."""

    schema: str
    id: str
    """32 hexadecimal digits, drawn when the store was made: heads of another store do not fit."""
    redaction: str = "standard"
    """The profile with which documents are added when nobody says otherwise; `none`: they are stored as they are."""


class Store:
    """A store that exists."""

    def __init__(self, home: Home, about: About) -> None:
        self.home = home
        self.about = about
        self.objects = home.objects
        self.log: Log = home.log(about.id, sha256(canonical(about) + b"\n").hexdigest())

    @property
    def location(self) -> str:
        """How the store is named: its folder, or `s3://bucket/prefix`."""
        return self.home.location

    @property
    def folder(self) -> Path:
        """The folder of a store that lies in one."""
        return Path(self.home.location)

    @classmethod
    def init(cls, location: Path | str, key: SigningKey, *, redaction: str = "standard") -> Store:
        """Make a store in a folder that is empty or not there yet, or in a bucket; raises `OutstepError`."""
        about = About(schema=STORE, id=secrets.token_hex(16), redaction=redaction)
        home = home_of(location)
        with unwritable(home):
            home.begin(about.id, sha256(canonical(about) + b"\n").hexdigest())
            home.write_new(f"{KEYS}/{key.public.id}.pem", key.public.pem)
            # Last of all: a folder without it is no store.
            home.write_new(ABOUT, canonical(about) + b"\n")
        return cls(home, about)

    @classmethod
    def open(cls, location: Path | str) -> Store:
        """Return the store in a folder or bucket; raises `OutstepError` where there is none."""
        home = home_of(location)
        place = home.place(ABOUT)
        help = f"make one: outstep evidence init {home.location}"
        try:
            data = home.read(ABOUT)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise problem(
                "evidence/no-store", f"there is no store in `{home.location}`: {reason}", place=place, help=help
            ) from None
        try:
            about = msgspec.json.decode(data, type=About)
        except (msgspec.DecodeError, RecursionError) as error:
            raise problem(
                "evidence/no-store", f"`{home.location}` holds no store: {error}", place=place, help=help
            ) from None
        if about.schema != STORE or not _ID.match(about.id):
            raise problem(
                "evidence/unknown-schema",
                f"`{home.location}` is written in `{about.schema[:40]}`, and this version reads `{STORE}`",
                place=place,
                help="use the version of Outstep that wrote it",
            )
        if lacking := home.lacking():
            raise problem(
                "evidence/missing-file",
                f"the store in `{home.location}` lacks {', '.join(f'`{name}`' for name in lacking)}",
                place=home.place(lacking[0]),
                help="this is not what was sealed: compare it with another copy of the store",
            )
        return cls(home, about)

    def keys(self) -> dict[str, PublicKey]:
        """Return the public keys that lie in the store, by id; whether to trust them is another question."""
        found = {}
        for name in self.home.names(KEYS):
            if not name.endswith(".pem"):
                continue
            place = self.home.place(f"{KEYS}/{name}")
            try:
                data = self.home.read(f"{KEYS}/{name}")
            except OSError as error:
                reason = (error.strerror or str(error)).lower()
                raise problem(
                    "evidence/bad-key",
                    f"`{name}` cannot be read: {reason}",
                    place=place,
                    help="compare it with another copy of the store",
                ) from None
            key = PublicKey.read(data, place.source)
            if key.pem != data or name != f"{key.id}.pem":
                raise problem(
                    "evidence/bad-key",
                    f"`{name}` is not as Outstep writes the key `{key.id}`",
                    place=place,
                    help="compare it with another copy of the store",
                )
            found[key.id] = key
        return found

    def export(self, folder: Path) -> int:
        """Write everything as plain files into a folder that is empty or not there yet; return how many objects.

        An export can be verified and judged again like a store; nothing is written to it. Raises `OutstepError`.
        """
        check_empty(folder)
        target = FolderHome(folder)
        with unwritable(target):
            for name in (KEYS, LOG, DOCUMENTS):
                (folder / name).mkdir(parents=True, exist_ok=True)
            # As far as the newest head: another process may be writing behind it.
            newest = self.log.newest()
            size = newest.head.size if newest is not None else 0
            heads, _ = self.log.head_lines()
            heads = heads[: newest.head.number + 1] if newest is not None else []
            with (folder / LOG / ENTRIES).open("wb") as file:
                file.writelines(line for line, _ in zip(self.log.lines(), range(size), strict=False))
            (folder / LOG / LEAVES).write_bytes(b"".join(self.log.leaves()[:size]))
            (folder / LOG / HEADS).write_bytes(b"".join(line + b"\n" for line in heads))
            for name in self.home.names(KEYS):
                (folder / KEYS / name).write_bytes(self.home.read(f"{KEYS}/{name}"))
            count = 0
            objects = PlainObjects(folder / DOCUMENTS)
            for digest in self.objects.digests():
                objects.put(self._whole(digest))
                count += 1
            if newest is not None:
                (folder / "head.json").write_bytes(canonical(newest.head))
                (folder / "head.sig").write_bytes(base64.b64decode(newest.signature))
            covered = zip(self.log.entries(), range(size), strict=False)
            (folder / COMPLETENESS).write_bytes(text(completeness(entry for entry, _ in covered)))
            (folder / ABOUT).write_bytes(self.home.read(ABOUT))
        return count

    def _whole(self, digest: Digest) -> bytes:
        try:
            return self.objects.get(digest)
        except Damaged as error:
            raise problem(
                "evidence/swapped-object",
                f"the object `{digest}` is not what was sealed: {error}",
                place=self.home.place(self.objects.file(digest)),
                help="outstep evidence verify says more; an export of it would prove nothing",
            ) from None

    @contextmanager
    def writing(self, key: SigningKey, clock: Callable[[], str]) -> Iterator[Writer]:
        """Be a writer for a while; waits for another one. Raises `OutstepError`."""
        if self.home.is_read_only:
            raise problem(
                "evidence/read-only",
                f"`{self.location}` is an export, and nothing is written to one",
                place=Place(source=self.location),
                help="name the store itself",
            )
        lock = self.home.locked()
        with unwritable(self.home):
            lock.__enter__()
        try:
            with unwritable(self.home):
                tails = self.log.repair()
                self._check_kept_head()
                if f"{key.public.id}.pem" not in self.home.names(KEYS):
                    self.home.write_new(f"{KEYS}/{key.public.id}.pem", key.public.pem)
            yield Writer(self, key, clock, tails)
        finally:
            lock.__exit__(None, None, None)

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
            place=self.home.place(LOG),
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
        """Keep some bytes; they are safe with the next commit. Raises `OutstepError`."""
        with unwritable(self.store.home):
            return self.store.objects.put(data)

    def add(self, entry: Entry) -> None:
        """Take an entry; it is in the log with the next commit."""
        self._entries.append(entry)

    @property
    def waiting(self) -> int:
        """How many entries wait for the next commit."""
        return len(self._entries)

    def commit(self) -> SignedHead | None:
        """Write everything that was taken, objects first; return the head that covers it, or none without entries.

        Raises `OutstepError` where it cannot be written: then nothing of it is in the log.
        """
        with unwritable(self.store.home):
            self.store.objects.flush()
            if not self._entries:
                return None
            signed = self.store.log.append(self._entries, self._key, self._clock)
        self._entries = []
        keep_head(signed)
        return signed


def home_of(location: Path | str) -> Home:
    """Return the place that a location names; raises `OutstepError` for one that no store can lie in."""
    if isinstance(location, str) and location.startswith(BUCKET):
        from outstep.evidence.bucket import BucketHome

        return BucketHome(location)
    if isinstance(location, str) and "://" in location:
        raise problem(
            "evidence/no-store",
            f"`{location}` is no place for a store",
            help="name a folder, or s3://BUCKET/PREFIX",
        )
    return FolderHome(Path(location))


@contextmanager
def unwritable(home: Home) -> Iterator[None]:
    """Turn an `OSError` of writing to a store into an `OutstepError`."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "evidence/unwritable",
            f"`{home.location}` cannot be written to: {reason}",
            place=Place(source=str(error.filename or home.location)),
            help="nothing that was not told as sealed is in the log; make room or leave, and add it again",
        ) from None

"""A store in a bucket of an S3-compatible service: nothing is ever overwritten, and no lock is needed.

Every object is written on the condition that there is none of its name (`If-None-Match: *`), so of two writers of the
same commit one wins and the other comes behind it. Needs the extra `s3` (boto3).
docs: docs/evidence.md#a-store-in-a-bucket
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from hashlib import sha256
from threading import Semaphore

from outstep.errors import Place, problem
from outstep.evidence.bucket_log import BucketLog
from outstep.evidence.entries import Digest
from outstep.evidence.home import ABOUT, KEYS, LOG, OBJECTS, Seen
from outstep.evidence.objects import LARGEST, Damaged, Objects, packed, unpacked
from outstep.evidence.s3 import Bucket

_OBJECT = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})(?:\.([0-9]{1,6}))?\.zst\Z")
_LANES = 16
"""Requests under way at once."""


class BucketHome:
    """A prefix of a bucket with a store."""

    is_read_only = False

    def __init__(self, location: str) -> None:
        """`location` is `s3://bucket/prefix`; raises `OutstepError`."""
        self._bucket = Bucket(location)
        self.location = self._bucket.location
        self._objects = BucketObjects(self._bucket)
        self.objects: Objects = self._objects

    def begin(self, store: str, about: Digest) -> None:  # noqa: ARG002 - an empty log is no object
        """Raise `OutstepError` where something is already."""
        if next(self._bucket.files(""), None) is not None:
            raise problem(
                "evidence/not-empty",
                f"there is something in `{self.location}` already",
                place=Place(source=self.location),
                help="name a prefix under which there is nothing yet",
            )

    def log(self, store: str, about: Digest) -> BucketLog:
        """Return the log of the store of this id, and with this digest of what it says of itself."""
        log = BucketLog(self._bucket, store, about)
        self._objects.log = log
        return log

    def lacking(self) -> Sequence[str]:
        """Return nothing: an empty log has no file."""
        return ()

    def read(self, name: str) -> bytes:
        """Return the bytes of a small file; raises `OSError`."""
        return self._bucket.get(name)

    def write_new(self, name: str, data: bytes) -> None:
        """Write a small file, whole or not at all."""
        is_new = self._bucket.put_new(name, data)
        if not is_new and self._bucket.get(name) != data:
            raise FileExistsError(f"`{name}` is there already")
        if name == ABOUT and self._bucket.put_new(name, data):
            self._bucket.remove(name)
            raise OSError(
                "The service overwrites an object that was to be written only if there is none (If-None-Match)"
            )

    def names(self, folder: str) -> list[str]:
        """Return the names of the files right in a folder, sorted."""
        return [seen.name.removeprefix(f"{folder}/") for seen in self._bucket.files(f"{folder}/")]

    def files(self) -> Iterator[Seen]:
        """Yield every file there is, sorted by name."""
        return self._bucket.files("")

    def belongs(self, parts: tuple[str, ...]) -> bool:
        """Return whether a file has its place in a store."""
        folder, *rest = parts
        if folder == LOG:
            return BucketLog.is_commit("/".join(parts))
        if folder == OBJECTS:
            return _OBJECT.match("/".join(rest)) is not None
        return parts == (ABOUT,) or (folder == KEYS and len(rest) == 1 and rest[0].endswith(".pem"))

    def place(self, name: str) -> Place:
        """Return where a file is, to be shown."""
        return Place(source=f"{self.location}/{name}")

    def locked(self) -> nullcontext[None]:
        """Hold nobody back: what was let go since is looked up anew."""
        self._objects.forget()
        return nullcontext()


class BucketObjects:
    """Objects `objects/ab/cdef….zst`.

    One that was let go and is added again gets a new name, `….N.zst`: who lets the old one go cannot meet the new one.
    """

    readers = _LANES

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._pool: ThreadPoolExecutor | None = None
        self._free = Semaphore(_LANES * 4)
        self._pending: dict[Digest, Future[bool]] = {}
        self._known: set[Digest] = set()
        self._times_gone: dict[Digest, int] | None = None
        self.log: BucketLog | None = None

    def forget(self) -> None:
        """Look up anew what was let go, and what is there."""
        self._times_gone = None
        self._known = set()

    def put(self, data: bytes) -> Digest:
        """Keep some bytes; they are safe once `flush` has returned."""
        digest = sha256(data).hexdigest()
        if digest in self._pending or digest in self._known:
            return digest
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_LANES)
        # Whoever makes documents faster than the network takes them waits, and does not fill the memory.
        self._free.acquire()
        self._pending[digest] = self._pool.submit(self._upload, self._name(digest, self._gone(digest)), data)
        return digest

    def _upload(self, name: str, data: bytes) -> bool:
        try:
            return self._bucket.put_new(name, packed(data))
        finally:
            self._free.release()

    def flush(self) -> None:
        """Return when all that was put is safe."""
        pending, self._pending = self._pending, {}
        try:
            for digest, done in pending.items():
                done.result()
                self._known.add(digest)
        except BaseException:
            for done in pending.values():
                done.cancel()
            raise

    def get(self, digest: Digest, most: int = LARGEST) -> bytes:
        """Return some bytes, held against their digest; raises `Damaged`, also for more than `most` bytes."""
        return b"".join(unpacked(self._packed(digest), digest, most))

    def check(self, digest: Digest) -> None:
        """Hold some bytes against their digest, with no more than a piece of them in memory; raises `Damaged`."""
        for _ in unpacked(self._packed(digest), digest, LARGEST):
            pass

    def has(self, digest: Digest) -> bool:
        """Return whether there is such an object; not whether it is whole."""
        return digest in self._pending or any(digest == one for one, _ in self._listed(digest))

    def digests(self) -> Iterator[Digest]:
        """Yield what is kept, sorted."""
        return iter(dict.fromkeys(digest for digest, _ in self._listed("")))

    def removal(self, digests: Sequence[Digest]) -> Callable[[], None]:
        """Return what lets objects go as they are there now; what is added again before it is called stays."""
        names = [self._name(digest, number) for digest in digests for number in range(self._gone(digest) + 1)]

        def let_go() -> None:
            for name in names:
                self._bucket.remove(name)
            self._known.difference_update(digests)

        return let_go

    def file(self, digest: Digest) -> str:
        """Return the name of the file that holds an object, from the store's own folder on."""
        return self._name(digest, (self._times_gone or {}).get(digest, 0))

    def _packed(self, digest: Digest) -> bytes:
        if digest in self._pending:
            self._pending[digest].result()
        try:
            with suppress(FileNotFoundError):
                return self._bucket.get(self.file(digest))
            return self._bucket.get(self._name(digest, self._gone(digest)))
        except OSError as error:
            raise Damaged(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None

    def _listed(self, digest: str) -> Iterator[tuple[Digest, str]]:
        folder = f"{OBJECTS}/{digest[:2]}/{digest[2:]}" if digest else f"{OBJECTS}/"
        for seen in self._bucket.files(folder):
            if found := _OBJECT.match(seen.name.removeprefix(f"{OBJECTS}/")):
                yield found[1] + found[2], seen.name

    def _gone(self, digest: Digest) -> int:
        """Return how often the log says that an object was let go."""
        if self._times_gone is None:
            self._times_gone = self.log.times_gone() if self.log is not None else {}
        return self._times_gone.get(digest, 0)

    @staticmethod
    def _name(digest: Digest, times: int) -> str:
        return f"{OBJECTS}/{digest[:2]}/{digest[2:]}{f'.{times}' if times else ''}.zst"

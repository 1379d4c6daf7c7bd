"""What the verbs of `outstep evidence` share: which store, which key, which clock."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from outstep.cli.arguments import Arguments, Given
from outstep.errors import Place, problem
from outstep.evidence.entries import Irregular, SignedHead, read_head
from outstep.evidence.signing import PublicKey, SigningKey
from outstep.evidence.store import Store

if TYPE_CHECKING:
    from datetime import date

    from outstep.workflow.sealing import Pinned


def parser(verb: str, description: str) -> Arguments:
    """Return a parser that knows `--store`."""
    made = Arguments(f"evidence {verb}", description)
    made.value("--store", metavar="DIR", help="the store, a folder or s3://BUCKET/PREFIX (else OUTSTEP_STORE)")
    return made


def opened(given: Given) -> Store:
    """Return the store that was named; raises `OutstepError`."""
    named = given.store or os.environ.get("OUTSTEP_STORE")
    if not named:
        raise problem("usage/arguments", "no store was named", help="--store DIR, or set OUTSTEP_STORE")
    return Store.open(named)


@contextmanager
def readable() -> Iterator[None]:
    """Turn an `OSError` of reading a store into an `OutstepError`."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "evidence/unreadable",
            f"the store cannot be read: {reason}",
            place=Place(source=str(error.filename)) if error.filename else None,
            help="outstep evidence verify says more about a store that was damaged",
        ) from None


def key_file(store_id: str) -> Path | None:
    """Return where the private key of a store is kept when nobody says otherwise: with the user, not with the store."""
    if named := os.environ.get("OUTSTEP_CONFIG_DIR"):
        return Path(named) / "keys" / f"{store_id}.pem"
    base = os.environ.get("XDG_CONFIG_HOME") or ""
    folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.config"))
    return None if str(folder).startswith("~") else folder / "outstep" / "keys" / f"{store_id}.pem"


def signing_key(given: Given, store: Store | None) -> SigningKey:
    """Return the key to sign with: of `--key`, of OUTSTEP_SIGNING_KEY (its text), or the one kept for the store."""
    if given.key:
        return SigningKey.read(read(given.key), given.key)
    if text := os.environ.get("OUTSTEP_SIGNING_KEY"):
        return SigningKey.read(text.encode(), "OUTSTEP_SIGNING_KEY")
    path = key_file(store.about.id) if store is not None else None
    if path is None or not path.exists():
        raise problem(
            "evidence/no-key",
            "there is no key here to sign with",
            place=Place(source=str(path)) if path is not None else None,
            help="give the private key: --key FILE, or its text in OUTSTEP_SIGNING_KEY",
        )
    return SigningKey.read(path.read_bytes(), str(path))


def read(file: str) -> bytes:
    """Return the bytes of a file; raises `OutstepError`."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "usage/arguments", f"`{file}` cannot be read: {reason}", place=Place(source=file), help="name a file"
        ) from None


def public_key(file: str) -> PublicKey:
    """Return the public key in a file; raises `OutstepError`."""
    return PublicKey.read(read(file), file)


def head(file: str) -> SignedHead:
    """Return the signed head in a file, the last one where there are several; raises `OutstepError`."""
    lines = read(file).strip().splitlines()
    try:
        return read_head(lines[-1] if lines else b"")
    except Irregular as error:
        raise problem(
            "evidence/bad-head",
            f"`{file}` holds no signed head: {error}",
            place=Place(source=file),
            help="keep what `outstep evidence prove --head` prints",
        ) from None


def now() -> str:
    """Return the time, RFC 3339 in UTC, to the second."""
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def today(contracts: Sequence[Pinned]) -> date | None:
    """Return the day to hold waivers against, where there are any."""
    from datetime import date

    return date.today() if any(one.contract.waivers for one in contracts) else None

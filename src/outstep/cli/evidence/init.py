"""`outstep evidence init DIR`: make a store, and a key that signs for it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from outstep.cli import console
from outstep.cli.arguments import Arguments
from outstep.cli.evidence.common import key_file, signing_key
from outstep.errors import problem
from outstep.evidence.signing import SigningKey
from outstep.evidence.store import Store
from outstep.render.escape import visible


def run(words: Sequence[str]) -> int:
    """Make the store and return the exit code."""
    parser = Arguments(
        "evidence init", "make a store where nothing is yet: in a folder, or in a bucket, s3://BUCKET/PREFIX"
    )
    parser.words("folders", metavar="DIR", help="where")
    parser.value("--key", metavar="FILE", help="a private key (ed25519, PEM); else OUTSTEP_SIGNING_KEY, else a new one")
    parser.switch("--redact", help="redact what is added, unless add says otherwise (default)")
    given = parser.read(words)
    if len(given.folders) != 1:
        raise problem("usage/arguments", "one folder is to be named", help="outstep evidence init DIR")
    is_new = not given.key and not os.environ.get("OUTSTEP_SIGNING_KEY")
    key = SigningKey.generate() if is_new else signing_key(given, None)
    store = Store.init(given.folders[0], key, redaction="none" if given.redact is False else "standard")
    console.put(f"made the store {store.about.id} in {visible(given.folders[0])}\n")
    if is_new:
        _keep(key, store)
    console.put(f"heads are signed by the key {key.public.id}: give its public half to whoever is to verify\n")
    return 0


def _keep(key: SigningKey, store: Store) -> None:
    """Keep a new private key with the user: who can write to the store must not be able to sign for it."""
    path = key_file(store.about.id)
    if path is None:
        raise problem(
            "evidence/no-key",
            "there is no home in which the new key could be kept, and the store cannot be written to without it",
            help="make one yourself and name it: openssl genpkey -algorithm ed25519 -out key.pem; --key key.pem",
        )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write(key.pem)
    console.put(
        f"its private key is kept in {visible(str(path))}: back it up, and keep it from who writes to the store\n"
    )

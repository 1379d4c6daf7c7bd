"""What stands in the place of a redacted value, and what binds a redacted document to its original.

Both need a key: without it, equal values can be seen to be equal, and nothing else.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from outstep.expr.secrets import REPLACED

LETTERS = b"bcdfghjklmnpqrstvwxz"
"""No vowels, so no words; no digits, so no number that anyone could find."""
LENGTH = 12
DOMAIN = b"outstep.invalid"
"""Of addresses: `.invalid` belongs to nobody (RFC 2606)."""
LEAST_KEY = 16

_MARK = REPLACED.encode()


class Key:
    """A secret key for redaction: equal values have equal placeholders under one key."""

    def __init__(self, secret: bytes) -> None:
        """`secret` are at least `LEAST_KEY` bytes; raises `ValueError`."""
        if len(secret) < LEAST_KEY:
            raise ValueError(f"a key has at least {LEAST_KEY} bytes")
        self._placeholders = hmac.digest(secret, b"outstep placeholders v1", "sha256")
        self._salts = hmac.digest(secret, b"outstep salts v1", "sha256")

    def placeholder(self, kind: str, value: bytes) -> bytes:
        """Return one word of letters and `_`, an address for an address; it needs no escape in JSON, shells or URLs.

        Addresses that differ in case have placeholders that differ in case alone.
        """
        folded = value.lower() if kind == "email" else value
        code = self._letters(folded)
        if folded != value:
            marks = hmac.digest(self._placeholders, b"case " + value, "sha256")
            some = bytes(sign - 32 if mark & 1 else sign for sign, mark in zip(code, marks, strict=False))
            code = some if some != code else code.upper()
        word = _MARK + kind.replace("-", "_").encode() + b"_" + code
        return word + b"@" + DOMAIN if kind == "email" else word

    def salt(self, original: bytes) -> bytes:
        """Return the salt of a document: told together with the original, it opens the commitment."""
        return hmac.digest(self._salts, sha256(original).digest(), "sha256")

    def _letters(self, value: bytes) -> bytes:
        number = int.from_bytes(hmac.digest(self._placeholders, b"value " + value, "sha256"), "big")
        drawn = bytearray()
        for _ in range(LENGTH):
            number, rest = divmod(number, len(LETTERS))
            drawn.append(LETTERS[rest])
        return bytes(drawn)


def commitment(salt: bytes, original: bytes) -> str:
    """Return what binds to a document; a plain digest of a short secret could be guessed, this only with the salt."""
    return sha256(b"outstep commitment v1\n" + salt + original).hexdigest()


def is_placeholder(value: bytes) -> bool:
    """Return whether a value was redacted before."""
    return _MARK in value.lower()

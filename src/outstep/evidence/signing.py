"""Keys that sign heads: ed25519 (RFC 8032), in PEM as OpenSSL reads and writes it.

Needs the extra `evidence` (cryptography); the import happens where a key is used.
"""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from typing import TYPE_CHECKING

from outstep.errors import Place, problem
from outstep.evidence.entries import Head, SignedHead, canonical

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


class SigningKey:
    """A private key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = PublicKey(key.public_key())

    @classmethod
    def generate(cls) -> SigningKey:
        """Return a new key."""
        _check_extra()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, pem: bytes, source: str) -> SigningKey:
        """Return the key in a PEM text (PKCS #8, not encrypted); raises `OutstepError`, never showing the text."""
        _check_extra()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise problem(
                "evidence/bad-key",
                f"`{source}` holds no ed25519 private key in PEM",
                place=Place(source=source),
                help="make one: openssl genpkey -algorithm ed25519 -out key.pem",
            )
        return cls(key)

    @property
    def pem(self) -> bytes:
        """The key in PEM, PKCS #8, not encrypted."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, data: bytes) -> bytes:
        """Return the signature of some bytes: 64 bytes, always the same ones."""
        return self._key.sign(data)

    def sign_head(self, head: Head) -> SignedHead:
        """Return a head with its signature."""
        return SignedHead(head=head, signature=base64.b64encode(self.sign(canonical(head))).decode())


class PublicKey:
    """A public key."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._key = key
        self.pem: bytes = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        """As `openssl pkey -pubout` writes it."""
        self.id: str = sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]
        """The first 16 digits of the sha256 of the 32 bytes of the key."""

    @classmethod
    def read(cls, pem: bytes, source: str) -> PublicKey:
        """Return the key in a PEM text; raises `OutstepError`."""
        _check_extra()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        try:
            key = load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PublicKey):
            raise problem(
                "evidence/bad-key",
                f"`{source}` holds no ed25519 public key in PEM",
                place=Place(source=source),
                help="write it from the private one: openssl pkey -in key.pem -pubout -out public.pem",
            )
        return cls(key)

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Return whether a signature of this key belongs to some bytes."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    def vouches_for(self, signed: SignedHead) -> bool:
        """Return whether this key signed a head."""
        try:
            signature = base64.b64decode(signed.signature, validate=True)
        except binascii.Error:
            return False
        return self.verifies(signature, canonical(signed.head))


def _check_extra() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise problem(
            "evidence/extra-missing",
            "signing needs the library cryptography, which is not installed",
            help="pip install 'outstep[evidence]'",
        ) from None

"""A checked contract as data: what a warm run reads instead of YAML and CEL.

Pure: bytes in, bytes out. Nothing executable is ever read back. docs/decisions/0003-cache-data-not-code.md
"""

import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from outstep import __version__, codec
from outstep.contracts import packs
from outstep.contracts.model import Contract
from outstep.digest import sha256
from outstep.errors import Problem

# No `from __future__ import annotations` beside these structs: msgspec would compile each annotation at every start.

FORM = "2"
"""Of what is kept; raised when the meaning of a stored contract changes."""

_PACK = "pack:"


class Kept(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A checked contract, its warnings, and what it was made of."""

    contract: Contract
    warnings: tuple[Problem, ...] = ()
    files: tuple[tuple[str, str], ...]
    """Name and sha256 of every file: the contract first, then what it includes."""


_decoder = msgspec.json.Decoder(Kept, float_hook=Decimal)


def cache_key(name: str, data: bytes, params: Mapping[str, Any]) -> str:
    """Return under which key a contract is kept: its name and bytes, the versions, and the given parameters."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    parts = (
        *(part.encode("utf-8", "surrogatepass") for part in (FORM, __version__, python, name)),
        data,
        codec.encode(sorted(params.items())),
    )
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def encode_kept(kept: Kept) -> bytes:
    """Return the bytes to store: a line with their digest, then JSON."""
    payload = codec.encode(kept)
    return sha256(payload).hexdigest().encode() + b"\n" + payload


def decode_kept(data: bytes) -> Kept | None:
    """Return what was stored, or none where it is cut, changed or of another form."""
    digest, _, payload = data.partition(b"\n")
    if digest != sha256(payload).hexdigest().encode():
        return None
    try:
        return _decoder.decode(payload)
    except (msgspec.DecodeError, ValueError, ArithmeticError, RecursionError):
        return None


def is_fresh(kept: Kept, read_file: Callable[[str], bytes]) -> bool:
    """Return whether every included file still holds the bytes that the contract was made of."""
    for name, digest in kept.files[1:]:
        data = read_any(name, read_file)
        if data is None or sha256(data).hexdigest() != digest:
            return False
    return True


def read_any(name: str, read_file: Callable[[str], bytes]) -> bytes | None:
    """Return the bytes of a file or of a bundled pack, or none."""
    if name.startswith(_PACK):
        return packs.source(name.removeprefix(_PACK))
    try:
        return read_file(name)
    except (OSError, ValueError, KeyError):
        return None


def digests(contents: tuple[tuple[str, bytes], ...]) -> tuple[tuple[str, str], ...]:
    """Return the sha256 of each file."""
    return tuple((name, sha256(data).hexdigest()) for name, data in contents)

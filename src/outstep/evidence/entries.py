"""Entries of the log, and signed heads: what they hold, and the one way in which they are written.

Form `entry/v1` and `head/v1`, docs/evidence.md. An entry is one line of JSON: members sorted, no blanks, no numbers but
whole ones, so that its bytes are those of RFC 8785. Every member is hashed, for the line itself is the leaf. There is
no clock in an entry: the same evidence gives the same bytes anywhere; when it was sealed says the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

ENTRY = "entry/v1"
HEAD = "head/v1"

Digest = str
"""sha256, 64 hexadecimal digits."""


class Document(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Bytes that the store keeps."""

    name: str
    """As it was given; of files the path, without the folders above those that were added."""
    sha256: Digest
    """Of the bytes as stored: after redaction, if there was one."""
    size: int
    commitment: str = ""
    """Binds to the original of a redacted document, without letting it be guessed; empty when it is the original."""


class Sealed(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One trace as it was read."""

    id: str
    events: Digest
    """Of the trace in canonical JSON Lines."""
    count: int
    end: str = ""
    subject: dict[str, Any] = {}
    """What acted, as far as the document tells: `harness`, `model`, `prompt_digest`, `skills`, `tools`, `config`."""
    missing: tuple[str, ...] = ()
    """What this record does not hold: sentences of the adapter, and what the record itself leaves open."""


class Judged(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A verdict: the contracts, and the report that they gave."""

    contracts: tuple[Document, ...]
    """Every file of every contract, packs among them."""
    names: tuple[str, ...]
    """What to open, in order: files by the name of their document, packs by their own name."""
    report: Digest
    """Of the report in JSON, `report/v1`."""
    gate: str
    exit_code: int
    params: dict[str, str] = {}
    """Parameters that were given, by the name of the contract: a JSON text, for numbers with a point stay exact so."""
    options: dict[str, Any] = {}
    """What else decided, where it is not the default: `fail_on`, `allow`, `require_exercised`, `today`, `language`."""


class Redaction(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was replaced before sealing."""

    profile: str
    """`none`: the original is stored, and that was a choice."""
    rules: Digest = ""
    replaced: dict[str, int] = {}
    """How many values of each kind."""


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One record of the log."""

    schema: str
    kind: Literal["run", "verdict", "prune"]
    """A run with its documents; a later verdict on an earlier run; documents that were let go."""
    tool: str
    """`outstep <version>`."""
    documents: tuple[Document, ...] = ()
    adapter: str = ""
    """`name@version`."""
    reading: tuple[str, ...] = ()
    """Choices with which it was read: `complete`, `unpinned`."""
    traces: tuple[Sealed, ...] = ()
    redaction: Redaction | None = None
    judged: Judged | None = None
    of: int | None = None
    """The number of the run that a verdict is about."""
    pruned: tuple[Digest, ...] = ()
    reason: str = ""


class Head(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a signature vouches for: the log up to its `size`-th entry."""

    schema: str
    store: str
    """Id of the store."""
    about: Digest
    """Of `store.json`."""
    number: int
    """How many heads were signed before this one."""
    size: int
    length: int
    """Bytes of the entries up to that one, line ends among them."""
    root: Digest
    peaks: tuple[Digest, ...]
    """The whole subtrees that the tree is made of, largest first; they give the root, and let the log grow."""
    time: str
    """When it was signed, RFC 3339 in UTC, by the clock of who signed."""
    key: str
    """Id of the key: the first 16 digits of the sha256 of its 32 public bytes."""


class SignedHead(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A head with its signature."""

    head: Head
    signature: str
    """ed25519 over the canonical bytes of `head`, base64."""


_encoder = msgspec.json.Encoder(order="sorted")
_entries = msgspec.json.Decoder(Entry)
_heads = msgspec.json.Decoder(SignedHead)
_whatever = msgspec.json.Decoder()


class Irregular(ValueError):
    """A line that no version of ours would have written; the message says why."""


def canonical(value: Any) -> bytes:
    """Return a struct or JSON value as canonical bytes, without a line end."""
    return _encoder.encode(value)


def read_entry(line: bytes) -> Entry:
    """Return the entry of a line; raises `Irregular` for anything but the canonical bytes of an entry."""
    entry: Entry = _read(_entries, line)
    if entry.schema != ENTRY:
        raise Irregular(f"it is written in `{entry.schema[:40]}`, not in `{ENTRY}`")
    return entry


def read_head(line: bytes) -> SignedHead:
    """Return the signed head of a line; raises `Irregular`."""
    signed: SignedHead = _read(_heads, line)
    if signed.head.schema != HEAD:
        raise Irregular(f"it is written in `{signed.head.schema[:40]}`, not in `{HEAD}`")
    return signed


def named(entry: Entry) -> Iterator[tuple[Digest, str]]:
    """Yield the objects that an entry names, and what they are to it."""
    yield from ((document.sha256, f"document `{document.name}`") for document in entry.documents)
    if entry.judged is not None:
        yield entry.judged.report, "the report"
        yield from ((document.sha256, f"contract `{document.name}`") for document in entry.judged.contracts)
    if entry.redaction is not None and entry.redaction.rules:
        yield entry.redaction.rules, "the rules of redaction"


def _read(decoder: Any, line: bytes) -> Any:
    try:
        value = decoder.decode(line)
        again = canonical(_whatever.decode(line))
    except RecursionError:
        raise Irregular("it is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError) as error:
        told = str(error)
        raise Irregular(told[:1].lower() + told[1:]) from None
    if canonical(value) != line:
        # A member twice, a default written out, blanks or another order: the same meaning in other bytes.
        raise Irregular("its bytes are not canonical" if again != line else "a member is written that has its default")
    return value

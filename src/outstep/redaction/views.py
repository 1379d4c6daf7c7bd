"""Text in another spelling, read so that what is found in it can be replaced where it stands.

A view is what some bytes mean (escapes of JSON, of URLs, of HTML), with the place of each byte in the source. A packed
run (base64, hexadecimal digits) is read whole and written whole.
"""

from __future__ import annotations

import base64
import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from html import unescape

from msgspec import Struct


class Edit(Struct, frozen=True):
    """What stands in some place of a source instead."""

    start: int
    end: int
    new: bytes
    kinds: tuple[str, ...]
    """Of the values that were replaced in it."""


class View(Struct, frozen=True):
    """Bytes as they are meant."""

    text: bytes
    starts: list[int]
    """For each byte, and for the end, where it begins in the source."""
    spell: Callable[[bytes], bytes]
    """Writes bytes as the source would."""
    escapes: list[tuple[int, int]]
    """Where in `text` something stands that is spelled otherwise in the source."""

    def outer(self, edit: Edit) -> Edit:
        """Return an edit of the text as an edit of the source."""
        return Edit(self.starts[edit.start], self.starts[edit.end], self.spell(edit.new), edit.kinds)

    def is_spelled(self, start: int, end: int) -> bool:
        """Return whether some of these bytes are spelled otherwise in the source."""
        return any(first < end and last > start for first, last in self.escapes)


def apply(source: bytes, edits: list[Edit]) -> bytes:
    """Return the source with edits, which do not overlap, made."""
    parts, place = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [source[place : edit.start], edit.new]
        place = edit.end
    return b"".join([*parts, source[place:]])


# --- escapes ---

_JSON = re.compile(rb'\\(?:u([0-9a-fA-F]{4})(?:\\u([dD][c-fC-F][0-9a-fA-F]{2}))?|(["\\/bfnrt]))')
_SHORT = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_URL = re.compile(rb"%([0-9A-Fa-f]{2})")
_HTML = re.compile(
    rb"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|commat|plus|period|lowbar|num|sol|colon|nbsp|amp|lt|gt|quot|apos);"
)
_SOURCE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4})\}?)")
_QUOTED_PRINTABLE = re.compile(rb"=(?:([2-7][0-9A-F])|\r?\n)")


def string_view(source: bytes, start: int = 0, end: int | None = None) -> View:
    """Return the body of a JSON string."""
    return _view(source, start, len(source) if end is None else end, _JSON, _json, _json_spelled)


def spelled_views(source: bytes) -> Iterator[View]:
    """Yield what a plain text means where it is read as part of a URL, of HTML, of a program, of a mail."""
    if b"%" in source and _URL.search(source):
        yield _view(source, 0, len(source), _URL, _hexadecimal, _url_spelled)
    if b"&" in source and _HTML.search(source):
        yield _view(source, 0, len(source), _HTML, _html, _plain)
    if b"\\" in source and _SOURCE.search(source):
        yield _view(source, 0, len(source), _SOURCE, _hexadecimal, _plain)
    if b"=" in source and _QUOTED_PRINTABLE.search(source):
        yield _view(source, 0, len(source), _QUOTED_PRINTABLE, _hexadecimal, _plain)
    if not source.isascii() and any(sign in source for sign in _WIDE):
        yield _view(source, 0, len(source), _WIDE_SIGN, _narrow, _plain)


def _view(
    source: bytes,
    start: int,
    end: int,
    escape: re.Pattern[bytes],
    read: Callable[[re.Match[bytes]], bytes],
    spell: Callable[[bytes], bytes],
) -> View:
    text = bytearray()
    starts: list[int] = []
    escapes = []
    place = start
    for match in escape.finditer(source, start, end):
        text += source[place : match.start()]
        starts.extend(range(place, match.start()))
        meant = read(match)
        escapes.append((len(text), len(text) + len(meant)))
        text += meant
        starts.extend([match.start()] * len(meant))
        place = match.end()
    text += source[place:end]
    starts.extend(range(place, end + 1))
    return View(bytes(text), starts, spell, escapes)


def _json(match: re.Match[bytes]) -> bytes:
    if match[3] is not None:
        return _SHORT.get(match[3], match[3])
    number = int(match[1], 16)
    if match[2] is None:
        return chr(number).encode("utf-8", "surrogatepass")
    if 0xD800 <= number < 0xDC00:
        return chr(0x10000 + ((number - 0xD800) << 10) + int(match[2], 16) - 0xDC00).encode()
    return (chr(number) + chr(int(match[2], 16))).encode("utf-8", "surrogatepass")


def _hexadecimal(match: re.Match[bytes]) -> bytes:
    digits = next((group for group in match.groups() if group is not None), b"")
    if len(digits) == 4:
        return chr(int(digits, 16)).encode("utf-8", "surrogatepass")
    return bytes.fromhex(digits.decode())


def _html(match: re.Match[bytes]) -> bytes:
    return unescape(match[0].decode()).encode("utf-8", "surrogatepass")


# Wide forms of Chinese and Japanese typing: U+FF01 to U+FF5E are ASCII's signs, U+3000 is its blank.
_WIDE = (b"\xef\xbc", b"\xef\xbd")
_WIDE_SIGN = re.compile(rb"\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e])|\xe3\x80\x80")


def _narrow(match: re.Match[bytes]) -> bytes:
    return b" " if match[0] == b"\xe3\x80\x80" else chr(ord(match[0].decode()) - 0xFEE0).encode()


def _plain(new: bytes) -> bytes:
    return new


def _json_spelled(new: bytes) -> bytes:
    return new.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _url_spelled(new: bytes) -> bytes:
    return new.replace(b"%", b"%25").replace(b'"', b"%22").replace(b"@", b"%40")


# --- packed runs ---

_WRAPPED = re.compile(rb"(?:[A-Za-z0-9+/]{60,76}\r?\n){1,10000}[A-Za-z0-9+/]{0,76}={0,2}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(rb"[0-9a-fA-F]{12,}")
_PLAIN = re.compile(rb"[ -~]{6}")
_PADDING = (b"", b"", b"==", b"=")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_URL_UNSAFE = bytes.maketrans(b"+/", b"-_")


class Packed(Struct, frozen=True):
    """One reading of a run of letters that may stand for other bytes."""

    start: int
    end: int
    text: bytes
    pack: Callable[[bytes], bytes]


def packed_runs(source: bytes) -> Iterator[Packed]:
    """Yield each reading of each run; most runs are no more than words, and their readings noise."""
    for match in _BASE64.finditer(source):
        run = match[0]
        # Packed letters and digits always give both cases; identifiers in one case are the many.
        if not (run.islower() or run.isupper() or run.isdigit()):
            yield from _unpacked(run, match.start(), match.end())
    if b"\n" in source:
        for match in _WRAPPED.finditer(source):
            yield from _unpacked(match[0], match.start(), match.end())
    for match in _HEX.finditer(source):
        for shift in (0, 1):
            run = match[0][shift : len(match[0]) - (len(match[0]) - shift) % 2]
            text = bytes.fromhex(run.decode())
            if _PLAIN.search(text) or text.count(0) * 3 > len(text):
                start = match.start() + shift
                spell: Callable[[bytes], bytes] = _upper_hex if run.isupper() else _lower_hex
                yield from _readings(Packed(start, start + len(run), text, spell))


def _unpacked(run: bytes, start: int, end: int) -> Iterator[Packed]:
    is_safe = b"-" in run or b"_" in run
    whole = run.translate(_URL_SAFE, b"\r\n=") if is_safe else run.translate(None, b"\r\n=")
    for shift in range(4):
        # What stands before the first letter may be a word that is glued to it.
        letters = whole[shift:] if shift else whole
        size = len(letters)
        if size < 8:
            return
        text = a2b_base64(letters[:-1] if size % 4 == 1 else letters + _PADDING[size % 4])
        # Words read as base64 are noise; what was packed has letters that stand together, or zeros between them.
        if _PLAIN.search(text) or text.count(0) * 3 > len(text):
            head = whole[:shift].translate(_URL_UNSAFE) if is_safe else whole[:shift]
            yield from _readings(Packed(start, end, text, _packer(head, is_safe, run.endswith(b"="))))


def _packer(head: bytes, is_safe: bool, is_padded: bool) -> Callable[[bytes], bytes]:
    def pack(text: bytes) -> bytes:
        letters = base64.b64encode(text)
        if is_safe:
            letters = letters.translate(_URL_UNSAFE)
        return head + (letters if is_padded else letters.rstrip(b"="))

    return pack


def _readings(packed: Packed) -> Iterator[Packed]:
    yield packed
    # UTF-16, as PowerShell packs its commands: every second byte of plain letters is zero.
    for order in ("utf-16-le", "utf-16-be"):
        if packed.text.count(0) * 3 > len(packed.text):
            text = packed.text[: len(packed.text) // 2 * 2].decode(order, "replace").encode("utf-8", "replace")
            yield Packed(packed.start, packed.end, text, _wide(packed.pack, order))


def _wide(pack: Callable[[bytes], bytes], order: str) -> Callable[[bytes], bytes]:
    return lambda text: pack(text.decode("utf-8", "replace").encode(order, "replace"))


def _lower_hex(text: bytes) -> bytes:
    return text.hex().encode()


def _upper_hex(text: bytes) -> bytes:
    return text.hex().upper().encode()

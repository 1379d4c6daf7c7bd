"""Invented values of every kind, and ways in which a document may spell them."""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Callable
from html import escape, unescape
from urllib.parse import quote, unquote_to_bytes

from outstep.redaction.documents import Redacted, redact
from outstep.redaction.placeholders import Key
from outstep.redaction.rules import Rules

KEY = Key(b"a key that is only for tests, 32+")

VALUES = {
    "email": "wei.zhang88@mail.example.com",
    "phone": "13812345678",
    "card": "5105105105105100",
    "github-token": "ghp_Qm7Zt4Rk9Xw2Lc5Vb8Nj3Hs6Pd1Fg0YaUeIo",
    "aws-access-key-id": "AKIAQ4WE5RTYUIOPASDF",
    "anthropic-key": "sk-ant-api03-Zr8Kq2Wm5Xt7Lv4Nb9Hc3Jd6",
}
"""By kind; made up, and valid in form."""


def clean(document: bytes | str, rules: Rules | None = None) -> Redacted:
    data = document.encode() if isinstance(document, str) else document
    return redact(data, rules or Rules(), KEY, uri="a document")


def utf16(text: str) -> str:
    return base64.b64encode(text.encode("utf-16-le")).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "json": json.dumps,
    "json in json": lambda text: json.dumps(json.dumps({"a": [text, "b\n" + text]})),
    "json in json in json": lambda text: json.dumps(json.dumps(json.dumps({"a": f"x\n{text}"}))),
    "unicode escapes": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "hexadecimal escapes": lambda text: "".join(f"\\x{ord(sign):02x}" for sign in text),
    "url": lambda text: "https://shop.test/find?q=" + quote(text, safe="") + "&page=2",
    "url of every letter": lambda text: "".join(f"%{ord(sign):02X}" for sign in text),
    "url twice": lambda text: quote(quote(text, safe=""), safe="").replace("%2540", "%2540"),
    "html": lambda text: escape(text).replace("@", "&#64;").replace("1", "&#x31;"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 behind something": lambda text: base64.b64encode(f'{{"m": "é {text}"}}'.encode()).decode(),
    "base64url without padding": lambda text: base64.urlsafe_b64encode(f"to?>{text}~".encode()).decode().rstrip("="),
    "base64 in base64": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "data url": lambda text: "data:text/plain;base64," + base64.b64encode(f"hello {text}".encode()).decode(),
    "hexadecimal": lambda text: f"a line with {text}".encode().hex(),
    "upper hexadecimal": lambda text: text.encode().hex().upper(),
    "utf-16 in base64": lambda text: utf16(f"Send-Mail -To {text}"),
    "wide letters": lambda text: "".join(chr(ord(sign) + 0xFEE0) for sign in text).replace("\uff00", "\u3000"),
    "shell quotes": lambda text: f"curl -d '{text}' http://x.test/",
}
"""How a text may stand in a string of a document."""


def pieces_left(value: str, data: bytes) -> set[str]:
    """Return every piece of six characters of a value that stands in some bytes, in any of these spellings."""
    hay = unpacked(data)
    return {value[at : at + 6] for at in range(len(value) - 5) if value[at : at + 6].encode() in hay}


def unpacked(data: bytes) -> bytes:
    """Return bytes with everything that can be read in them: an own way, apart from the redactor's."""
    known = {data}
    newest = [data]
    for _ in range(3):
        newest = [one for text in newest for one in _read(text) if len(one) >= 6 and one not in known]
        known.update(newest)
    return b"\n".join(sorted(known))


def _read(data: bytes) -> set[bytes]:
    """Return what some bytes may mean, and what each packed run in them may hold."""
    found = set()
    text = data.decode("utf-8", "replace")
    if "%" in text:
        found.add(unquote_to_bytes(data))
    if "&" in text:
        found.add(unescape(text).encode("utf-8", "replace"))
    if "\\" in text:
        escapes = re.sub(r"\\(?!u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})", "", text).encode("ascii", "backslashreplace")
        found.add(codecs.decode(escapes, "unicode_escape", "replace").encode("utf-8", "replace"))
    if any("\uff01" <= sign <= "\uff5e" for sign in text):
        narrow = (chr(ord(one) - 0xFEE0) if "\uff01" <= one <= "\uff5e" else one for one in text)
        found.add("".join(narrow).replace("\u3000", " ").encode("utf-8", "replace"))
    for run in re.findall(rb"[A-Za-z0-9+/_-]{8,}", data):
        for shift in range(4 if not run.islower() else 0):
            letters = run[shift:].translate(bytes.maketrans(b"-_", b"+/"))
            letters = letters[: -1 if len(letters) % 4 == 1 else None]
            found.add(base64.b64decode(letters + b"=" * (-len(letters) % 4)))
    for run in re.findall(rb"[0-9a-fA-F]{12,}", data):
        found.update(bytes.fromhex(run[at : len(run) - (len(run) - at) % 2].decode()) for at in (0, 1))
    return found | {one.replace(b"\0", b"") for one in found if one.count(0) * 3 > len(one)}

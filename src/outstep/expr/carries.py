"""`carries(x, v)`: a value leaves in a text, plainly or in disguise.

As `mentions`, and also inside longer text, URL-, base64- or hex-encoded, or reversed (LANGUAGE section 7). Encoded
forms are sought for values of four bytes and more: shorter ones occur in any long text by chance.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Iterator
from typing import Any

from outstep.expr.mentions import mentions
from outstep.expr.patterns import encode
from outstep.expr.spelling import normalise, plain_number, texts_in

_SHORTEST = 4
_UNQUOTINGS = 3
"""A value may be URL-encoded again on its way through a redirect or a proxy."""

_QUOTED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_BLANKS = re.compile(r"\s+")
_BETWEEN_HEX = re.compile(r"\\x|0x|[\s:,%-]")
_HEX = re.compile(r"[0-9a-f]{8}")


def carries(x: Any, v: Any) -> bool:
    """Return whether `x`, or any text inside it, holds `v` in one of these forms.

    Null and empty text are carried nowhere; `ValueError` for values that are neither text nor number.
    """
    if mentions(x, v):
        return True
    if v is None:
        return False
    text = v if isinstance(v, str) else plain_number(v)
    forms = _Forms(text.strip())
    return any(forms.occur_in(part) for part in ((x,) if isinstance(x, str) else texts_in(x)))


class _Forms:
    """The forms of one value, computed once for all texts that are looked through."""

    def __init__(self, text: str) -> None:
        plain = normalise(text)
        self.plain = (plain, plain[::-1]) if plain else ()
        data = encode(text)
        self.encoded = len(data) >= _SHORTEST
        self.hexes = tuple(dict.fromkeys((data.hex(), encode(plain).hex())))
        self.base64 = tuple(base64_cores(data)) if self.encoded else ()

    def occur_in(self, text: str) -> bool:
        return self._plainly(text) or self._url_encoded(text) or (self.encoded and self._disguised(text))

    def _plainly(self, text: str) -> bool:
        folded = normalise(text)
        return any(form in folded for form in self.plain)

    def _url_encoded(self, text: str) -> bool:
        for _ in range(_UNQUOTINGS):
            decoded = _unquoted(text)
            if decoded != text and self._plainly(decoded):
                return True
            if "+" in text and self._plainly(_unquoted(text.replace("+", " "))):
                return True  # as forms are encoded
            if decoded == text:
                return False
            text = decoded
        return False

    def _disguised(self, text: str) -> bool:
        whole = _BLANKS.sub("", text)  # base64 is often wrapped into lines
        if any(core in whole for core in self.base64):
            return True
        digits = _BETWEEN_HEX.sub("", text.lower())
        return _HEX.search(digits) is not None and any(form in digits for form in self.hexes)


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    return _QUOTED.sub(lambda part: bytes.fromhex(part[0].replace("%", "")).decode("utf-8", "replace"), text)


def base64_cores(data: bytes) -> Iterator[str]:
    """Yield what the base64 text of anything that holds `data` must hold: three alignments, two alphabets.

    Characters whose bits also depend on the neighbouring bytes are left out.
    """
    for shift in range(3):
        bits = 8 * (shift + len(data))
        text = b2a_base64(b"\0" * shift + data).decode()
        core = text[-(-8 * shift // 6) : bits // 6]
        yield core
        if "+" in core or "/" in core:
            yield core.replace("+", "-").replace("/", "_")

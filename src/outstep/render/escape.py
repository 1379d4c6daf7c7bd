"""Text from strangers, made safe for a terminal, and cut to a width: the one place where that happens.

A trace can hold anything: terminal escapes that recolour or retitle, controls that reverse the direction of reading,
line ends that fake another finding. What is shown is what is there, spelled out.
"""

from __future__ import annotations

import re

_UNSAFE = (
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls, ESC and CSI among them
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff"  # lone halves: bytes of a file name that are no UTF-8
    "\U000e0000-\U000e0fff"  # tags and other signs that nobody sees
    "]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
ELLIPSIS = "…"


def visible(text: str) -> str:
    r"""Return a text on one line in which nothing acts on the terminal: `\x1b[31m`, `\u202e`, `\n`."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _spelled, text)


def _spelled(found: re.Match[str]) -> str:
    sign = found[0]
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    if 0xDC80 <= code <= 0xDCFF:
        # How Python keeps a byte of a file name that is no UTF-8.
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shown(text: str, columns: int) -> str:
    """Return a text safe to show, cut to a number of columns with `…` at the end."""
    # No sign is narrower than nothing: what stands far behind the last column need not be looked at.
    head = text[: columns * 4 + 4]
    return cut(visible(head) + (ELLIPSIS if len(head) < len(text) else ""), columns)


def cut(text: str, columns: int) -> str:
    """Return a text of at most so many columns; what is cut off shows as `…`."""
    if text.isascii():
        return text if len(text) <= columns else text[: max(0, columns - 1)] + ELLIPSIS
    used = 0
    fits = 0
    for index, sign in enumerate(text):
        used += _width(sign)
        if used <= columns - 1:
            fits = index + 1
        if used > columns:
            return text[:fits] + ELLIPSIS
    return text


def width(text: str) -> int:
    """Return the columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(sign: str) -> int:
    if sign < "\u0300":
        return 1
    from unicodedata import combining, east_asian_width  # only for text that is not Latin

    if combining(sign):
        return 0
    return 2 if east_asian_width(sign) in "WF" else 1

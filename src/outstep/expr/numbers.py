"""`number(text)`: the decimal that a person wrote."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Any

from outstep.expr.spelling import DIGITS, nfkc, shorten


def number(text: Any) -> int | Decimal:
    """Return the decimal in a text such as `1,200.00`, `-$49.90` or `EUR 12`; without a point it is an int.

    Digits with commas between groups of three (or none), at most one point, a sign; blanks around it; before or behind
    it one currency sign or a code of three capital letters. Anything else raises `ValueError`: a comma may be
    a decimal point to its writer, and then nobody knows.
    """
    if isinstance(text, int | Decimal) and not isinstance(text, bool):
        return text
    if not isinstance(text, str):
        raise ValueError("`number` reads a text")
    if len(text) > 2 * DIGITS:
        raise ValueError("the text is too long for a number")
    match = _AMOUNT.fullmatch(_amount(text))
    if match is None or (match["before"] and match["behind"]) or (match["sign"] and match["inner"]):
        raise ValueError(f"`{shorten(text)}` is no number")
    digits = match["digits"].replace(",", "")
    if len(digits) > DIGITS:
        raise ValueError("the number has too many digits")
    sign = "-" if (match["sign"] or match["inner"]) == "-" else ""
    value = Decimal(sign + digits)
    return value if "." in digits else int(value)


_AMOUNT = re.compile(
    r"(?P<sign>[-+]?)(?P<before>[A-Z]{3} ?|(?:[A-Z]{1,3})?¤ ?)?(?P<inner>[-+]?)"
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)"
    r"(?P<behind> ?[A-Z]{3}| ?¤)?"
)


def _amount(text: str) -> str:
    """Return a text with every currency sign as `¤`, a true minus as `-`."""
    text = nfkc(text).strip().replace("\u2212", "-")
    return "".join("¤" if unicodedata.category(char) == "Sc" or char in "元円원" else char for char in text)

"""How text is shown: with or without colour, and how much of it."""

from __future__ import annotations

from msgspec import Struct

_CODES = {"bold": "1", "red": "1;31", "yellow": "1;33", "green": "1;32", "cyan": "36", "dim": "2"}


class Style(Struct, frozen=True, kw_only=True):
    """Choices of whoever shows a text."""

    colour: bool = False
    columns: int = 160
    """Columns after which a quote is cut."""
    verbose: bool = False
    """Show every finding of level `observe`, not one for each rule."""
    language: str = "en"
    """Of the sentences that are the report's own, where it speaks several."""

    def paint(self, text: str, colour: str) -> str:
        """Return a text in a colour, if colours are shown."""
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self.colour else text


PLAIN = Style()

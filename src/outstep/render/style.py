"""How text is shown: with or without colour, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from outstep.findings import Report

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

    def told(self, report: Report) -> Report:
        """Return a report with its built-in sentences in the language that was asked for."""
        if self.language != "zh":
            return report
        from outstep.render.localised import localised

        return localised(report, self.language)

    def say(self, text: str) -> str:
        """Return a built-in sentence in the language that was asked for; any other text as it is."""
        if self.language != "zh":
            return text
        from outstep.render.chinese import say

        return say(text)


PLAIN = Style()

"""A real browser for the tests of pages; they are skipped where none is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("OUTSTEP_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (apt-get install chromium)")


@contextmanager
def started() -> Iterator[Any]:
    """A browser without a window."""
    with playwright.sync_playwright() as driver:
        # The sandbox of Chromium needs another user than root.
        flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One page in the browser, with everything that it said or asked for."""

    def __init__(self, browser: Any, file: Path, **context: object) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **context})
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def is_clean(self) -> bool:
        """Whether the page asked for nothing but itself, and nothing went wrong."""
        return self.said == [] and len(self.asked) == 1

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.page.locator(selector).all_inner_texts()]

    def has(self, selector: str, many: int) -> None:
        """Wait until so many elements are there."""
        playwright.expect(self.page.locator(selector)).to_have_count(many, timeout=5000)

    def focused(self) -> str:
        return str(self.page.evaluate("document.activeElement.className || document.activeElement.id"))

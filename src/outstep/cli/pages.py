"""Pages that a command writes beside what it prints: `--output html=FILE`, in the language of `--lang`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from outstep.cli import console
from outstep.cli.arguments import chosen
from outstep.cli.output import STDOUT, write_whole
from outstep.errors import problem

LANGUAGES = ("en", "zh")


def read_language(given: str | None) -> str:
    """Return the language of pages; raises `OutstepError` for one that they do not speak."""
    return chosen("--lang", given or os.environ.get("OUTSTEP_LANG") or "en", LANGUAGES)


def read_pages(texts: Sequence[str], forms: Sequence[str] = ("html",)) -> list[tuple[str, str]]:
    """Return which pages are to be written, each with its form; raises `OutstepError`."""
    found = []
    for text in texts:
        form, sign, file = text.partition("=")
        if not sign or not file:
            raise problem(
                "usage/arguments",
                f"`--output {text}` names no file",
                help="write --output FORM=FILE, as html=page.html",
            )
        found.append((chosen("--output", form, forms), file))
    return found


def write_pages(pages: Sequence[tuple[str, str]], made: Callable[[], str]) -> None:
    """Write one page wherever it is wanted; nothing is made where nobody wants it."""
    for _, file in pages:
        write_page(file, made())


def write_page(file: str, text: str) -> None:
    """Write a page to a file, or to stdout."""
    if file == STDOUT:
        console.put(text)
    else:
        write_whole(file, text, help="the page is missing; make room, or write it elsewhere")

"""The shell of every HTML page: one file that asks for nothing, runs nothing but its own script, and is dark or light.

A page is a static body, which says what matters without a script, and data that its script shows. Text from strangers
goes through `text` into the body and through `embedded` into the data; the script puts it on the page as text only.
docs: docs/html.md
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Any

from outstep import codec
from outstep.render.escape import visible
from outstep.render.page.words import SHELL, Words, in_words, say
from outstep.render.values import without_halves

__all__ = ["SHELL", "asset", "embedded", "in_words", "page", "say", "several", "text"]

_UNSAFE_IN_SCRIPT = re.compile("[<>&\u2028\u2029]")


def page(
    title: str,
    body: str,
    *,
    language: str,
    tool: str,
    style: str = "",
    script: str = "",
    words: Words | None = None,
    data: Mapping[str, str] | None = None,
) -> str:
    """Return a whole page; `data` holds JSON of `embedded` by the id under which the script finds it.

    `words` is the catalogue of the page's own sentences; the script gets them as `words`, with those of the shell.
    """
    told = {**in_words(SHELL, language), **(in_words(words, language) if words else {})}
    css = asset("shell.css") + style
    js = f"(() => {{\n'use strict';\n{asset('shell.js')}{script}}})();\n"
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(js)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    blocks = {"words": embedded(told), **(data or {})}
    parts = [
        f'<!doctype html>\n<html lang="{language if language in LANGUAGES else "en"}">\n<head>\n',
        '<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n',
        # Without an icon of its own, a browser asks the server for one.
        f'<link rel="icon" href="data:,">\n<title>{text(title)}</title>\n<style>{css}</style>\n</head>\n<body>\n',
        f'<a class="skip" href="#main">{text(told["skip"])}</a>\n{body}\n',
        f'<footer class="foot">{text(say(told, "made-by", tool=tool))}</footer>\n',
        *(f'<script type="application/json" id="{id}">{json}</script>\n' for id, json in blocks.items()),
        f"<script>{js}</script>\n</body>\n</html>\n",
    ]
    return "".join(parts)


LANGUAGES = ("en", "zh")
"""The languages of the pages' own sentences."""


def text(plain: str) -> str:
    """Return a text of one line as HTML that shows it and does nothing else, also inside a quoted attribute."""
    return escape(visible(plain))


def several(plain: str) -> str:
    """Return a text as HTML like `text`, its line ends kept."""
    return "\n".join(map(text, plain.split("\n")))


def embedded(value: Any) -> str:
    """Return a value as JSON that can stand inside a `script` element: nothing in it ends the element."""
    try:
        told = codec.encode(value).decode()
    except UnicodeEncodeError:
        told = codec.encode(without_halves(value)).decode()
    # These signs stand only inside of JSON texts, where an escape means the same.
    return _UNSAFE_IN_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", told)


def asset(name: str, package: str = "outstep.render.page") -> str:
    """Return a style or script that comes with a package of Outstep."""
    from importlib.resources import files

    return files(package).joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"

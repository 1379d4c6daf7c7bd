"""The shell of every HTML page: one file that asks for nothing, runs nothing but its own script, and is dark or light.

A page is a static body, which says what matters without a script, and data that its script shows. Text from strangers
goes through `text` into the body and through `embedded` into the data; the script puts it on the page as text only.
docs: docs/html.md
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from itertools import islice
from typing import Any, Required, TypedDict, Unpack

from outstep import codec
from outstep.render.escape import visible
from outstep.render.page.words import SHELL, Words, in_words, say
from outstep.render.values import without_halves

__all__ = ["SHELL", "asset", "embedded", "embedded_list", "in_words", "page", "page_parts", "say", "several", "text"]

_UNSAFE_IN_SCRIPT = re.compile("[<>&\u2028\u2029]")


def page(title: str, body: str, **given: Unpack[Given]) -> str:
    """Return a whole page, as `page_parts` gives it."""
    return "".join(page_parts(title, body, **given))


class Given(TypedDict, total=False):
    """What a page is made of besides its title and body."""

    language: Required[str]
    tool: Required[str]
    style: str
    script: str
    words: Words
    """The catalogue of the page's own sentences; the script gets them as `words`, with those of the shell."""
    data: Mapping[str, Iterable[str]]
    """JSON of `embedded` or `embedded_list`, by the id under which the script finds it; one text, or parts of one.
    They are written in this order, and a later one may depend on an earlier one having been read."""


def page_parts(title: str, body: str, **given: Unpack[Given]) -> Iterator[str]:
    """Yield a whole page in parts, so that a large one need not be in memory at once."""
    language = given["language"]
    told = in_words({**SHELL, **given.get("words", {})}, language)
    css = asset("shell.css") + given.get("style", "")
    js = f"(() => {{\n'use strict';\n{asset('shell.js')}{given.get('script', '')}}})();\n"
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(js)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    yield f'<!doctype html>\n<html lang="{language if language in LANGUAGES else "en"}">\n<head>\n'
    yield '<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
    # Without an icon of its own, a browser asks the server for one.
    yield f'<link rel="icon" href="data:,">\n<title>{text(title)}</title>\n<style>{css}</style>\n</head>\n<body>\n'
    yield f'<a class="skip" href="#main">{text(told["skip"])}</a>\n{body}\n'
    yield f'<footer class="foot">{text(say(told, "made-by", tool=given["tool"]))}</footer>\n'
    blocks: dict[str, Iterable[str]] = {"words": (embedded(told),), **given.get("data", {})}
    for id, parts in blocks.items():
        yield f'<script type="application/json" id="data-{id}">'
        yield from (parts,) if isinstance(parts, str) else parts
        yield "</script>\n"
    yield f"<script>{js}</script>\n</body>\n</html>\n"


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


def embedded_list(values: Iterable[Any]) -> Iterator[str]:
    """Yield a list as parts of one JSON text like that of `embedded`, a slice at a time."""
    left = iter(values)
    opening = "["
    while some := list(islice(left, SLICE)):
        yield opening + embedded(some)[1:-1]
        opening = ","
    yield "]" if opening == "," else "[]"


SLICE = 1000


def asset(name: str, package: str = "outstep.render.page") -> str:
    """Return a style or script that comes with a package of Outstep."""
    from importlib.resources import files

    return files(package).joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"

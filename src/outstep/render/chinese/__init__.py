"""The built-in sentences in Chinese: found again by their English, which stands in the code.

The catalogue is data (`*.toml` beside this file): each English sentence with `{names}` for its values, and its Chinese
with the same names. A value that is itself a built-in sentence is told in Chinese, too; everything else (names, quotes,
rules' own messages) stays as it is. Nothing of this is loaded where English is spoken.
docs: docs/languages.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct

FAMILIES = ("engine", "expressions", "scope", "report", "faults", "attribution", "comparing", "commands")
"""The files of the catalogue."""
LONGEST = 4000
"""Characters; a longer text is no sentence of ours."""
DEEPEST = 4
_NAME = re.compile(r"\{(\w+)\}")
_PAINTED = re.compile(r"(\x1b\[[0-9;]*m)([^\x1b]*)(\x1b\[0m)")


class Form(Struct, frozen=True):
    """One sentence with values."""

    pieces: tuple[str, ...]
    """Of the English, between the values."""
    names: tuple[str, ...]
    chinese: str


def say(text: str) -> str:
    """Return a built-in sentence in Chinese; a text that is none as it is."""
    return _say(text, 0) or text


@lru_cache(maxsize=8192)
def _say(text: str, depth: int) -> str:
    """Return the Chinese; empty where there is none."""
    if not text or len(text) > LONGEST or depth > DEEPEST:
        return ""
    if painted := _PAINTED.fullmatch(text):
        inner = _say(painted[2], depth)
        return f"{painted[1]}{inner}{painted[3]}" if inner else ""
    plain, forms = _catalogue()
    if text in plain:
        return plain[text]
    for form in forms:
        values = _values(form, text)
        if values is not None and (told := _filled(form, values, depth)):
            return told
    return ""


def _values(form: Form, text: str) -> list[str] | None:
    """Return the values of a sentence in a text: each as short as can be, in one pass; none where it is another one."""
    first, *rest = form.pieces
    if not text.startswith(first):
        return None
    values: list[str] = []
    at = len(first)
    for number, piece in enumerate(rest):
        is_last = number == len(rest) - 1
        if is_last:
            found = len(text) - len(piece)
            if found < at or not text.endswith(piece):
                return None
        else:
            found = text.find(piece, at) if piece else at
            if found < 0:
                return None
        values.append(text[at:found])
        at = found + len(piece)
    return values


def _filled(form: Form, values: list[str], depth: int) -> str:
    told: dict[str, str] = {}
    for place, (name, value) in enumerate(zip(form.names, values, strict=True)):
        if form.pieces[place].endswith("`") and form.pieces[place + 1].startswith("`"):
            # What stands in backticks is a name, whatever word it is: a tool may be called `write`.
            told[name] = value
        elif name.startswith("reason"):
            # What may be anything at all is ours only if this part is.
            inner = _say(value, depth + 1)
            if not inner:
                return ""
            told[name] = inner
        elif name.startswith("each"):
            told[name] = "，".join(_say(part, depth + 1) or part for part in _parts(value, ", "))
        elif name.startswith("parts"):
            told[name] = "；".join(_say(part, depth + 1) or part for part in _parts(value, "; "))
        elif name.startswith("n_") and not value.isdigit():
            return ""
        else:
            told[name] = _say(value, depth + 1) or value
    return _NAME.sub(lambda found: told.get(found[1], found[0]), form.chinese)


def _parts(text: str, separator: str) -> Iterator[str]:
    """Yield the parts of a list, those in parentheses left together."""
    depth = start = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and text.startswith(separator, at) and at >= start:
            yield text[start:at]
            start = at + len(separator)
    yield text[start:]


@lru_cache(maxsize=1)
def _catalogue() -> tuple[dict[str, str], list[Form]]:
    """Return sentences without values by their English, and those with values, the longest first."""
    plain: dict[str, str] = {}
    forms: list[Form] = []
    for english, chinese in sentences().items():
        for spelled in _numbers(english):
            names = _NAME.findall(spelled)
            if names:
                forms.append(Form(tuple(_NAME.split(spelled)[::2]), tuple(names), chinese))
            else:
                plain[spelled] = chinese
    forms.sort(key=lambda form: -sum(map(len, form.pieces)))
    return plain, forms


def _numbers(english: str) -> Iterator[str]:
    """Yield a sentence in each way to write its `word(s)`."""
    head, mark, rest = english.partition("(s)")
    for tail in _numbers(rest) if mark else ("",):
        yield from (f"{head}{tail}", f"{head}s{tail}") if mark else (head,)


def sentences() -> dict[str, str]:
    """Return the whole catalogue: Chinese by English."""
    import tomllib

    found: dict[str, str] = {}
    folder = files("outstep.render.chinese")
    for family in FAMILIES:
        found |= tomllib.loads((folder / f"{family}.toml").read_text("utf-8"))
    return found

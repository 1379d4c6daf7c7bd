"""What a result's text stands for (LANGUAGE section 3, `reads`)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from outstep import codec
from outstep.codec import Unreadable
from outstep.expr.values import CutText, Hidden, Missing


def read_text(reads: str | None, text: Any, patterns: dict[str, Any]) -> Any:
    """Return the data in a text: as is, the JSON in it, or the named groups of a pattern (kept in `patterns`)."""
    if reads == "text":
        return text
    if isinstance(text, CutText):
        return text if reads is None else Hidden("`data`: the text is cut in the record")
    if reads is None:
        return _whole_json(text)
    if reads == "json":
        return _first_json(text)
    return _groups(reads, text, patterns)


def _whole_json(text: str) -> Any:
    stripped = text.strip()
    if stripped[:1] not in {"{", "["} or stripped[-1:] not in {"}", "]"}:
        return text
    try:
        return codec.loads(stripped)
    except Unreadable:
        return text


def _first_json(text: str) -> Any:
    """Return the first JSON object or array in a text, else the whole text as a JSON value."""
    if text.lstrip()[:1] in {"{", "["}:
        # Most often it is nothing but that.
        with suppress(Unreadable):
            return codec.loads(text.strip())
    import json

    decoder = json.JSONDecoder()
    for start, character in enumerate(text):
        if character in "{[":
            try:
                _, end = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                # Only the outermost opening of a run of text is tried, so that the search stays linear.
                return _scalar(text)
            try:
                return codec.loads(text[start:end])
            except Unreadable:
                return _scalar(text)
    return _scalar(text)


def _scalar(text: str) -> Any:
    try:
        return codec.loads(text.strip())
    except Unreadable:
        return Missing("`data`: the text holds no JSON value")


def _groups(reads: str, text: str, patterns: dict[str, Any]) -> Any:
    pattern = patterns.get(reads)
    if pattern is None:
        from outstep.expr.patterns import compile_pattern

        pattern = patterns[reads] = compile_pattern(reads)
    groups = pattern.groups(text)
    if groups is None:
        return Missing("`data`: the text does not match `reads`")
    return {name: value for name, value in groups.items() if value is not None}

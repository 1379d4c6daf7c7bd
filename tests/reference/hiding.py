"""Payloads as values: numbers exact, hidden parts marked (SEMANTICS section 4, *Hidden values*)."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from re import compile as pattern
from typing import Any

from msgspec import Raw

from outstep.codec import Unreadable, loads
from outstep.expr.values import CutText, Hidden, Missing, Value

_REDACTED = pattern(r"\[redacted[^\]]*\]\Z")


def decoded(text: Raw) -> Value:
    """Return a JSON payload; `Missing` when nothing was recorded."""
    data = bytes(text)
    if not data:
        return Missing("nothing was recorded")
    try:
        return loads(data)
    except Unreadable as error:
        return Missing(str(error))


def exact(value: Any) -> Value:
    """Return a value with exact numbers: none is a float."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, dict):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    return value


def _pointers(hidden: Iterable[str], field: str) -> list[list[str]]:
    """Return the paths below a field that are hidden."""
    found: list[list[str]] = []
    for pointer in hidden:
        first, *rest = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]] or [""]
        if first == field:
            found.append(rest)
    return found


def is_hidden(hidden: Iterable[str], field: str) -> bool:
    return bool(_pointers(hidden, field))


def shown(value: Value, hidden: tuple[str, ...], field: str) -> Value:
    """Return a field of an event with its hidden parts marked."""
    for path in _pointers(hidden, field):
        value = _hide(value, path, field)
    return value


def _hide(value: Value, path: list[str], name: str) -> Value:
    if not path:
        return _hidden(value, name)
    step, *rest = path
    if type(value) is dict:
        return {**value, step: _hide(value.get(step), rest, step)}
    if type(value) is list and step.isdigit() and int(step) < len(value):
        at = int(step)
        return [*value[:at], _hide(value[at], rest, step), *value[at + 1 :]]
    return Hidden(f"`{name}` is hidden")


def _hidden(value: Value, name: str) -> Value:
    """A text is cut, and shows what it shows; a mark of redaction stands for its value; anything else is gone."""
    if isinstance(value, str) and not isinstance(value, CutText):
        if _REDACTED.match(value):
            return Hidden(f"`{name}` is redacted", value)
        if value:
            return CutText(value)
    return value if isinstance(value, CutText | Hidden) else Hidden(f"`{name}` is hidden")
